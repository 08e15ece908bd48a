use anyhow::Result;
use surakarta_game::perft;

use crate::output;
use crate::start::Start;

/// Count the leaves of the tree of legal moves.
///
/// No ending rule is applied; distinct (from, to) moves are counted. The last ply is counted
/// without being played.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta perft 5
  surakarta perft 5 --variant rural
  surakarta perft 4 --position "bb3b/1b2w1/6/b5/b3w1/w5 w 0 1" --json"#)]
pub(crate) struct Arguments {
    /// Depth in plies; each is some twenty times the work of the one before.
    #[arg(value_parser = clap::value_parser!(u32).range(..=12))]
    depth: u32,
    #[command(flatten)]
    start: Start,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let position = arguments.start.position()?;
    let began = std::time::Instant::now();
    let leaves = perft(&position, arguments.depth);
    let seconds = began.elapsed().as_secs_f64();
    if arguments.json {
        output::json(&serde_json::json!({
            "position": position.to_string(),
            "depth": arguments.depth,
            "leaves": leaves,
            "seconds": seconds,
        }))
    } else {
        output::line(leaves)
    }
}
