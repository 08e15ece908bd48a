use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use surakarta_arena::quantity;
use surakarta_record::Survey;
use surakarta_record::export::{export_games, export_positions};
use surakarta_record::shard::{ShardError, list_shards, verify};

use crate::output;

/// Look into shards: check them, sum them up, export them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta dataset verify runs/quickstart/shards
  surakarta dataset stats runs/quickstart/shards --json
  surakarta dataset export games --out tables")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check every byte and replay every game.
    Verify(Data),
    /// Sum up games, endings, lengths and positions.
    Stats {
        #[command(flatten)]
        data: Data,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Write games.csv and positions.csv.
    Export {
        #[command(flatten)]
        data: Data,
        /// The folder for the two files.
        #[arg(long)]
        out: PathBuf,
    },
}

#[derive(clap::Args)]
struct Data {
    /// Shards, or folders of shards.
    #[arg(required = true)]
    data: Vec<PathBuf>,
}

impl Data {
    fn shards(&self) -> Result<Vec<PathBuf>> {
        let mut shards = Vec::new();
        for path in &self.data {
            if path.is_dir() {
                let found = list_shards(path);
                shards.extend(
                    found.with_context(|| format!("cannot read the folder {}", path.display()))?,
                );
            } else {
                shards.push(path.clone());
            }
        }
        if shards.is_empty() {
            bail!("there are no shards in {}", self.data[0].display());
        }
        Ok(shards)
    }
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Verify(data) => check(&data),
        Command::Stats { data, json } => sum_up(&data, json),
        Command::Export { data, out } => write_tables(&data, &out),
    }
}

/// Names every shard, and fails if any is damaged.
fn check(data: &Data) -> Result<()> {
    let mut damaged = 0;
    for path in data.shards()? {
        match verify(&path) {
            Ok(header) => output::line(format_args!(
                "ok {}: {}",
                path.display(),
                quantity(header.games, "game")
            ))?,
            Err(error) => {
                damaged += 1;
                let state = match error {
                    ShardError::Io { .. } => "unreadable",
                    _ => "damaged",
                };
                output::line(format_args!("{state} {error}"))?;
            }
        }
    }
    if damaged > 0 {
        bail!("{damaged} cannot be used; the others can: move the damaged ones away");
    }
    Ok(())
}

fn sum_up(data: &Data, json: bool) -> Result<()> {
    let mut survey = Survey::default();
    for path in data.shards()? {
        survey.add(&path)?;
    }
    let summary = survey.summary();
    if json {
        return output::json(&summary);
    }
    let share = |n: u64| format!("{n} ({:.1} %)", 100.0 * n as f64 / summary.games.max(1) as f64);
    output::line(format_args!(
        "games        {} in {}",
        summary.games,
        quantity(summary.shards, "shard")
    ))?;
    output::line(format_args!(
        "  distinct   {} of {}",
        summary.distinct_games, summary.games_compared
    ))?;
    for (variant, &games) in &summary.variants {
        output::line(format_args!("variant      {variant}: {}", share(games)))?;
    }
    output::line(format_args!("first player {}", share(summary.black_wins)))?;
    output::line(format_args!("drawn        {}", share(summary.draws)))?;
    output::line(format_args!("second       {}", share(summary.white_wins)))?;
    for (ending, &games) in &summary.endings {
        output::line(format_args!("{ending:12} {}", share(games)))?;
    }
    let mean = summary.mean_plies.unwrap_or(0.0);
    output::line(format_args!("plies        {} ({mean:.1} a game)", summary.plies))?;
    output::line(format_args!(
        "positions    {} recorded with a policy; {} distinct of {}",
        summary.recorded, summary.distinct_positions, summary.positions_compared
    ))?;
    let bytes = summary.bytes_per_recorded.unwrap_or(0.0);
    output::line(format_args!("bytes        {} ({bytes:.1} a recorded position)", summary.bytes))
}

fn write_tables(data: &Data, out: &Path) -> Result<()> {
    let shards = data.shards()?;
    output::make_folder(out)?;
    let write = |name: &str, table: &dyn Fn(&mut dyn std::io::Write) -> Result<u64>| {
        let path = out.join(name);
        let temporary = path.with_extension("tmp");
        let write_table = || -> Result<u64> {
            let mut file = BufWriter::new(File::create(&temporary)?);
            let rows = table(&mut file)?;
            file.into_inner().map_err(|e| e.into_error())?.sync_all()?;
            std::fs::rename(&temporary, &path)?;
            Ok(rows)
        };
        let written = write_table();
        if written.is_err() {
            // What could not be finished is only in the way, on a full disk above all.
            let _ = std::fs::remove_file(&temporary);
        }
        let rows = written.with_context(|| format!("{} was not made", path.display()))?;
        output::line(format_args!("{}: {rows} rows", path.display()))
    };
    write("games.csv", &|file| Ok(export_games(&shards, file)?))?;
    write("positions.csv", &|file| Ok(export_positions(&shards, file)?))
}
