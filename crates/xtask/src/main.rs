//! `cargo xtask`: what a contributor types.
//!
//! `setup` provides libtorch, `python` the packages that notebooks need, `test` runs everything
//! that must hold before a change is merged, `quickstart` goes from a fresh clone to a trained network.

mod checkout;
mod fetch;
mod libtorch;
mod progress;
mod python;
mod setup;
mod test;
mod wheels;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Tasks of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Provide libtorch, so that plain `cargo build`, `cargo test` and `cargo run` work.
    Setup,
    /// Set up, build the release binary and run `configs/quickstart.toml`.
    Quickstart {
        /// Passed on to `surakarta run`, for example `--dir runs/mine`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Set up, then formatting, clippy and every test, with and without the feature `torch`.
    Test(test::Options),
    /// Install the Python packages that notebooks need into the cache folder (never into the system).
    Python,
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<ExitCode> {
    match task {
        Task::Setup => {
            setup::setup()?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Quickstart { args } => {
            setup::setup()?;
            setup::quickstart(&args)
        }
        Task::Test(options) => test::test(&options),
        Task::Python => {
            python::install()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
