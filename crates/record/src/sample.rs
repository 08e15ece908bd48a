//! What a network learns from.

use surakarta_game::{Color, Move, Outcome, Position, Symmetry, Variant};

use crate::game::PlyRecord;

/// A position with its targets, all of them seen by the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position before the ply.
    pub position: Position,
    /// The search's share of each move; the shares sum to 1, and moves without any are left out.
    pub policy: Vec<(Move, f32)>,
    /// How the game ended: 1 won, 0 drawn, −1 lost.
    pub outcome: i8,
    /// Pieces on the board when the game ended, whatever ended it: own − enemy, as a part of all that
    /// a side starts with.
    pub margin: f32,
    /// Value of the search's root in [−1, 1], if it had one.
    pub value: Option<f32>,
}

impl Sample {
    /// The sample of one ply of a game that ended so, with these pieces left.
    pub fn new(position: Position, ply: &PlyRecord, outcome: Outcome, last: &Position) -> Sample {
        let (variant, mover) = (position.variant(), position.side_to_move());
        Sample {
            position,
            policy: ply.policy.shares(),
            outcome: outcome.value_for(mover),
            margin: margin(variant, pieces_ahead(last, mover)),
            value: ply.value,
        }
    }

    /// The same sample on the board after a symmetry.
    #[must_use]
    pub fn under(&self, symmetry: Symmetry) -> Sample {
        let variant = self.position.variant();
        let turned = |&(mv, share): &(Move, f32)| (mv.under(variant, symmetry), share);
        Sample {
            position: self.position.under(symmetry),
            policy: self.policy.iter().map(turned).collect(),
            ..*self
        }
    }
}

/// How many pieces more a colour has than the other.
pub(crate) fn pieces_ahead(position: &Position, color: Color) -> i8 {
    position.count(color) as i8 - position.count(color.other()) as i8
}

/// Pieces ahead as a part of all that a side can have.
pub(crate) fn margin(variant: Variant, pieces: i8) -> f32 {
    pieces as f32 / variant.pieces() as f32
}
