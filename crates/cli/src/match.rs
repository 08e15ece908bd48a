use std::path::PathBuf;

use anyhow::Result;
use surakarta_game::{RuleSet, Variant};
use surakarta_run::contest::{self, Contest};
use surakarta_search::PlayerSpec;

use crate::{interrupt, output};

/// Play a match between two players and print their difference in Elo.
///
/// Each pair of games begins from an opening of its own, and the players change colours in the second
/// game. With --journal an interrupted match goes on.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta match alphabeta:nodes=10000 greedy --pairs 50
  surakarta match mcts:net=runs/quickstart/weights/best.safetensors,sims=400 alphabeta:nodes=10000 --pairs 200 --journal match.jsonl")]
pub(crate) struct Arguments {
    /// A player, as in "mcts:net=runs/quickstart/weights/best.safetensors,sims=400".
    first: PlayerSpec,
    /// The other, as in "alphabeta:nodes=10000".
    second: PlayerSpec,
    /// Pairs of games.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Seed of the openings and of the players.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Random plies of an opening.
    #[arg(long, default_value_t = 6)]
    opening_plies: u32,
    /// Threads; 0 is one for each core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// The variant: standard, rural, sepur or sepur,diagonals=no.
    #[arg(long, default_value_t)]
    variant: Variant,
    /// The rules: olympiad, threefold, no-repeat, contest or agreement.
    #[arg(long, default_value_t)]
    rules: RuleSet,
    /// Where the games are kept, one a line; an interrupted match goes on from there.
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
    let contest = Contest {
        players: vec![arguments.first, arguments.second],
        pairs: arguments.pairs,
        seed: arguments.seed,
        opening_plies: arguments.opening_plies,
        variant: arguments.variant,
        rules: arguments.rules,
        threads: arguments.threads,
        anchor: None,
    };
    let stop = interrupt::watch()?;
    let (journal, run) = (arguments.journal.as_deref(), arguments.run.as_deref());
    let played = contest::play(&contest, journal, run, stop)?;
    output::standings(&played, arguments.json, arguments.csv)
}
