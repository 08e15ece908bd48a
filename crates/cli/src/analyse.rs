use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use surakarta_game::{Game, RuleSet};
use surakarta_run::analysis::{Question, analyse, game_of_file};
use surakarta_search::{Limits, PlayerSpec};

use crate::networks::NetworkArguments;
use crate::start::Start;
use crate::{interrupt, output};

/// Ask a player what it makes of a position: value, lines, and every move that it has looked at.
///
/// While it thinks, stderr shows what it knows, if that is a terminal. Ctrl-C ends the thinking and prints
/// what is known (exit code 130). All values lie between -1 and 1 and are seen by the side to move.
///
/// An mcts player shows visits, priors and mean values, and what its network says of the position without
/// any search; a rollout player visits and mean results; alpha-beta the best line of the last depth that it
/// has searched, or with --multipv above 1 the value of every move, each searched as closely as the best.
///
/// With --json, one object: `position`, `rules`, `player`, `value`, `proven` (win, draw, loss or null),
/// `network` (null, or `win`, `draw` and `loss`), `table` (null, or `value` and `plies`, by --tables), `moves`, `simulations`, `nodes`, `evaluations`, `depth`,
/// `seconds`, and `complete`, false after Ctrl-C. `moves` has the best first, each with `move`, `value`,
/// `visits`, `prior`, `proven`, `line` and `table`; what a player does not have is null, and lines are empty beyond
/// those of --multipv.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta analyse --multipv 3
  surakarta analyse --position "w1wwww/wwww1w/1w2w1/2b1b1/bb1b1b/bbbbbb b 0 5" --player alphabeta --depth 8
  surakarta analyse --player mcts:net=runs/quickstart/weights/best.safetensors --sims 5000 --json
  surakarta analyse --game arena.jsonl --number 3 --ply 20 --player rollout --ms 2000"#)]
pub(crate) struct Arguments {
    /// Who thinks: an mcts, rollout or alphabeta player.
    #[arg(long, default_value = "alphabeta:ms=1000")]
    player: PlayerSpec,
    #[command(flatten)]
    start: Start,
    /// A game to take the position from: the journal of a tournament, or a text with moves (a2a3 b5b4 …),
    /// after a position and a semicolon if it does not begin at the start.
    #[arg(long, value_name = "FILE", conflicts_with = "position")]
    game: Option<PathBuf>,
    /// Which game of a journal, 1 the first.
    #[arg(long, requires = "game", default_value_t = 1)]
    number: usize,
    /// After how many plies of the game; its end if not given.
    #[arg(long, requires = "game")]
    ply: Option<usize>,
    /// The rules: olympiad, threefold, no-repeat, contest or agreement. A journal has its own.
    #[arg(long, default_value_t)]
    rules: RuleSet,
    /// For how many moves, the best ones, there is a line.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    multipv: u32,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    networks: NetworkArguments,
    /// Show what the endgame tables in this folder say, too. The player looks into them itself if its
    /// string has tables=DIR.
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// How long the player thinks. One that is given replaces all of the player's own.
#[derive(clap::Args)]
struct LimitArguments {
    /// Simulations of a tree search.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    sims: Option<u32>,
    /// Moves made by alpha-beta.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Plies of alpha-beta.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: Option<u32>,
    /// Milliseconds.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    ms: Option<u64>,
}

/// Time between two live lines at least.
const LIVE: Duration = Duration::from_millis(250);

pub(crate) fn main(arguments: Arguments, quiet: bool) -> Result<()> {
    let Arguments {
        player,
        start,
        game,
        number,
        ply,
        rules,
        multipv,
        limits,
        networks,
        tables,
        json,
    } = arguments;
    let game = match game {
        Some(path) => game_of_file(&path, number, ply, start.variant(), rules)?,
        None => Game::from_position(rules, start.position()?),
    };
    let LimitArguments { sims, nodes, depth, ms } = limits;
    let time = ms.map(Duration::from_millis);
    let question = Question {
        game,
        player,
        limits: Limits { simulations: sims, nodes, depth, time, clock: None },
        multipv: multipv as usize,
        networks: networks.place()?,
        tables,
    };
    let shows = io::stderr().is_terminal() && !quiet;
    let mut last: Option<Instant> = None;
    let analysis = analyse(&question, interrupt::watch()?, |analysis| {
        if shows && last.is_none_or(|last| last.elapsed() >= LIVE) {
            last = Some(Instant::now());
            output::say(analysis.summary());
            if question.multipv > 1 {
                output::say(analysis.lines().trim_end());
            }
        }
    })?;
    if json { output::json(&analysis) } else { output::print(analysis) }
}
