//! Counts the leaves of the game tree: `cargo run --release --example perft -- 6 sepur` (a depth, a
//! variant).

use std::time::Instant;
use surakarta_game::{Position, Variant, perft};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let depth = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let variant = arguments.next().map_or(Ok(Variant::Standard), |text| text.parse())?;
    let start = Instant::now();
    let leaves = perft(&Position::start(variant), depth);
    let seconds = start.elapsed().as_secs_f64();
    println!("{leaves} leaves, {:.0} million/s", leaves as f64 / seconds / 1e6);
    Ok(())
}
