use std::io;

use anyhow::Result;
use surakarta_game::{RuleSet, Variant};
use surakarta_run::ugi::{self, Settings};

use crate::engine::EngineArguments;

/// Play as an engine of the Universal Game Interface, on standard input and output.
///
/// Moves are written as in a2a3, positions as in "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1"; the first
/// player, p1, is black. The options Player, Variant, Rules and Seed change what is given here.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta ugi --player alphabeta:ms=500
  surakarta match 'ugi:cmd="surakarta ugi --player rollout",nodes=400' alphabeta:nodes=1000"#)]
pub(crate) struct Arguments {
    #[command(flatten)]
    engine: EngineArguments,
    /// The variant: standard, rural, sepur or sepur,diagonals=no.
    #[arg(long, default_value_t)]
    variant: Variant,
    /// The rules: olympiad, threefold, no-repeat, contest or agreement.
    #[arg(long, default_value_t)]
    rules: RuleSet,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let Arguments { engine, variant, rules } = arguments;
    let EngineArguments { player, seed, networks } = engine;
    let networks = networks.place()?;
    let settings = Settings { player, variant, rules, seed, networks };
    ugi::serve(settings, &mut io::stdin().lock(), io::stdout())
}
