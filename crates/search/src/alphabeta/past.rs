//! What the value of a position owes to the way there.
//!
//! Under most rule sets the same pieces with the same side to move are worth more or less with the
//! positions that have been: a move back into one of them ends the game, or is illegal. Counters
//! matter too, near their limits. A proven score in the transposition table therefore carries a digest
//! of those parts of the past that its search could have met, and serves only where the digest is the
//! same. In an exact search every score does: it so finds the same value with and without the table.

use surakarta_game::{Position, Repetition, RuleSet};

use super::table::hash;

/// The digest for a search of `depth` plies and quiescence below `position`, which was reached
/// through the positions `before` it. Zero where the past does not matter.
pub(super) fn digest(rules: &RuleSet, before: &[Position], position: &Position, depth: u32) -> u64 {
    let mut digest = 0u64;
    let quiet = position.quiet_plies();
    if rules.no_capture.is_some_and(|limit| quiet + depth >= limit as u32) {
        digest = digest.wrapping_add(hash([1 << 40, quiet as u64]));
    }
    let ply = position.ply();
    // That quiescence can add to a line.
    let most_captures = 2 * position.variant().pieces();
    if rules.ply_cap.is_some_and(|cap| ply + depth + most_captures >= cap as u32) {
        digest = digest.wrapping_add(hash([1 << 41, ply as u64]));
    }
    // Whether a side has a legal move takes a look one ply further if repetition is illegal.
    let reach = match rules.repetition {
        Repetition::Allowed => return digest,
        Repetition::Ends(_) => depth,
        Repetition::Illegal => depth + 1,
    };
    let span = if quiet == u16::MAX as u32 { before.len() } else { quiet as usize };
    for earlier in before.iter().rev().take(span) {
        if plies_to(position, earlier) <= reach {
            // A sum, not an exclusive or: under `threefold` it matters how often.
            digest = digest.wrapping_add(hash(earlier.key()));
        }
    }
    digest
}

/// A lower bound of the plies that it takes to come to `target` without captures: a ply displaces
/// one piece by a step.
fn plies_to(position: &Position, target: &Position) -> u32 {
    let side = position.side_to_move();
    let displaced = |color| (position.pieces(color) & !target.pieces(color)).count_ones();
    let (own, enemy) = (displaced(side), displaced(side.other()));
    if side == target.side_to_move() {
        // Both make as many moves; one that is already there has to leave and come back.
        match (own, enemy) {
            (0, 0) => 0,
            _ => 2 * least_moves(own).max(least_moves(enemy)),
        }
    } else {
        // The side to move makes one more, the other perhaps none.
        let by_other = if enemy == 0 && own == 1 { 0 } else { least_moves(enemy) };
        2 * by_other.max(least_moves(own) - 1) + 1
    }
}

/// Moves that bring back so many displaced pieces, if there has to be a move.
fn least_moves(displaced: u32) -> u32 {
    if displaced == 0 { 2 } else { displaced }
}
