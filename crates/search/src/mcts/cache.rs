//! Evaluations that are kept, so that a position which comes again is not evaluated again.
//!
//! A position is known by all that a network sees of it and by its legal moves, which can depend on the
//! game: whole, not by a hash. So an answer is to the bit that of the network.

use surakarta_game::{Move, Position};
use surakarta_net::{Batch, Outlook};

/// Positions with more moves are not kept; there are hardly any.
const MOST_MOVES: usize = 64;

/// One evaluation.
#[derive(Clone)]
struct Slot {
    position: Position,
    /// How many moves there are; 0 if nothing is kept here.
    count: usize,
    moves: [Move; MOST_MOVES],
    policy: [f32; MOST_MOVES],
    outlook: Outlook,
}

impl Slot {
    fn holds(&self, position: &Position, moves: &[Move]) -> bool {
        self.count == moves.len()
            && self.position.key() == position.key()
            && self.position.quiet_plies() == position.quiet_plies()
            && self.position.variant() == position.variant()
            && self.moves[..self.count] == *moves
    }
}

/// A table of evaluations by one network. Each position has one place in it, which it shares with many
/// others; the latest is kept.
#[derive(Clone)]
pub(super) struct EvaluationCache {
    slots: Vec<Slot>,
}

impl EvaluationCache {
    /// A table of so many MiB, at least 1.
    pub(super) fn new(mib: usize) -> EvaluationCache {
        let position = Position::default();
        let empty = Slot {
            position,
            count: 0,
            moves: [position.moves()[0]; MOST_MOVES],
            policy: [0.0; MOST_MOVES],
            outlook: Outlook::default(),
        };
        EvaluationCache { slots: vec![empty; (mib.max(1) << 20) / size_of::<Slot>()] }
    }

    fn place(&self, position: &Position) -> usize {
        // Two rounds of multiplication and folding spread points and counter over all bits.
        let [a, b] = position.key();
        let fold = |x: u64, y: u64| {
            let product = u128::from(x) * u128::from(y);
            product as u64 ^ (product >> 64) as u64
        };
        let quiet = u64::from(position.quiet_plies());
        let hash = fold(a ^ 0x9e37_79b9_7f4a_7c15, b ^ 0xd1b5_4a32_d192_ed03 ^ quiet << 54);
        let hash = fold(hash, 0xa076_1d64_78bd_642f);
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    /// Fills in the evaluation of a position of the batch, if it is known.
    pub(super) fn fill(&self, batch: &mut Batch, at: usize) -> bool {
        let (position, moves, policy, outlook) = batch.item_mut(at);
        let slot = &self.slots[self.place(position)];
        if !slot.holds(position, moves) {
            return false;
        }
        policy.copy_from_slice(&slot.policy[..slot.count]);
        *outlook = slot.outlook;
        true
    }

    /// Keeps the evaluation of a position of the batch.
    pub(super) fn keep(&mut self, batch: &Batch, at: usize) {
        let (position, moves) = (batch.position(at), batch.moves(at));
        if moves.len() > MOST_MOVES {
            return;
        }
        let place = self.place(position);
        let slot = &mut self.slots[place];
        (slot.position, slot.count) = (*position, moves.len());
        slot.moves[..moves.len()].copy_from_slice(moves);
        slot.policy[..moves.len()].copy_from_slice(batch.policy(at));
        slot.outlook = *batch.outlook(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_to_its_memory_and_uses_all_of_it() {
        let cache = EvaluationCache::new(1);
        let bytes = cache.slots.len() * size_of::<Slot>();
        assert!(bytes <= 1 << 20 && bytes + size_of::<Slot>() > 1 << 20);
        // Positions of a walk of one piece with all counters: few share a place.
        let mut places: Vec<usize> = (0..36)
            .flat_map(|from| (0..40).map(move |quiet| (from / 6 * 8 + from % 6, quiet)))
            .filter_map(|(point, quiet)| {
                let side = surakarta_game::Color::Black;
                Position::new(Default::default(), 1 << point, 1 << 63 >> 18, side, quiet).ok()
            })
            .map(|position| cache.place(&position))
            .collect();
        assert!(places.len() > 1000);
        assert!(places.iter().all(|&place| place < cache.slots.len()));
        places.sort_unstable();
        places.dedup();
        // Thrown at random onto so many places, about 1,100 of 1,400 would be distinct.
        assert!(places.len() > 900, "{} places", places.len());
    }
}
