//! What the search leaves out, or looks at less deeply, on suspicion. None of it ever makes a score
//! beyond [`DECIDED`](super::DECIDED).

use surakarta_game::Position;

use super::evaluation::Score;

/// From this depth on a position that the table does not know is searched a ply less deep: the next
/// iteration will know it.
pub(super) const UNKNOWN_DEPTH: u32 = 4;

/// Whether a position is worth so much more than `beta` that the opponent will not come back within
/// `depth` plies.
pub(super) fn is_far_above(depth: u32, estimate: Score, beta: Score) -> bool {
    depth <= 6 && estimate - 60 * depth as Score >= beta
}

/// What a quiet move is expected not to come above, at low depths.
pub(super) fn ceiling(depth: u32, estimate: Score) -> Option<Score> {
    (depth <= 4).then(|| estimate + 50 + 50 * depth as Score)
}

/// Whether to try what happens if the opponent moves twice in a row. With few pieces it may be best
/// not to move, which is no choice.
pub(super) fn may_pass(depth: u32, position: &Position) -> bool {
    depth >= 3 && position.own().count_ones() >= 5
}

/// Plies by which the search after a pass is less deep.
pub(super) fn pass_reduction(depth: u32) -> u32 {
    2 + depth / 4
}

/// Plies by which a quiet move is searched less deep at first, the `number`-th of a node, counted from
/// 0: about half the product of the logarithms to base 2 of depth and number.
pub(super) fn reduction(depth: u32, number: usize, open: bool, history: i32) -> u32 {
    let product = halves(depth) * halves(number as u32 + 1) / 4;
    let lessened = product - history / 2048 - if open { 2 } else { 0 };
    (lessened / 2).max(0) as u32
}

/// Twice the logarithm to base 2, from below.
fn halves(n: u32) -> i32 {
    let whole = n.ilog2();
    (2 * whole + (whole > 0 && n >> (whole - 1) & 1 != 0) as u32) as i32
}
