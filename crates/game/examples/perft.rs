//! Counts the leaves of the game tree: `cargo run --release --example perft -- 6`.

use std::time::Instant;
use surakarta_game::{Position, perft};

fn main() {
    let depth = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    let start = Instant::now();
    let leaves = perft(&Position::default(), depth);
    let seconds = start.elapsed().as_secs_f64();
    println!("{leaves} leaves, {:.0} million/s", leaves as f64 / seconds / 1e6);
}
