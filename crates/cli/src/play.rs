use std::io;
use std::path::PathBuf;

use anyhow::Result;
use rand::{Rng, SeedableRng};
use surakarta_game::{Color, Game, RuleSet};
use surakarta_run::play::{Leave, Session};
use surakarta_run::players::Networks;
use surakarta_search::PlayerSpec;

use crate::networks::NetworkArguments;
use crate::output;
use crate::start::Start;

/// Play against any player on a board in the terminal.
///
/// Type moves as start and target (a2a3); `help` lists what else there is: take-back, hints,
/// resignation, the offer to end the game.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta play --against alphabeta:ms=500 --color black
  surakarta play --variant sepur
  surakarta play --against mcts:net=runs/quickstart/weights/best.safetensors,sims=400 --rules agreement")]
pub(crate) struct Arguments {
    /// The opponent, as in "mcts:net=runs/quickstart/weights/best.safetensors,sims=400" or
    /// "alphabeta:ms=500".
    #[arg(long, default_value = "alphabeta:ms=500")]
    against: PlayerSpec,
    /// Your colour; black moves first.
    #[arg(long, value_enum, default_value_t = Side::Coin)]
    color: Side,
    /// The rules: olympiad, threefold, no-repeat, contest or agreement.
    #[arg(long, default_value_t)]
    rules: RuleSet,
    #[command(flatten)]
    start: Start,
    #[command(flatten)]
    networks: NetworkArguments,
    /// Seed of the coin and of the opponent; drawn by the clock if not given.
    #[arg(long)]
    seed: Option<u64>,
    /// Say below the board what the endgame tables in this folder know.
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Side {
    Black,
    White,
    /// A coin decides.
    Coin,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let seed = arguments.seed.unwrap_or_else(|| {
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        clock.map_or(0, |elapsed| elapsed.as_nanos() as u64)
    });
    let heads = rand_chacha::ChaCha8Rng::seed_from_u64(seed).next_u32() & 1 == 0;
    let color = match arguments.color {
        Side::Black => Color::Black,
        Side::White => Color::White,
        Side::Coin if heads => Color::Black,
        Side::Coin => Color::White,
    };
    let position = arguments.start.position()?;
    let networks = Networks::of(&arguments.networks.place()?, position.variant());
    let networks = networks.under(arguments.rules);
    let mut opponent = networks.player(&arguments.against)?;
    if matches!(arguments.color, Side::Coin) {
        output::line(format_args!("The coin gives you {color}."))?;
    }
    let limits = arguments.against.limits();
    let game = Game::from_position(arguments.rules, position);
    let tables = arguments.tables.as_deref().map(|folder| networks.tables(folder)).transpose()?;
    let session = Session::new(game, color, &mut *opponent, limits, seed);
    let mut session = session.with_tables(tables.as_deref());
    let left = session.play(&mut io::stdin().lock(), &mut io::stdout().lock())?;
    if left == Leave::Quit {
        output::line("The game is left unfinished.")?;
    }
    Ok(())
}
