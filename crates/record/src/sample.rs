//! What a network learns from.

use surakarta_game::{Color, Move, Position, Symmetry, Variant};

use crate::game::GameRecord;

/// A position with what is known of it once its game is over. What is worth something (outcome,
/// margin, values) is seen by the side to move; moves and positions are those of the board.
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
    /// The opponent's next move: shares as in `policy` if a full search found it, else the move that
    /// was played with a share of 1. Empty if the game ended before it.
    pub reply: Vec<(Move, f32)>,
    /// Root values in [−1, 1] of this ply and all later ones that have one, then the result.
    pub future: Vec<f32>,
    /// The position that the game ended with.
    pub last: Position,
}

impl Sample {
    /// The sample of a ply of a game, given the position before it and the game's last one.
    pub(crate) fn new(game: &GameRecord, ply: usize, position: Position, last: Position) -> Sample {
        let mover = position.side_to_move();
        let record = &game.plies[ply];
        let outcome = game.result.outcome.value_for(mover);
        let reply = game.plies.get(ply + 1).map_or(Vec::new(), |next| match next.is_sample() {
            true => next.policy.shares(),
            false => vec![(next.mv, 1.0)],
        });
        let values = game.plies[ply..].iter().map(|ply| ply.value);
        Sample {
            position,
            policy: record.policy.shares(),
            outcome,
            margin: margin_of(&last, mover),
            value: record.value,
            reply,
            future: future(values, outcome),
            last,
        }
    }

    /// The same sample on the board after a symmetry.
    #[must_use]
    pub fn under(mut self, symmetry: Symmetry) -> Sample {
        let variant = self.position.variant();
        self.position = self.position.under(symmetry);
        self.last = self.last.under(symmetry);
        for (mv, _) in self.policy.iter_mut().chain(&mut self.reply) {
            *mv = mv.under(variant, symmetry);
        }
        self
    }
}

/// The values that there are, each turned from its own mover's view into that of the first, and the
/// result.
pub(crate) fn future(values: impl Iterator<Item = Option<f32>>, outcome: i8) -> Vec<f32> {
    let turned = |(plies, value): (usize, Option<f32>)| {
        value.map(|value| if plies % 2 == 0 { value } else { -value })
    };
    values.enumerate().filter_map(turned).chain([f32::from(outcome)]).collect()
}

/// How many pieces more a colour has than the other.
pub(crate) fn pieces_ahead(position: &Position, color: Color) -> i8 {
    position.count(color) as i8 - position.count(color.other()) as i8
}

/// Pieces on the board, own − enemy as a colour sees it, as a part of all that a side starts with.
pub fn margin_of(position: &Position, color: Color) -> f32 {
    margin(position.variant(), pieces_ahead(position, color))
}

/// Pieces ahead as a part of all that a side can have.
pub(crate) fn margin(variant: Variant, pieces: i8) -> f32 {
    pieces as f32 / variant.pieces() as f32
}
