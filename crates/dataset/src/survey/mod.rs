//! What a heap of shards holds.

mod calibration;
mod distinct;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use surakarta_game::{Color, Outcome, Position};
use surakarta_record::{GameRecord, Policy, SearchKind, ShardError, ShardReader};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use calibration::Sums;
pub use calibration::{Calibration, CalibrationBin};
use distinct::Counter;
pub use distinct::Distinct;

use crate::error::DatasetError;
use crate::read::in_order;

/// Counts over shards.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// Shards.
    pub shards: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Games in them.
    pub games: u64,
    /// Games that differ in start or moves.
    pub distinct_games: Distinct,
    /// Games that differ in start or the first [`OPENING_PLIES`] moves.
    pub distinct_openings: Distinct,
    /// Games by variant; variants that did not occur are left out.
    pub variants: BTreeMap<String, u64>,
    /// Games that Black, the first player, has won.
    pub black_wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that White has won.
    pub white_wins: u64,
    /// Games by ending; endings that did not occur are left out.
    pub endings: BTreeMap<String, u64>,
    /// Plies of all games.
    pub plies: u64,
    /// Plies by kind of search: `opening`, `fast`, `full`.
    pub searches: BTreeMap<String, u64>,
    /// Plies a game; none without games.
    pub mean_plies: Option<f64>,
    /// Plies of the shortest game, those at the quartiles, and of the longest; none without games.
    pub plies_quartiles: Option<[u64; 5]>,
    /// Positions to learn from: full searches that left a policy.
    pub recorded: u64,
    /// Bytes of the shards for each of them, whatever else they hold; none without any.
    pub bytes_per_recorded: Option<f64>,
    /// Positions before a ply that differ in variant, pieces or side to move.
    pub distinct_positions: Distinct,
    /// Mean entropy of the recorded policies in nats; none without any.
    pub mean_policy_entropy: Option<f64>,
    /// Values of searches against the results.
    pub calibration: Calibration,
}

/// Moves that make an opening, where openings are counted.
pub const OPENING_PLIES: usize = 8;

/// Distinct games, openings and positions that are remembered, before they are estimated: about 140 MB of
/// each at most.
pub const EXACT_BOUND: usize = 1 << 22;

/// Sums up these shards, and says what is wrong with each that was left out.
///
/// # Errors
/// If none is whole.
pub fn survey(paths: &[PathBuf]) -> Result<(Summary, Vec<ShardError>), DatasetError> {
    survey_with_bound(paths, EXACT_BOUND)
}

/// The same with another bound than [`EXACT_BOUND`].
///
/// # Errors
/// As [`survey`].
pub fn survey_with_bound(
    paths: &[PathBuf],
    bound: usize,
) -> Result<(Summary, Vec<ShardError>), DatasetError> {
    let mut total = Tally::default();
    let [mut games, mut openings, mut positions] = [(); 3].map(|()| Counter::new(bound));
    let mut left_out = Vec::new();
    in_order(
        paths,
        |path| Tally::of(path),
        |tally| {
            match tally {
                Ok(tally) => {
                    total.add(&tally);
                    games.extend(tally.games);
                    openings.extend(tally.openings);
                    positions.extend(tally.positions);
                }
                Err(error) => left_out.push(error),
            }
            Ok::<(), DatasetError>(())
        },
    )?;
    let mut summary = total.summary();
    if summary.shards == 0 && !left_out.is_empty() {
        return Err(DatasetError::NothingLeft { first: Box::new(left_out.remove(0)) });
    }
    summary.distinct_games = games.distinct();
    summary.distinct_openings = openings.distinct();
    summary.distinct_positions = positions.distinct();
    Ok((summary, left_out))
}

/// Counts of one shard, or of several.
#[derive(Clone, Debug, Default)]
struct Tally {
    counts: Summary,
    /// Games by their number of plies.
    lengths: BTreeMap<u64, u64>,
    entropy: f64,
    values: Sums,
    /// Hashes, of one shard alone.
    games: Vec<u128>,
    openings: Vec<u128>,
    positions: Vec<u128>,
}

impl Tally {
    fn of(path: &Path) -> Result<Tally, ShardError> {
        let mut reader = ShardReader::open(path)?;
        let mut tally = Tally::default();
        tally.counts.shards = 1;
        tally.counts.bytes = reader.bytes();
        for game in reader.games() {
            tally.count(&game?);
        }
        reader.states()?;
        Ok(tally)
    }

    fn count(&mut self, game: &GameRecord) {
        let counts = &mut self.counts;
        counts.games += 1;
        add(&mut counts.variants, game.start.variant().name(), 1);
        match game.result.outcome {
            Outcome::Win(Color::Black) => counts.black_wins += 1,
            Outcome::Draw => counts.draws += 1,
            Outcome::Win(Color::White) => counts.white_wins += 1,
        }
        add(&mut counts.endings, game.result.ending.name(), 1);
        counts.plies += game.plies.len() as u64;
        *self.lengths.entry(game.plies.len() as u64).or_default() += 1;
        for (ply, position) in game.plies.iter().zip(game.positions()) {
            add(&mut counts.searches, ply.search.name(), 1);
            if ply.is_sample() {
                counts.recorded += 1;
                self.entropy += entropy(&ply.policy);
            }
            let value = ply.value.filter(|_| ply.search != SearchKind::Opening);
            if let Some(value) = value {
                let outcome = game.result.outcome.value_for(position.side_to_move());
                self.values.push(value, outcome);
            }
            self.positions.push(place(&position));
        }
        self.games.push(course(game, usize::MAX));
        self.openings.push(course(game, OPENING_PLIES));
    }

    fn add(&mut self, other: &Tally) {
        let (counts, others) = (&mut self.counts, &other.counts);
        counts.shards += others.shards;
        counts.bytes += others.bytes;
        counts.games += others.games;
        counts.black_wins += others.black_wins;
        counts.draws += others.draws;
        counts.white_wins += others.white_wins;
        counts.plies += others.plies;
        counts.recorded += others.recorded;
        for (counts, others) in [
            (&mut counts.variants, &others.variants),
            (&mut counts.endings, &others.endings),
            (&mut counts.searches, &others.searches),
        ] {
            others.iter().for_each(|(name, &n)| add(counts, name, n));
        }
        for (&length, &games) in &other.lengths {
            *self.lengths.entry(length).or_default() += games;
        }
        self.entropy += other.entropy;
        self.values.add(&other.values);
    }

    fn summary(self) -> Summary {
        let mut summary = self.counts;
        let ratio = |a: f64, b: u64| (b > 0).then(|| a / b as f64);
        summary.mean_plies = ratio(summary.plies as f64, summary.games);
        summary.plies_quartiles = quartiles(&self.lengths);
        summary.bytes_per_recorded = ratio(summary.bytes as f64, summary.recorded);
        summary.mean_policy_entropy = ratio(self.entropy, summary.recorded);
        summary.calibration = self.values.calibration();
        summary
    }
}

/// Adds to a name's count, with a new name only where there is none.
fn add(counts: &mut BTreeMap<String, u64>, name: &str, n: u64) {
    match counts.get_mut(name) {
        Some(count) => *count += n,
        None => {
            counts.insert(name.to_owned(), n);
        }
    }
}

/// The least number, those that a quarter, half and three quarters do not exceed, and the greatest.
fn quartiles(counts: &BTreeMap<u64, u64>) -> Option<[u64; 5]> {
    let total: u64 = counts.values().sum();
    let at = |rank: u64| {
        let mut before = 0;
        let found = counts.iter().find(|&(_, &n)| {
            before += n;
            before >= rank.max(1)
        });
        found.map(|(&number, _)| number)
    };
    let ranks = [1, total.div_ceil(4), total.div_ceil(2), (3 * total).div_ceil(4), total];
    let mut quartiles = [0; 5];
    for (quartile, rank) in quartiles.iter_mut().zip(ranks) {
        *quartile = at(rank)?;
    }
    Some(quartiles)
}

/// In nats.
fn entropy(policy: &Policy) -> f64 {
    let part = |(_, share): (_, f32)| -f64::from(share) * f64::from(share).ln();
    policy.shares().into_iter().map(part).sum()
}

/// Equal for positions with the same pieces and side to move in the same variant.
fn place(position: &Position) -> u128 {
    let [black, white] = position.key();
    let mut bytes = [0; 17];
    bytes[..8].copy_from_slice(&black.to_le_bytes());
    bytes[8..16].copy_from_slice(&white.to_le_bytes());
    bytes[16] = position.variant() as u8;
    xxh3_128(&bytes)
}

/// Equal for games with the same start and the same first moves.
fn course(game: &GameRecord, plies: usize) -> u128 {
    let mut hash = Xxh3Default::new();
    hash.update(game.start.to_string().as_bytes());
    for ply in game.plies.iter().take(plies) {
        hash.update(&[ply.mv.from().index() as u8, ply.mv.to().index() as u8]);
    }
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_numbers_that_occur() {
        let of = |numbers: &[u64]| {
            let mut counts = BTreeMap::new();
            numbers.iter().for_each(|&n| *counts.entry(n).or_default() += 1);
            quartiles(&counts)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7]), Some([7; 5]));
        assert_eq!(of(&[1, 2, 3, 4]), Some([1, 1, 2, 3, 4]));
        assert_eq!(of(&[9, 1, 1, 5, 5, 5, 5, 8]), Some([1, 1, 5, 5, 9]));
    }
}
