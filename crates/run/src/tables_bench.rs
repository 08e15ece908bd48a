//! Speed of looking endgames up.

use std::fmt;
use std::hint::black_box;
use std::time::Duration;

use anyhow::{Result, bail};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use surakarta_game::{Position, Variant};
use surakarta_tablebase::Tables;

use crate::bench::ROUNDS;
use crate::net_bench::clock;

/// Positions that are looked up in turn: many more than caches hold the entries of.
const POSITIONS: usize = 1 << 19;

/// Positions between two looks at the clock.
const SOME: usize = 1 << 12;

/// Rates on one core, by processor time: medians of [`ROUNDS`] rounds in which both take turns.
#[derive(Clone, Debug, Serialize)]
pub struct TablesRates {
    /// Up to how many pieces there are tables.
    pub pieces: u32,
    /// Positions in the tables.
    pub positions: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// Lookups of random positions, each as likely as any other in the tables.
    pub probes_per_s: f64,
    /// Entries of the same positions that were derived from those of the positions after their moves.
    pub derived_per_s: f64,
    /// The one divided by the other.
    pub ratio: f64,
}

/// Measures the tables of a variant for so much processor time at least, in all rounds together. Calls `begin`
/// before each round, with its number.
///
/// # Errors
/// If there are no tables of the variant.
pub fn bench_tables(
    tables: &Tables,
    variant: Variant,
    time: Duration,
    begin: impl Fn(usize),
) -> Result<TablesRates> {
    let pieces = tables.pieces(variant);
    if pieces == 0 {
        bail!("{} has no tables of the variant {variant}", tables.folder().display());
    }
    tables.warm_up();
    let (positions, drawn) = draw(tables, variant);
    let (mut probes, mut derived) = ([0.0; ROUNDS], [0.0; ROUNDS]);
    let mut at = [0, 0];
    let time = time / (2 * ROUNDS as u32);
    for (round, rates) in probes.iter_mut().zip(&mut derived).enumerate() {
        begin(round);
        *rates.0 = rate(&drawn, &mut at[0], time, |position| {
            black_box(tables.probe(position));
        });
        *rates.1 = rate(&drawn, &mut at[1], time, |position| {
            black_box(tables.derive(position));
        });
    }
    let [probes_per_s, derived_per_s] = [probes, derived].map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[ROUNDS / 2]
    });
    let (bytes, ratio) = (tables.bytes(variant), probes_per_s / derived_per_s);
    Ok(TablesRates { pieces, positions, bytes, probes_per_s, derived_per_s, ratio })
}

/// How many positions the tables hold, and some of them at random.
fn draw(tables: &Tables, variant: Variant) -> (u64, Vec<Position>) {
    let classes = tables.classes(variant).filter_map(|class| tables.index(variant, class));
    let indices: Vec<_> = classes.collect();
    let positions = indices.iter().map(|index| index.len() as u64).sum();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let drawn = (0..POSITIONS).filter_map(|_| {
        let mut number = random.random_range(0..positions);
        indices.iter().find_map(|index| match number < index.len() as u64 {
            true => Some(index.position(number as usize)),
            false => {
                number -= index.len() as u64;
                None
            }
        })
    });
    (positions, drawn.collect())
}

/// Positions a second, going on where the last round ended.
fn rate(
    positions: &[Position],
    at: &mut usize,
    time: Duration,
    mut look: impl FnMut(&Position),
) -> f64 {
    let (began, mut done) = (clock(), 0);
    loop {
        for position in &positions[*at..*at + SOME] {
            look(position);
        }
        *at = (*at + SOME) % positions.len();
        done += SOME;
        let spent = clock() - began;
        if spent >= time && !spent.is_zero() {
            return done as f64 / spent.as_secs_f64();
        }
    }
}

impl fmt::Display for TablesRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "up to {} pieces, {:.1} million positions in {:.1} MB, one core",
            self.pieces,
            self.positions as f64 / 1e6,
            self.bytes as f64 / 1e6
        )?;
        writeln!(f, "lookups of random positions    {:>8.2} M/s", self.probes_per_s / 1e6)?;
        writeln!(
            f,
            "derived from their successors  {:>8.2} M/s   lookups {:.0} × as fast",
            self.derived_per_s / 1e6,
            self.ratio
        )
    }
}
