use std::path::PathBuf;

use anyhow::{Context, Result};
use indicatif::MultiProgress;
use surakarta_run::config::Config;
use surakarta_run::directory::RunDirectory;
use surakarta_run::pipeline::{self, Around};

use crate::{interrupt, output};

/// Play, train and rate, again and again, as a configuration says.
///
/// The same command goes on with a run that was interrupted, by Ctrl-C or by a kill. Iterations,
/// threads and device may be changed on the way; any other change is refused.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta run configs/quickstart.toml
  surakarta run configs/cpu.toml --dir runs/second --seed 2")]
pub(crate) struct Arguments {
    /// The configuration: configs/quickstart.toml, or configs/cpu.toml with every key explained.
    config: PathBuf,
    /// The run's folder; runs/<name in the configuration> if not given.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Overrides the configuration's seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Overrides the configuration's threads.
    #[arg(long)]
    threads: Option<usize>,
    /// Overrides the configuration's iterations.
    #[arg(long)]
    iterations: Option<u32>,
}

pub(crate) fn main(arguments: Arguments, bars: &MultiProgress) -> Result<()> {
    let mut config = Config::load(&arguments.config)?;
    config.run.seed = arguments.seed.unwrap_or(config.run.seed);
    config.run.threads = arguments.threads.unwrap_or(config.run.threads);
    config.run.iterations = arguments.iterations.unwrap_or(config.run.iterations).max(1);
    let folder = arguments.dir.unwrap_or_else(|| PathBuf::from("runs").join(&config.run.name));
    pipeline::check(&config, &folder)?;
    let tables = config.tables()?;
    let directory = RunDirectory::open(&folder, &config)?;
    let stop = interrupt::watch()?;
    tracing::info!("{} in {}", config.shape().describe(config.run.variant), folder.display());
    let on_table = |iteration: u32, standings: &surakarta_arena::Standings| {
        bars.suspend(|| {
            output::line(format_args!("After iteration {iteration}:\n{}", standings.table()))
        })
    };
    pipeline::run(&config, &directory, &Around { stop, bars, on_table: &on_table, tables })
        .with_context(|| format!("the run in {} stopped", folder.display()))?;
    if !interrupt::asked() {
        tracing::info!(
            "the run is complete: weights, metrics.csv and elo.csv are in {}",
            folder.display()
        );
    }
    Ok(())
}
