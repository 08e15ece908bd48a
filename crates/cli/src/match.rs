use std::path::PathBuf;

use anyhow::Result;
use surakarta_arena::{Colors, MOST_OPENING_PLIES, Scoring, TimeControl};
use surakarta_game::{RuleSet, Variant};
use surakarta_run::arena::{ArenaConfig, LimitsConfig};
use surakarta_search::PlayerSpec;

use crate::arena::Keeping;
use crate::sprt::SprtArguments;

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
    /// Random plies of an opening [default: 6].
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=i64::from(MOST_OPENING_PLIES)))]
    opening_plies: Option<u32>,
    /// A file of openings instead, one a line: `surakarta book` makes one.
    #[arg(long, value_name = "FILE", conflicts_with = "opening_plies")]
    openings: Option<PathBuf>,
    /// Who moves first: alternating, first (the first player, always) or coin.
    #[arg(long, default_value_t)]
    colors: Colors,
    #[command(flatten)]
    limits: Limits,
    /// How the match is scored, beside its Elo: the winner of a game scores 1, or the pieces that it
    /// has left, or both sides theirs.
    #[arg(long, default_value_t, value_name = "games|pieces|pieces-of-both")]
    scoring: Scoring,
    /// Pieces that a game is worth whose loser resigned, lost by time, crashed or moved illegally [default:
    /// all of a side].
    #[arg(long, value_name = "PIECES")]
    forfeit: Option<u32>,
    /// Points, by --scoring, at which the match is over; --pairs is then the most that are played.
    #[arg(long, value_name = "POINTS", conflicts_with = "sprt")]
    race: Option<f64>,
    #[command(flatten)]
    test: SprtArguments,
    /// Games at a time; 0 is one for each core.
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
    #[command(flatten)]
    keeping: Keeping,
}

/// What both players are granted for each move or game, instead of the limits in their strings.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits of both players")]
struct Limits {
    /// Simulations a move.
    #[arg(long, value_name = "N")]
    sims: Option<u32>,
    /// Nodes a move.
    #[arg(long, value_name = "N")]
    nodes: Option<u64>,
    /// Plies of depth.
    #[arg(long, value_name = "PLIES")]
    depth: Option<u32>,
    /// Milliseconds a move; who takes longer, and --margin-ms more, loses the game.
    #[arg(long, value_name = "MS")]
    ms: Option<u64>,
    /// Seconds for a game and for each move, as in 10+0.1.
    #[arg(long, value_name = "S+S")]
    clock: Option<TimeControl>,
    /// Milliseconds by which a limit of time may be overstepped [default: 50].
    #[arg(long, value_name = "MS")]
    margin_ms: Option<u64>,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let Arguments { first, second, pairs, seed, .. } = arguments;
    let Limits { sims, nodes, depth, ms, clock, margin_ms } = arguments.limits;
    let sprt = arguments.test.test()?;
    let config = ArenaConfig {
        sprt,
        opening_plies: arguments.opening_plies,
        openings: arguments.openings,
        colors: arguments.colors,
        limits: LimitsConfig { sims, nodes, depth, ms, clock, margin_ms },
        scoring: arguments.scoring,
        forfeit: arguments.forfeit,
        race: arguments.race,
        variant: arguments.variant,
        rules: arguments.rules,
        threads: arguments.threads,
        ..ArenaConfig::of_match([first, second], pairs, seed)
    };
    arguments.keeping.play(&config, None, arguments.journal.as_deref())
}
