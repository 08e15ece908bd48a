mod stats;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use surakarta_arena::quantity;
use surakarta_dataset::export::{Format, export};
use surakarta_dataset::{Part, Shares, import, merge, relabel, split, verify};
use surakarta_record::ShardReader;
use surakarta_record::shard::{ShardError, list_shards};
use surakarta_run::show::ShownGame;

use crate::output;
use crate::tablebase::Folder;

/// Look into shards: check them, sum them up, show, merge, split, relabel and export them.
///
/// Damaged shards are named and left out; the others are used. `surakarta dataset COMMAND --help` explains
/// each command.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta dataset verify runs/quickstart/shards
  surakarta dataset stats runs/quickstart/shards --json
  surakarta dataset show runs/quickstart/shards --game 7
  surakarta dataset merge games more/games --out all
  surakarta dataset split all --out parts --shares 0.8,0.1,0.1
  surakarta dataset export games --out tables --format parquet
  surakarta dataset import tables/games.csv --out games")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check every byte and replay every game.
    ///
    /// Names each shard, and the place of any damage in it; fails if there is any.
    #[command(after_help = "Example:
  surakarta dataset verify runs/quickstart/shards")]
    Verify(Data),
    /// Sum up results, endings, lengths, openings, positions and what values were worth.
    #[command(after_help = "Examples:
  surakarta dataset stats games
  surakarta dataset stats runs/*/shards --json")]
    Stats {
        #[command(flatten)]
        data: Data,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Replay a game on the board, with what was found at each ply.
    #[command(after_help = "Examples:
  surakarta dataset show games | less
  surakarta dataset show games --game 7 --ply 20
  surakarta dataset show games/000000-0000000128.shard --game 3 --json")]
    Show {
        #[command(flatten)]
        data: Data,
        /// Which game, counted through the shards in their order from 0 on: the game_id of an export.
        #[arg(long, default_value_t = 0)]
        game: u64,
        /// Show the position before this ply alone, 0 the first.
        #[arg(long)]
        ply: Option<usize>,
        /// Print one JSON object; with --ply that of the position.
        #[arg(long)]
        json: bool,
    },
    /// Bring shards and folders together in one new folder, each game once.
    ///
    /// Games are the same if they have the same rules, start, moves and ending. The order is by iteration,
    /// seed, maker and number, whatever the order of the arguments; the games of an iteration are numbered
    /// anew, and the headers keep what they were called before.
    #[command(after_help = "Examples:
  surakarta dataset merge one/games two/games --out all
  surakarta dataset merge runs/*/shards --out all")]
    Merge {
        #[command(flatten)]
        data: Data,
        /// The new folder.
        #[arg(long)]
        out: PathBuf,
    },
    /// Divide games into train, validation and test.
    ///
    /// Start and moves of a game decide where it goes: it stays there when data is added, and games that went
    /// the same way go together.
    #[command(after_help = "Examples:
  surakarta dataset split all --out parts                     # parts/train, parts/validation, parts/test
  surakarta dataset split all --out parts --shares 0.8,0.2,0 --key 7")]
    Split {
        #[command(flatten)]
        data: Data,
        /// The new folder.
        #[arg(long)]
        out: PathBuf,
        #[command(flatten)]
        division: Division,
    },
    /// End games where endgame tables prove the result.
    ///
    /// Each game is cut at the first position after its start of which the tables prove the result, and gets that
    /// result: what is learned from the plies before it is then the truth. See surakarta tablebase.
    #[command(after_help = "Example:
  surakarta dataset relabel runs/quickstart/shards --tables tables --out relabelled")]
    Relabel {
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        tables: Folder,
        /// The new folder.
        #[arg(long)]
        out: PathBuf,
    },
    /// Write tables or arrays that other programs open, with a data card and a manifest.
    ///
    /// csv makes games.csv and positions.csv, parquet the same as games.parquet and positions.parquet (pandas,
    /// polars, Hugging Face datasets), npz arrays of the positions to learn from (numpy). README.md in the
    /// folder explains every column; manifest.json names the files with their checksums.
    #[command(after_help = "Examples:
  surakarta dataset export games --out tables
  surakarta dataset export games --out data --format parquet --format npz
  surakarta dataset export runs/*/shards --out data --format parquet --shares 0.8,0.1,0.1")]
    Export {
        #[command(flatten)]
        data: Data,
        /// The folder for the files.
        #[arg(long)]
        out: PathBuf,
        /// csv, npz or parquet; may be given several times.
        #[arg(long = "format", default_value = "csv")]
        formats: Vec<Format>,
        #[command(flatten)]
        division: Division,
    },
    /// Read games back into shards from a table, as export writes games.csv.
    ///
    /// The columns moves, ending and outcome are needed; start, variant, rules, player, seed, iteration and game
    /// may be there. Every game is replayed under its rules. What searches found is not in the table, so that
    /// nothing can be learned from these shards; they can be shown, counted, merged and exported.
    #[command(after_help = "Example:
  surakarta dataset import tables/games.csv --out games")]
    Import {
        /// The table.
        table: PathBuf,
        /// The new folder.
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

#[derive(clap::Args)]
struct Division {
    /// The shares of train, validation and test, which sum to 1.
    #[arg(long, default_value = "0.9,0.05,0.05")]
    shares: Shares,
    /// The key of the draw: another key divides anew.
    #[arg(long, default_value_t = 0)]
    key: u64,
}

impl Division {
    fn shares(&self) -> Shares {
        self.shares.with_key(self.key)
    }
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
        Command::Stats { data, json } => stats::main(&data.shards()?, json),
        Command::Show { data, game, ply, json } => show(&data.shards()?, game, ply, json),
        Command::Merge { data, out } => {
            let merged = merge(&data.shards()?, &out)?;
            name_left_out(&merged.left_out);
            let (games, shards) =
                (quantity(merged.games, "game"), quantity(merged.shards, "shard"));
            let repeated = merged.repeated;
            output::line(format_args!(
                "{}: {games} in {shards}; {repeated} repeated left out",
                out.display()
            ))
        }
        Command::Split { data, out, division } => {
            let done = split(&data.shards()?, &out, &division.shares())?;
            name_left_out(&done.left_out);
            for (part, games) in Part::ALL.into_iter().zip(done.games) {
                let path = out.join(part.name());
                output::line(format_args!("{}: {}", path.display(), quantity(games, "game")))?;
            }
            Ok(())
        }
        Command::Relabel { data, tables, out } => {
            let done = relabel(&data.shards()?, &tables.open()?, &out)?;
            name_left_out(&done.left_out);
            let (games, shards) = (quantity(done.games, "game"), quantity(done.shards, "shard"));
            output::line(format_args!(
                "{}: {games} in {shards}; {} end earlier, {} have another result; {} gone",
                out.display(),
                done.ended,
                done.turned,
                quantity(done.plies, "ply")
            ))
        }
        Command::Export { data, out, formats, division } => {
            write_files(&data.shards()?, &out, &formats, &division.shares())
        }
        Command::Import { table, out } => {
            let done = import(&table, &out)?;
            let (games, shards) = (quantity(done.games, "game"), quantity(done.shards, "shard"));
            output::line(format_args!("{}: {games} in {shards}", out.display()))
        }
    }
}

/// Damaged shards are no reason to stop, and one to say so.
fn name_left_out(errors: &[ShardError]) {
    for error in errors {
        tracing::warn!("left out: {error}");
    }
}

/// Names every shard, and fails if any is damaged.
fn check(data: &Data) -> Result<()> {
    let mut damaged = 0;
    verify(&data.shards()?, |path, found| match found {
        Ok(header) => {
            output::line(format_args!("ok {}: {}", path.display(), quantity(header.games, "game")))
        }
        Err(error) => {
            damaged += 1;
            let state = match error {
                ShardError::Io { .. } => "unreadable",
                _ => "damaged",
            };
            output::line(format_args!("{state} {error}"))
        }
    })?;
    if damaged > 0 {
        bail!("{damaged} cannot be used; the others can: move the damaged ones away");
    }
    Ok(())
}

fn show(shards: &[PathBuf], game: u64, ply: Option<usize>, json: bool) -> Result<()> {
    let mut before = 0;
    for path in shards {
        let mut reader = match ShardReader::open(path) {
            Ok(reader) => reader,
            Err(error) if shards.len() > 1 => {
                name_left_out(&[error]);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let games = reader.header().games;
        if game - before < games {
            let record = reader.game(game - before)?;
            let shown = ShownGame::of(path, reader.header(), &record);
            return print_game(&shown, ply, json);
        }
        before += games;
    }
    bail!("there is no game {game}: the shards hold {before}, counted from 0")
}

fn print_game(game: &ShownGame, ply: Option<usize>, json: bool) -> Result<()> {
    let last = game.positions.len() - 1;
    if let Some(ply) = ply.filter(|&ply| ply > last) {
        bail!("there is no ply {ply}: the game is over after {last}");
    }
    match (ply, json) {
        (None, true) => output::json(game),
        (Some(ply), true) => output::json(&game.positions[ply]),
        (_, false) => {
            output::line(game.heading())?;
            let plies = ply.map_or(0..=last, |ply| ply..=ply);
            plies.filter_map(|ply| game.at(ply)).try_for_each(output::line)
        }
    }
}

fn write_files(shards: &[PathBuf], out: &Path, formats: &[Format], shares: &Shares) -> Result<()> {
    if out.exists() && !out.is_dir() {
        bail!("{} is not a folder; name a folder for the results", out.display());
    }
    let (manifest, left_out) = export(shards, out, formats, shares)?;
    name_left_out(&left_out);
    for file in &manifest.files {
        let path = out.join(&file.file);
        output::line(format_args!("{}: {}", path.display(), quantity(file.rows, "row")))?;
    }
    Ok(())
}
