use anyhow::Result;
use surakarta_game::{Position, perft};

use crate::output;

/// Count the leaves of the tree of legal moves.
///
/// No ending rule is applied; distinct (from, to) moves are counted. The last ply is counted
/// without being played.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Depth in plies.
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
