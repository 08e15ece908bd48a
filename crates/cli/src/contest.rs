use std::io;

use anyhow::Result;
use surakarta_game::{RuleSet, Variant};
use surakarta_run::contest_protocol::serve;
use surakarta_run::players::Networks;

use crate::engine::EngineArguments;

/// Play as an engine of the Chinese contest platform, on standard input and output.
///
/// Points are a column and a row, A to F from the left and from the top, where black begins: a2b3 is
/// "move ABBC". Beside the platform's commands there are three that set up an opening: "reset black"
/// or "reset white" (the engine's side), "force XYXY" (a move of whoever is to move) and "go".
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta contest --player alphabeta:ms=2000
  surakarta match 'contest:cmd="surakarta contest",openings=yes' alphabeta:nodes=1000"#)]
pub(crate) struct Arguments {
    #[command(flatten)]
    engine: EngineArguments,
    /// The rules that it reckons with; the game goes on until the platform ends it.
    #[arg(long, default_value = "contest")]
    rules: RuleSet,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let EngineArguments { player, seed, networks } = arguments.engine;
    let networks = Networks::of(&networks.place()?, Variant::Standard).under(arguments.rules);
    let mut player = networks.player(&player)?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    serve(player.as_mut(), arguments.rules, seed, &mut input, &mut output)
}
