//! `cargo xtask test`: everything that must hold, every step to its end, then one summary.

use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::{checkout, python, setup};

/// The crates that have the feature `torch`.
const WITH_TORCH: [&str; 3] = ["surakarta-train", "surakarta-run", "surakarta-cli"];

/// Where the notebook test finds its packages; set, it must run rather than be skipped.
const PYTHON_PATH: &str = "SURAKARTA_PYTHON_PATH";

/// What to leave out.
#[derive(Args)]
pub(crate) struct Options {
    /// Leave out the second pass, without the feature `torch`.
    #[arg(long)]
    fast: bool,
    /// Leave out the Python packages, and with them the notebook tests.
    #[arg(long)]
    no_notebooks: bool,
}

/// The sums of the test runner's closing lines.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Totals {
    binaries: u32,
    passed: u32,
    failed: u32,
    ignored: u32,
}

impl Totals {
    /// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`; any other line is none.
    fn of(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let mut totals = Self { binaries: 1, ..Self::default() };
        for count in counts.split("; ") {
            let (number, what) = count.split_once(' ')?;
            let field = match what {
                "passed" => &mut totals.passed,
                "failed" => &mut totals.failed,
                "ignored" => &mut totals.ignored,
                _ => continue,
            };
            *field = number.parse().ok()?;
        }
        Some(totals)
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.binaries += other.binaries;
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

/// How a step went.
struct Outcome {
    name: &'static str,
    ok: bool,
    took: Duration,
    totals: Totals,
}

/// Runs every step, also after a failure, and sums up.
pub(crate) fn test(options: &Options) -> Result<ExitCode> {
    setup::setup()?;
    let packages = (!options.no_notebooks).then(python::install).transpose()?;
    let steps = steps(options);
    let mut outcomes = Vec::new();
    for (name, arguments) in &steps {
        outcomes.push(step(name, arguments, packages.as_deref())?);
    }
    Ok(summary(&outcomes))
}

fn steps(options: &Options) -> Vec<(&'static str, Vec<&'static str>)> {
    let without_torch = |command: &'static str| {
        let mut arguments = vec![command, "--no-default-features"];
        for package in WITH_TORCH {
            arguments.extend(["--package", package]);
        }
        arguments
    };
    let with = |mut arguments: Vec<&'static str>, more: &[&'static str]| {
        arguments.extend(more);
        arguments
    };
    const DENY: [&str; 4] = ["--all-targets", "--", "-D", "warnings"];
    let mut steps = vec![
        ("fmt", vec!["fmt", "--all", "--check"]),
        ("clippy", with(vec!["clippy", "--workspace"], &DENY)),
        ("test", vec!["test", "--workspace", "--no-fail-fast"]),
    ];
    if !options.fast {
        steps.push(("clippy without torch", with(without_torch("clippy"), &DENY)));
        steps.push(("test without torch", with(without_torch("test"), &["--no-fail-fast"])));
    }
    steps
}

/// Runs cargo, passing its output on and counting tests.
fn step(name: &'static str, arguments: &[&str], packages: Option<&Path>) -> Result<Outcome> {
    eprintln!("\n== {name}: cargo {}", arguments.join(" "));
    let start = Instant::now();
    let mut cargo: Command = checkout::cargo();
    cargo.args(arguments).stdout(Stdio::piped());
    match packages {
        Some(folder) => cargo.env(PYTHON_PATH, folder),
        None => cargo.env_remove(PYTHON_PATH),
    };
    let mut child = cargo.spawn().context("cargo does not start")?;
    let mut totals = Totals::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            if let Some(more) = Totals::of(&line) {
                totals += more;
            }
        }
    }
    let ok = child.wait()?.success();
    let took = start.elapsed();
    Ok(Outcome { name, ok, took, totals })
}

fn summary(outcomes: &[Outcome]) -> ExitCode {
    let mut all = Totals::default();
    println!();
    for outcome in outcomes {
        let Totals { binaries, passed, failed, ignored } = outcome.totals;
        let verdict = if outcome.ok { "ok" } else { "FAILED" };
        print!("{:<22}{verdict:<8}{:>5} s", outcome.name, outcome.took.as_secs());
        if binaries > 0 {
            print!("   {passed} passed; {failed} failed; {ignored} ignored");
        }
        println!();
        all += outcome.totals;
    }
    let failures: Vec<_> = outcomes.iter().filter(|outcome| !outcome.ok).collect();
    let Totals { passed, failed, ignored, .. } = all;
    println!(
        "total: {}. {passed} passed; {failed} failed; {ignored} ignored",
        if failures.is_empty() { "ok" } else { "FAILED" }
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_read_and_other_lines_are_not() {
        let line = "test result: FAILED. 12 passed; 1 failed; 3 ignored; 0 measured; 2 filtered out; finished in 0.53s";
        assert_eq!(
            Totals::of(line),
            Some(Totals { binaries: 1, passed: 12, failed: 1, ignored: 3 })
        );
        assert_eq!(Totals::of("test board::loops ... ok"), None);
        assert_eq!(Totals::of("test result: ok"), None);
    }

    #[test]
    fn only_the_full_test_has_a_pass_without_torch() {
        let options = |fast| Options { fast, no_notebooks: false };
        let without = |fast| {
            let steps = steps(&options(fast));
            steps
                .iter()
                .filter(|(_, arguments)| arguments.contains(&"--no-default-features"))
                .count()
        };
        assert_eq!((without(true), without(false)), (0, 2));
    }
}
