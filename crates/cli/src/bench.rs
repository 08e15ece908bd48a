use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use surakarta_game::Variant;
use surakarta_net::{NetworkFile, Shape, Weights};
use surakarta_run::arena_bench::ArenaBench;
use surakarta_run::bench::{ROUNDS, RulesBench};
use surakarta_run::net_bench::NetBench;
use surakarta_run::search_bench::{SearchBench, checksums};
use surakarta_run::tables_bench::bench_tables;

use crate::output;
use crate::tablebase::Folder;

/// Measure speed, each rate beside a slow twin in the same process.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta bench rules
  surakarta bench arena --json
  surakarta bench net
  surakarta bench search
  surakarta bench tables"#)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Rules(Rules),
    Arena(Arena),
    Net(Net),
    Search(Search),
    Tables(TablesOf),
}

/// Rules on one core: perft, and random games to their ends under olympiad rules.
///
/// Rates are medians of nine rounds in which all take turns. The slow twin is the reference
/// implementation of the rules, at a perft to depth 3 and at random games. Perft counts the last ply
/// without playing it; random games find every repetition. Ctrl-C ends it at once: nothing is kept.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta bench rules
  surakarta bench rules --variant sepur --depth 5 --json"#)]
struct Rules {
    /// The variant: standard, rural, sepur, or "sepur,diagonals=no".
    #[arg(long, default_value_t)]
    variant: Variant,
    /// Depth of the perft.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=8))]
    depth: u32,
    /// Seconds at least for each rate, of which there are six with those of the slow twin.
    #[arg(long, default_value_t = 2.0, value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The arena: what it takes beside its players, and how long ratings take.
///
/// Two players who think for so many milliseconds a move play games with a journal, on one thread; the
/// overhead is the share of the time in which neither thinks. Then random results of many players are
/// rated with their errors, beside a mere count of them.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta bench arena
  surakarta bench arena --pairs 20 --json"#)]
struct Arena {
    /// Milliseconds a move.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    ms: u64,
    /// Pairs of games.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pairs: u32,
    /// Players that are rated.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_000))]
    players: u32,
    /// Games that are rated.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    games: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Evaluations of networks on one core: f32 and quantised, by kernel and batch, beside libtorch if the
/// binary has it.
///
/// Rates are medians of nine rounds in which all take turns, by processor time. Working the inputs out of a
/// position is part of it; the legal moves are given. Positions are from random games and have nothing to do
/// with their neighbours. `legal` computes the logits of legal moves alone, `all` those of all moves, as
/// libtorch does.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta bench net
  surakarta bench net --shape mlp:512,128 --shape conv:4,64 --shape circuit:4,64,3 --batches 1,32 --json
  surakarta bench net --net runs/quickstart/weights/best.safetensors"#)]
struct Net {
    /// Files of f32 weights.
    #[arg(long)]
    net: Vec<PathBuf>,
    /// Untrained networks: mlp:WIDTH,…, conv:BLOCKS,CHANNELS or circuit:BLOCKS,CHANNELS,REACH [default
    /// without --net: mlp:256,128].
    #[arg(long, value_parser = shape)]
    shape: Vec<Shape>,
    /// The variant of untrained networks.
    #[arg(long, default_value_t)]
    variant: Variant,
    /// Positions that are evaluated together.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 32, 256], value_parser = clap::value_parser!(u32).range(1..=2048))]
    batches: Vec<u32>,
    /// Seconds of processor time at least for each rate.
    #[arg(long, default_value_t = 0.5, value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Searches on one core: alpha-beta, random playouts, Descent and MCTS, tree included.
///
/// Rates are medians of nine rounds in which all take turns, by processor time, in fixed positions of one
/// game with fixed seeds. Beside each, in the same process: plain minimax for alpha-beta, random games from
/// the root for playouts, and for searches with a network the evaluations that they asked for, in the same
/// order and the same batches, but without a tree. What these leave of the search's time is what the tree
/// costs. `32 at once` are searches in lockstep, as in self-play; all others evaluate one position at a time.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta bench search
  surakarta bench search --net runs/quickstart/weights/best.safetensors --json
  surakarta bench search --checksum"#)]
struct Search {
    /// Weights of the standard variant: of MCTS and Descent, as they are and quantised [default: an
    /// untrained mlp 256,128 from a fixed seed].
    #[arg(long)]
    net: Option<PathBuf>,
    /// Simulations of each tree search.
    #[arg(long, default_value_t = 800, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    simulations: u32,
    /// Seconds of processor time at least for each rate and what is beside it.
    #[arg(long, default_value_t = 1.0, value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// Measure nothing, and print instead one number for what each method decides in fixed positions
    /// with fixed seeds, limits and networks. It changes with every change of behaviour, and with no
    /// other.
    #[arg(long, conflicts_with_all = ["net", "simulations", "seconds"])]
    checksum: bool,
    /// Print one JSON object; with --checksum, one a line.
    #[arg(long)]
    json: bool,
}

/// Endgame tables on one core: lookups of random positions.
///
/// Rates are medians of nine rounds in which both take turns, by processor time. Beside the lookups: entries
/// derived from those of the positions after the moves, as without a table of the class itself. The files
/// have been read once before.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta bench tables
  surakarta bench tables --tables /data/tables --json"#)]
struct TablesOf {
    #[command(flatten)]
    tables: Folder,
    /// The variant: standard, rural, sepur, or "sepur,diagonals=no".
    #[arg(long, default_value_t)]
    variant: Variant,
    /// Seconds of processor time at least for both rates.
    #[arg(long, default_value_t = 4.0, value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

fn shape(text: &str) -> Result<Shape, String> {
    let unknown = || "write mlp:256,128, conv:4,64 or circuit:4,64,3".to_owned();
    let (kind, numbers) = text.split_once(':').ok_or_else(unknown)?;
    let numbers: Result<Vec<usize>, _> = numbers.split(',').map(str::parse).collect();
    match (kind, &numbers.map_err(|_| unknown())?[..]) {
        ("mlp", hidden) => Shape::mlp(hidden),
        ("conv", &[blocks, channels]) => Shape::conv(blocks, channels),
        ("circuit", &[blocks, channels, reach]) => Shape::circuit(blocks, channels, reach),
        _ => return Err(unknown()),
    }
    .map_err(|error| error.to_string())
}

fn seconds(text: &str) -> Result<f64, String> {
    let good = text.parse().ok().filter(|n| (0.0..=3600.0).contains(n));
    good.ok_or_else(|| "give a number of seconds from 0 to 3600".to_owned())
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let Rules { variant, depth, seconds, json } = match arguments.what {
        What::Rules(rules) => rules,
        What::Net(net) => return measure(net),
        What::Search(search) => return measure_searches(search),
        What::Tables(TablesOf { tables, variant, seconds, json }) => {
            let (tables, time) = (tables.open()?, Duration::from_secs_f64(seconds));
            let rates = bench_tables(&tables, variant, time, announce)?;
            return if json { output::json(&rates) } else { output::print(rates) };
        }
        What::Arena(Arena { ms, pairs, players, games, json }) => {
            let rates = ArenaBench { ms, pairs, players, games }.run()?;
            return if json { output::json(&rates) } else { output::print(rates) };
        }
    };
    let bench = RulesBench { variant, depth, time: Duration::from_secs_f64(seconds) };
    let rates = bench.run(announce);
    if json { output::json(&rates) } else { output::print(rates) }
}

fn announce(round: usize) {
    tracing::info!("round {} of {ROUNDS}", round + 1);
}

fn measure(Net { net, mut shape, variant, batches, seconds, json }: Net) -> Result<()> {
    if net.is_empty() && shape.is_empty() {
        shape.push(Shape::mlp(&[256, 128])?);
    }
    let files = net.iter().map(|path| Ok(Weights::load(path)?));
    let untrained = shape.into_iter().map(|shape| Ok(Weights::random(shape, variant, 1)));
    let bench = NetBench {
        networks: files.chain(untrained).collect::<Result<_>>()?,
        batches: batches.into_iter().map(|size| size as usize).collect(),
        time: Duration::from_secs_f64(seconds),
    };
    let rates = bench.run(announce)?;
    if json { output::json(&rates) } else { output::print(rates) }
}

fn measure_searches(arguments: Search) -> Result<()> {
    let Search { net, simulations, seconds, checksum, json } = arguments;
    if checksum {
        for one in checksums()? {
            match json {
                true => output::json(&one)?,
                false => output::line(format_args!("{:<12} {}", one.method, one.checksum))?,
            }
        }
        return Ok(());
    }
    let network = match net {
        Some(path) => NetworkFile::load_for(path, Variant::Standard)?,
        None => {
            tracing::info!("the network is untrained: random weights, seed 1");
            let shape = Shape::mlp(&[256, 128])?;
            NetworkFile::F32(Weights::random(shape, Variant::Standard, 1).into())
        }
    };
    let time = Duration::from_secs_f64(seconds);
    let bench = SearchBench { network, simulations, time };
    let rates = bench.run(announce)?;
    if json { output::json(&rates) } else { output::print(rates) }
}
