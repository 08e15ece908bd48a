//! Pairs of neighbouring points, of which a step needs one with an own piece and one empty: counting
//! and choosing steps without listing them.

use crate::layout::{Board, Layout};
use crate::machine::Machine;
use crate::stops::{StopTables, Stops};

/// How far the higher point of a pair lies from the lower one: to the right, up, and both diagonals.
const OFFSETS: [usize; 4] = [1, 8, 7, 9];

/// What a step between two points changes for the side that makes it.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Pair {
    /// Both points.
    pub(crate) points: u64,
    /// The stops of one of them alone.
    pub(crate) stops: Stops,
}

/// The pairs of a board, as bits of up to four words.
pub(crate) struct PairTables {
    /// By offset: the lower points.
    lower: [u64; OFFSETS.len()],
    /// By 64 × word + bit.
    pub(crate) pairs: [Pair; 64 * OFFSETS.len()],
}

/// Whether the pairs of two offsets fit into a word: those of the board of 6 × 6 do.
const fn is_packed(size: usize) -> bool {
    2 * size * (size - 1) <= 64
}

impl PairTables {
    pub(crate) const fn new(
        size: usize,
        board: u64,
        diagonals: bool,
        stops: &StopTables,
    ) -> PairTables {
        let mut tables = PairTables {
            lower: [0; OFFSETS.len()],
            pairs: [Pair { points: 0, stops: Stops::NONE }; 64 * OFFSETS.len()],
        };
        let mut k = 0;
        while k < if diagonals { 4 } else { 2 } {
            tables.lower[k] = board & board >> OFFSETS[k];
            let mut lower = tables.lower[k];
            let mut at = match is_packed(size) {
                true => {
                    64 * (k / 2)
                        + if k % 2 == 1 { tables.lower[k - 1].count_ones() as usize } else { 0 }
                }
                false => 64 * k,
            };
            while lower != 0 {
                let low = lower.trailing_zeros() as usize;
                let high = low + OFFSETS[k];
                let place = if is_packed(size) { at } else { at + low };
                tables.pairs[place] = Pair {
                    points: 1 << low | 1 << high,
                    stops: stops.of_point[low].const_xor(&stops.of_point[high]),
                };
                if is_packed(size) {
                    at += 1;
                }
                lower &= lower - 1;
            }
            k += 1;
        }
        tables
    }
}

/// The steps of a side: the pairs with one of its pieces and an empty point.
#[derive(Clone, Copy, Default)]
pub(crate) struct Steps {
    words: [u64; OFFSETS.len()],
}

impl Steps {
    #[inline(always)]
    pub(crate) fn of<B: Board, M: Machine>(machine: M, own: u64, empty: u64) -> Steps {
        let Layout { size, pairs: PairTables { lower, .. }, .. } = B::LAYOUT;
        let pairs = |k: usize| match lower[k] {
            0 => 0,
            _ => own & empty >> OFFSETS[k] | empty & own >> OFFSETS[k],
        };
        if !is_packed(*size) {
            return Steps { words: std::array::from_fn(pairs) };
        }
        let packed = |k: usize| {
            machine.compress(pairs(k), lower[k])
                | machine.compress(pairs(k + 1), lower[k + 1]) << lower[k].count_ones()
        };
        Steps { words: [packed(0), packed(2), 0, 0] }
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The n-th step, counted from 0 in an order of its own.
    #[inline(always)]
    pub(crate) fn nth<B: Board, M: Machine>(&self, machine: M, n: u32) -> &'static Pair {
        let counts = self.words.map(u64::count_ones);
        // Two choices between two, without a branch.
        let half = counts[0] + counts[1];
        let late = n >= half;
        let (first, second, in_first) = match late {
            true => (self.words[2], self.words[3], counts[2]),
            false => (self.words[0], self.words[1], counts[0]),
        };
        let n = n - if late { half } else { 0 };
        let in_second = n >= in_first;
        let word = if in_second { second } else { first };
        let n = n - if in_second { in_first } else { 0 };
        let bit = machine.nth_bit(word, n) as usize % 64;
        &B::LAYOUT.pairs.pairs[128 * late as usize + 64 * in_second as usize + bit]
    }
}
