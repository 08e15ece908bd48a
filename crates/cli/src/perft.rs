use anyhow::Result;
use surakarta_game::{Position, perft};

use crate::output;

/// Count the leaves of the tree of legal moves.
///
/// No ending rule is applied; distinct (from, to) moves are counted. The last ply is counted
/// without being played.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta perft 5
  surakarta perft 4 --position "bb3b/1b2w1/6/b5/b3w1/w5 w 0 1" --json"#)]
pub(crate) struct Arguments {
    /// Depth in plies; each is some twenty times the work of the one before.
    #[arg(value_parser = clap::value_parser!(u32).range(..=12))]
    depth: u32,
    /// The position to start from, as in "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1".
    #[arg(long, default_value_t)]
    position: Position,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let start = std::time::Instant::now();
    let leaves = perft(&arguments.position, arguments.depth);
    let seconds = start.elapsed().as_secs_f64();
    if arguments.json {
        output::json(&serde_json::json!({
            "position": arguments.position.to_string(),
            "depth": arguments.depth,
            "leaves": leaves,
            "seconds": seconds,
        }))
    } else {
        output::line(leaves)
    }
}
