//! Which moves to try first.

use surakarta_game::{Color, GRID, Move};

const FIRST: i32 = i32::MAX;
const CAPTURE: i32 = 1 << 28;
const KILLER: i32 = 1 << 27;
const HISTORY_LIMIT: i32 = 1 << 26;

/// What earlier refutations teach about the order of moves.
pub(super) struct Ordering {
    /// `[ply]`: the two quiet moves that last refuted a position there, the last one first.
    killers: Vec<[Option<Move>; 2]>,
    /// `[side][from × grid + to]`: how often a move has refuted positions, by depth.
    history: Vec<i32>,
}

impl Ordering {
    pub(super) fn new(plies: usize) -> Ordering {
        Ordering { killers: vec![[None; 2]; plies], history: vec![0; 2 * GRID * GRID] }
    }

    /// Forgets the last game.
    pub(super) fn clear(&mut self) {
        self.killers.fill([None; 2]);
        self.history.fill(0);
    }

    /// Prepares for the next move of the same game.
    pub(super) fn age(&mut self) {
        self.killers.fill([None; 2]);
        self.history.iter_mut().for_each(|count| *count /= 8);
    }

    /// Moves of higher rank are tried first: `first` itself, captures, killers, then by history.
    pub(super) fn rank(
        &self,
        mv: Move,
        captures: bool,
        side: Color,
        ply: usize,
        first: Option<Move>,
    ) -> i32 {
        if first == Some(mv) {
            return FIRST;
        }
        let history = self.history[slot(side, mv)];
        if captures {
            return CAPTURE + history;
        }
        match self.killers[ply].iter().position(|&killer| killer == Some(mv)) {
            Some(place) => KILLER - place as i32,
            None => history,
        }
    }

    /// The move refuted a position, searched to this depth.
    pub(super) fn refuted(
        &mut self,
        mv: Move,
        captures: bool,
        side: Color,
        ply: usize,
        depth: u32,
    ) {
        let count = &mut self.history[slot(side, mv)];
        *count = (*count + (depth * depth) as i32).min(HISTORY_LIMIT);
        let killers = &mut self.killers[ply];
        if !captures && killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
    }
}

fn slot(side: Color, mv: Move) -> usize {
    (side as usize * GRID + mv.from().index()) * GRID + mv.to().index()
}
