use std::path::PathBuf;

use anyhow::Result;
use surakarta_run::contest::{self, Contest};

use crate::{interrupt, output};

/// Play a tournament of any number of players and print their Elo table.
///
/// Every player meets every other in pairs of games with colours swapped. The games are kept in a
/// journal beside the results; the same command goes on with a tournament that was interrupted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta arena configs/arena.toml
  surakarta arena configs/arena.toml --csv > table.csv")]
pub(crate) struct Arguments {
    /// The configuration; configs/arena.toml explains every key.
    config: PathBuf,
    /// Where the games are kept, one a line; <configuration>.jsonl in the working directory if not
    /// given.
    #[arg(long)]
    journal: Option<PathBuf>,
    /// The folder of the run that net=latest and net=best mean.
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the table as CSV.
    #[arg(long)]
    csv: bool,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let contest = Contest::load(&arguments.config)?;
    let journal = arguments.journal.unwrap_or_else(|| {
        let name = arguments.config.file_stem().unwrap_or_default();
        PathBuf::from(name).with_extension("jsonl")
    });
    let stop = interrupt::watch()?;
    let played = contest::play(&contest, Some(&journal), arguments.run.as_deref(), stop)?;
    output::standings(&played, arguments.json, arguments.csv)
}
