use std::path::PathBuf;

use anyhow::Result;
use surakarta_run::report;

/// Write one HTML file about runs or tournaments: ratings, results, losses, and a board that replays
/// the games.
///
/// The file opens in any browser and fetches nothing. Several runs or journals are compared in the
/// same charts.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta report runs/quickstart
  surakarta report runs/one runs/two runs/three --out seeds.html
  surakarta report arena.jsonl --games 200")]
pub(crate) struct Arguments {
    /// The folder of a run, or the journal of a match or an arena.
    #[arg(required = true, value_name = "RUN|JOURNAL")]
    inputs: Vec<PathBuf>,
    /// The file; report.html in the run's folder, or beside the journal, if not given. For several
    /// inputs it is report.html in the working directory.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The most games that the page can replay, evenly chosen.
    #[arg(long, default_value_t = report::DEFAULT_GAMES)]
    games: usize,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let out = arguments.out.unwrap_or_else(|| report::default_path(&arguments.inputs));
    report::write(&arguments.inputs, &out, arguments.games)?;
    tracing::info!("the report is in {}", out.display());
    Ok(())
}
