//! What a heap of shards holds.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use surakarta_game::{Color, Key, Outcome, Position};
use xxhash_rust::xxh3::Xxh3Default;

use crate::game::GameRecord;
use crate::shard::{ShardError, ShardReader};

/// Counts over shards.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// Shards.
    pub shards: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Games in them.
    pub games: u64,
    /// Games by variant; variants that did not occur are left out.
    pub variants: BTreeMap<String, u64>,
    /// Games that Black has won.
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
    /// Positions to learn from: full searches that left a policy.
    pub recorded: u64,
    /// Bytes of the shards for each of them, whatever else they hold; none without any.
    pub bytes_per_recorded: Option<f64>,
    /// Games that differ in start or moves, among the first [`games_compared`](Self::games_compared).
    pub distinct_games: u64,
    /// How many games were compared: all of them, up to a bound of memory.
    pub games_compared: u64,
    /// Positions before a ply that differ in variant, pieces or side to move, among the first
    /// [`positions_compared`](Self::positions_compared).
    pub distinct_positions: u64,
    /// How many positions were compared: one a ply, up to a bound of memory.
    pub positions_compared: u64,
}

/// Counts shard after shard.
#[derive(Clone, Debug)]
pub struct Survey {
    summary: Summary,
    /// Hashes of start and moves: in 128 bits no two of any real number of games fall together.
    games: HashSet<u128>,
    positions: HashSet<Key>,
    bound: usize,
}

/// Distinct games, and positions, that a survey remembers: about 100 MB of each at most.
const BOUND: usize = 1 << 22;

impl Default for Survey {
    fn default() -> Self {
        Survey::with_bound(BOUND)
    }
}

impl Survey {
    /// A survey that stops to compare games, or positions, at the shard with which it knows so many
    /// different ones. The default is four million.
    pub fn with_bound(bound: usize) -> Survey {
        Survey {
            summary: Summary::default(),
            games: HashSet::new(),
            positions: HashSet::new(),
            bound,
        }
    }

    /// Counts a shard.
    ///
    /// # Errors
    /// If it is damaged; nothing of it is counted then.
    pub fn add(&mut self, path: &Path) -> Result<(), ShardError> {
        let mut reader = ShardReader::open(path)?;
        let mut summary = self.summary.clone();
        summary.shards += 1;
        summary.bytes += reader.bytes();
        let (mut games, mut positions) = (Vec::new(), Vec::new());
        for game in reader.games() {
            let game = game?;
            summary.count(&game);
            games.push(identity(&game));
            positions.extend(game.positions().take(game.plies.len()).map(|p| place(&p)));
        }
        if self.games.len() < self.bound {
            summary.games_compared += games.len() as u64;
            self.games.extend(games);
        }
        if self.positions.len() < self.bound {
            summary.positions_compared += positions.len() as u64;
            self.positions.extend(positions);
        }
        self.summary = summary;
        Ok(())
    }

    /// The counts so far.
    pub fn summary(&self) -> Summary {
        let mut summary = self.summary.clone();
        let ratio = |a: u64, b: u64| (b > 0).then(|| a as f64 / b as f64);
        summary.mean_plies = ratio(summary.plies, summary.games);
        summary.bytes_per_recorded = ratio(summary.bytes, summary.recorded);
        summary.distinct_games = self.games.len() as u64;
        summary.distinct_positions = self.positions.len() as u64;
        summary
    }
}

impl Summary {
    fn count(&mut self, game: &GameRecord) {
        self.games += 1;
        count(&mut self.variants, game.start.variant().name());
        match game.result.outcome {
            Outcome::Win(Color::Black) => self.black_wins += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Win(Color::White) => self.white_wins += 1,
        }
        count(&mut self.endings, game.result.ending.name());
        self.plies += game.plies.len() as u64;
        for ply in &game.plies {
            count(&mut self.searches, ply.search.name());
            self.recorded += ply.is_sample() as u64;
        }
    }
}

/// Adds one to a name's count, with a new name only where there is none.
fn count(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

/// Equal for positions with the same pieces and side to move in the same variant.
fn place(position: &Position) -> Key {
    let [black, white] = position.key();
    // No point has these bits.
    [black, white | (position.variant() as u64) << 56]
}

/// Equal for games with the same start and moves.
fn identity(game: &GameRecord) -> u128 {
    let mut hash = Xxh3Default::new();
    hash.update(game.start.to_string().as_bytes());
    for ply in &game.plies {
        hash.update(&[ply.mv.from().index() as u8, ply.mv.to().index() as u8]);
    }
    hash.digest128()
}
