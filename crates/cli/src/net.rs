use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use surakarta_game::Variant;
use surakarta_run::grade::grade;
use surakarta_run::players::Networks;
use surakarta_run::{evaluation, net};
use surakarta_search::NetRef;

use crate::networks::NetworkArguments;
use crate::output;
use crate::start::Start;

/// Look into networks: what a file holds, its quantised counterpart, how much two differ.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta net info runs/quickstart/weights/best.safetensors
  surakarta net quantise runs/quickstart/weights/best.safetensors best-q.safetensors
  surakarta net compare runs/quickstart/weights/best.safetensors best-q.safetensors
  surakarta net grade runs/quickstart/weights/best.safetensors
  surakarta match mcts:net=best-q.safetensors,sims=400 mcts:net=best.safetensors,sims=400 --pairs 100")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Info(Info),
    Convert(Convert),
    Quantise(Quantise),
    Compare(Compare),
    Evaluate(Evaluate),
    Grade(Grade),
}

/// Say what a file holds: shape, variant, parameters, hash, note and tensors. Every byte is checked.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta net info best.safetensors
  surakarta net info best.safetensors --json")]
struct Info {
    /// A file of a network, f32 or quantised.
    file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Write a network with another note, without the heads that only help training, or as TorchScript.
///
/// None of this changes how it plays; without heads it has another hash. A file whose name ends in .pt
/// is a TorchScript module, for PyTorch and for mcts:net=FILE.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta net convert best.safetensors small.safetensors --strip-heads
  surakarta net convert best.safetensors noted.safetensors --note "seed 1, iteration 100"
  surakarta net convert best.safetensors model.pt"#)]
struct Convert {
    /// A file of a network.
    from: PathBuf,
    /// The file to write.
    to: PathBuf,
    /// The new note on where the network comes from.
    #[arg(long)]
    note: Option<String>,
    /// Leave out auxiliary heads.
    #[arg(long)]
    strip_heads: bool,
}

/// Quantise an f32 network of kind mlp: integers of eight and sixteen bits, for faster play.
///
/// The file plays wherever f32 weights do, as mcts:net=FILE; training goes on from f32 weights only. The
/// same weights make the same file on any machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta net quantise best.safetensors best-q.safetensors
  surakarta net compare best.safetensors best-q.safetensors")]
struct Quantise {
    /// A file of f32 weights.
    from: PathBuf,
    /// The file to write.
    to: PathBuf,
}

/// Say how much two networks of one variant differ on positions of random games.
///
/// They may differ in shape, and either may be quantised. Divergence is that of the second policy from
/// the first (Kullback-Leibler, in nats); values and margins are from -1 to 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta net compare best.safetensors best-q.safetensors
  surakarta net compare iteration-0025.safetensors iteration-0050.safetensors --positions 10000 --json")]
struct Compare {
    /// A file of a network.
    first: PathBuf,
    /// Another one.
    second: PathBuf,
    /// How many positions.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    positions: u32,
    /// What the random games are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Say what a network makes of a position: value, margin, and the probability of every legal move.
///
/// Beside them stands what it takes to check a network of your own: which inputs are 1, and where each
/// move stands among the policy logits. Everything is seen by the side to move.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta net evaluate runs/quickstart/weights/best.safetensors
  surakarta net evaluate model.pt --position "w1wwww/wwww1w/1w2w1/2b1b1/bb1b1b/bbbbbb b 0 5" --json"#)]
struct Evaluate {
    /// A file of a network, f32, quantised or TorchScript, or latest or best of --run.
    net: String,
    #[command(flatten)]
    start: Start,
    #[command(flatten)]
    networks: NetworkArguments,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Say how often a network is right about endgames, by the tables of `surakarta tablebase build`.
///
/// From each class (pieces of the side to move and of the other) so many positions just after a capture are
/// drawn, all with the same chance: most are nothing like those of good games. `sign right` is of those that
/// are won or lost, `result right` of all, and `move right` of those in which some moves keep the result and
/// others do not.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta net grade runs/quickstart/weights/best.safetensors
  surakarta net grade latest --run runs/quickstart --tables tables --positions 10000 --json")]
struct Grade {
    /// A file of a network, f32, quantised or TorchScript, or latest or best of --run.
    net: String,
    /// The folder with the tables.
    #[arg(long, value_name = "DIR", default_value = "tables")]
    tables: PathBuf,
    /// The variant that the network plays.
    #[arg(long, default_value_t)]
    variant: Variant,
    /// How many positions of each class.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    positions: u32,
    /// What they are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    networks: NetworkArguments,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Info(Info { file, json }) => {
            let info = net::info(&file)?;
            if json { output::json(&info) } else { output::print(info) }
        }
        Command::Convert(Convert { from, to, note, strip_heads }) => {
            output::check_files(&[("the file", Some(&from))], &[("the file", Some(&to))])?;
            net::convert(&from, &to, note.as_deref(), strip_heads)
        }
        Command::Quantise(Quantise { from, to }) => {
            output::check_files(&[("the file", Some(&from))], &[("the file", Some(&to))])?;
            net::quantise(&from, &to)
        }
        Command::Evaluate(Evaluate { net, start, networks, json }) => {
            let net = NetRef::from(&net[..]);
            let said = evaluation::evaluate(&net, &networks.place()?, &start.position()?)?;
            if json { output::json(&said) } else { output::line(said) }
        }
        Command::Grade(Grade { net, tables, variant, positions, seed, networks, json }) => {
            let networks = Networks::of(&networks.place()?, variant);
            let tables = networks.tables(&tables)?;
            let mut evaluator = networks.load(&NetRef::from(&net[..]))?.evaluator(256)?;
            let grades = grade(&mut *evaluator, &tables, variant, positions as usize, seed)?;
            if json { output::json(&grades) } else { output::print(grades) }
        }
        Command::Compare(Compare { first, second, positions, seed, json }) => {
            let difference = net::compare(&first, &second, positions as usize, seed)?;
            if json { output::json(&difference) } else { output::print(difference) }
        }
    }
}
