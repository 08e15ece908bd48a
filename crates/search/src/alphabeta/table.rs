//! The transposition table: what earlier searches found out about positions.

use surakarta_game::{Key, Move, Variant};

use super::evaluation::{DECIDED, Score};

/// What a stored score says about the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Bound {
    /// It is this score.
    Exact,
    /// It is this score or more.
    Lower,
    /// It is this score or less.
    Upper,
}

/// A search's finding. Two of them fill a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    key: Key,
    /// What the score owes to earlier positions and counters: see [`super::past`].
    pub(super) past: u64,
    score: i16,
    generation: u16,
    /// The best move, or the one that refuted the position.
    pub(super) mv: Move,
    /// Plies searched below the position.
    pub(super) depth: u8,
    pub(super) bound: Bound,
}

impl Entry {
    /// The score as seen from a root `ply` plies above.
    pub(super) fn score(&self, ply: usize) -> Score {
        let (score, ply) = (self.score as Score, ply as Score);
        if score > DECIDED {
            score - ply
        } else if score < -DECIDED {
            score + ply
        } else {
            score
        }
    }
}

/// A score seen from a root `ply` plies above, as seen from the position itself.
fn from_here(score: Score, ply: usize) -> i16 {
    let ply = ply as Score;
    let score = if score > DECIDED {
        score + ply
    } else if score < -DECIDED {
        score - ply
    } else {
        score
    };
    score as i16
}

/// A finding to be stored; the score is seen from a root `ply` plies above.
pub(super) struct Finding {
    pub(super) key: Key,
    pub(super) past: u64,
    pub(super) score: Score,
    pub(super) ply: usize,
    pub(super) mv: Move,
    pub(super) depth: u32,
    pub(super) bound: Bound,
}

const WAYS: usize = 2;

const ANY_MOVE: Move = match Variant::Standard.move_at(0) {
    Some(mv) => mv,
    None => panic!("the geometry allows moves"),
};

#[derive(Clone)]
#[repr(align(64))]
struct Bucket([Entry; WAYS]);

/// A table of fixed size. Whole keys are compared, so that no two positions are ever confused.
pub(super) struct Table {
    buckets: Vec<Bucket>,
    /// The number of the present search, 1 or more.
    generation: u16,
    /// Entries of an earlier search than this count as empty.
    oldest: u16,
}

impl Table {
    /// An empty table of at most so many MiB (at least one bucket).
    pub(super) fn new(mebibytes: usize) -> Table {
        let buckets = (mebibytes << 20) / size_of::<Bucket>();
        let mut table = Table { buckets: Vec::new(), generation: 1, oldest: 1 };
        table.fill(buckets.max(1));
        table
    }

    fn fill(&mut self, buckets: usize) {
        let empty = Entry {
            // No position has this key: no side has so many pieces.
            key: [u64::MAX; 2],
            past: 0,
            score: 0,
            generation: 0,
            mv: ANY_MOVE,
            depth: 0,
            bound: Bound::Exact,
        };
        self.buckets.clear();
        self.buckets.resize(buckets, Bucket([empty; WAYS]));
        (self.generation, self.oldest) = (1, 1);
    }

    /// Forgets everything, in no time.
    pub(super) fn clear(&mut self) {
        self.next_search();
        self.oldest = self.generation;
    }

    /// From now on all entries are old.
    pub(super) fn next_search(&mut self) {
        if self.generation == u16::MAX {
            self.fill(self.buckets.len());
        }
        self.generation += 1;
    }

    fn bucket(&self, key: Key) -> usize {
        // The high half of the product spreads the hash over any number of buckets.
        ((hash(key) as u128 * self.buckets.len() as u128) >> 64) as usize
    }

    /// Asks for the memory where a position would be, which takes about as long as to judge one.
    #[inline]
    pub(super) fn prefetch(&self, key: Key) {
        let bucket = &raw const self.buckets[self.bucket(key)];
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every processor of this architecture has the instruction, and it reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch(bucket.cast(), _MM_HINT_T0);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = bucket;
    }

    /// What is known of a position.
    pub(super) fn get(&self, key: Key) -> Option<Entry> {
        let bucket = &self.buckets[self.bucket(key)];
        bucket.0.iter().find(|e| e.key == key && e.generation >= self.oldest).copied()
    }

    /// Stores a finding in the place of an older one of the same position, or else of the one that
    /// cost least, where each search since then counts as a ply.
    pub(super) fn put(&mut self, finding: &Finding) {
        let at = self.bucket(finding.key);
        let (generation, oldest) = (self.generation, self.oldest);
        let worth = |e: &Entry| {
            if e.generation < oldest {
                i32::MIN
            } else {
                e.depth as i32 - (generation - e.generation) as i32
            }
        };
        let ways = &mut self.buckets[at].0;
        // The same position's entry goes first, lest it be there twice.
        let same = ways.iter().position(|e| e.key == finding.key);
        let way = same.unwrap_or(if worth(&ways[1]) < worth(&ways[0]) { 1 } else { 0 });
        ways[way] = Entry {
            key: finding.key,
            past: finding.past,
            score: from_here(finding.score, finding.ply),
            generation,
            mv: finding.mv,
            depth: finding.depth as u8,
            bound: finding.bound,
        };
    }
}

/// Spreads a key over 64 bits.
pub(super) fn hash(key: Key) -> u64 {
    let word = key[0].wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ key[1].wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
    let word = (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word ^ word >> 32
}
