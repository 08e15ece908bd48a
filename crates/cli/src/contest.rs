use std::io;
use std::path::PathBuf;

use anyhow::Result;
use surakarta_game::{RuleSet, Variant};
use surakarta_run::contest_protocol::serve;
use surakarta_run::players::Networks;
use surakarta_search::PlayerSpec;

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
    /// Who plays, as in "mcts:net=runs/quickstart/weights/best.safetensors,sims=400".
    #[arg(long, default_value = "alphabeta:nodes=10000")]
    player: PlayerSpec,
    /// The rules that it reckons with; the game goes on until the platform ends it.
    #[arg(long, default_value = "contest")]
    rules: RuleSet,
    /// The seed of the first game; each later one takes the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder of the run that net=latest and net=best mean.
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let networks = Networks::of_run(arguments.run.as_deref(), Variant::Standard);
    let mut player = networks.player(&arguments.player)?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    serve(player.as_mut(), arguments.rules, arguments.seed, &mut input, &mut output)
}
