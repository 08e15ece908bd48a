//! Which moves to try first: the table's, captures, killers, then quiet moves by history, each stage
//! made only when the one before it is used up.

use surakarta_game::{Color, GRID, Game, Move, Position, Repetition};

/// The size that no history reaches.
const HISTORY_LIMIT: i32 = 1 << 13;

/// What earlier refutations teach about the order of moves.
pub(super) struct Ordering {
    /// `[ply]`: the two quiet moves that last refuted a position there, the last one first.
    killers: Vec<[Option<Move>; 2]>,
    /// `[side][from × grid + to]`: how much more often a move has refuted positions than it has failed
    /// to, by depth, of late.
    history: Vec<i16>,
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
        self.history.iter_mut().for_each(|count| *count /= 4);
    }

    /// From -`HISTORY_LIMIT` to `HISTORY_LIMIT`.
    pub(super) fn history(&self, side: Color, mv: Move) -> i32 {
        self.history[slot(side, mv)] as i32
    }

    /// The move refuted a position that was searched to this depth, where the `failed` ones had not.
    pub(super) fn refuted(
        &mut self,
        mv: Move,
        captures: bool,
        failed: &[Move],
        side: Color,
        ply: usize,
        depth: u32,
    ) {
        let bonus = (16 * depth * depth).min(1024) as i32;
        self.learn(side, mv, bonus);
        for &mv in failed {
            self.learn(side, mv, -bonus);
        }
        let killers = &mut self.killers[ply];
        if !captures && killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
    }

    /// Moves the history towards the limit, the more slowly the nearer it is.
    fn learn(&mut self, side: Color, mv: Move, bonus: i32) {
        let count = &mut self.history[slot(side, mv)];
        *count += (bonus - *count as i32 * bonus.abs() / HISTORY_LIMIT) as i16;
    }
}

fn slot(side: Color, mv: Move) -> usize {
    (side as usize * GRID + mv.from().index()) * GRID + mv.to().index()
}

/// Moves of all positions on the present line, those not yet picked with their ranks.
pub(super) type Moves = Vec<(i16, Move)>;

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    First,
    ListCaptures,
    Captures,
    Killers(usize),
    ListQuiet,
    Quiet,
}

/// Gives the legal moves of a position one after the other.
pub(super) struct Picker {
    stage: Stage,
    first: Option<Move>,
    killers: [Option<Move>; 2],
    /// Whether there may be captures.
    has_captures: bool,
    /// Whether quiet moves come by rank.
    ranked: bool,
    /// Where the list of this position begins, and what has been picked of it.
    start: usize,
    picked: usize,
}

impl Picker {
    /// A picker that lists moves at the end of `moves`. `first`, a legal move, comes before all others.
    pub(super) fn new(
        moves: &Moves,
        ordering: &Ordering,
        first: Option<Move>,
        ply: usize,
        has_captures: bool,
        ranked: bool,
    ) -> Picker {
        let start = moves.len();
        let killers = ordering.killers[ply];
        Picker { stage: Stage::First, first, killers, has_captures, ranked, start, picked: start }
    }

    /// The next move. With `quiet` false those that are left of quiet moves are passed over.
    #[inline]
    pub(super) fn next(
        &mut self,
        moves: &mut Moves,
        game: &Game,
        ordering: &Ordering,
        quiet: bool,
    ) -> Option<Move> {
        let position = game.position();
        let side = position.side_to_move();
        loop {
            match self.stage {
                Stage::First => {
                    self.stage = Stage::ListCaptures;
                    if let Some(first) = self.first.filter(|&mv| !is_forbidden(game, mv)) {
                        return Some(first);
                    }
                }
                Stage::ListCaptures if !self.has_captures => self.stage = Stage::Killers(0),
                Stage::ListCaptures => {
                    let first = self.first;
                    position.for_each_capture(|mv| {
                        if first != Some(mv) {
                            moves.push((ordering.history[slot(side, mv)], mv));
                        }
                    });
                    self.stage = Stage::Captures;
                }
                Stage::Captures => match self.best(moves) {
                    Some(mv) => return Some(mv),
                    None => self.stage = Stage::Killers(0),
                },
                _ if !quiet => return None,
                Stage::Killers(2) => self.stage = Stage::ListQuiet,
                Stage::Killers(n) => {
                    self.stage = Stage::Killers(n + 1);
                    let killer = self.killers[n].filter(|&mv| {
                        self.first != Some(mv) && is_quiet(position, mv) && !is_forbidden(game, mv)
                    });
                    match killer {
                        Some(_) => return killer,
                        None => self.killers[n] = None,
                    }
                }
                Stage::ListQuiet => {
                    let earlier = [self.first, self.killers[0], self.killers[1]];
                    let (ranked, checked) =
                        (self.ranked, game.rules().repetition == Repetition::Illegal);
                    position.for_each_quiet_move(|mv| {
                        let rank = if ranked { ordering.history[slot(side, mv)] } else { 0 };
                        if !(earlier.contains(&Some(mv)) || checked && is_forbidden(game, mv)) {
                            moves.push((rank, mv));
                        }
                    });
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet if self.ranked => return self.best(moves),
                Stage::Quiet => {
                    let mv = moves.get(self.picked)?.1;
                    self.picked += 1;
                    return Some(mv);
                }
            }
        }
    }

    /// The unpicked move of the highest rank, the earlier one of equals.
    fn best(&mut self, moves: &mut Moves) -> Option<Move> {
        let left = &mut moves[self.picked..];
        let (mut best, mut highest) = (0, left.first()?.0);
        for (n, &(rank, _)) in left.iter().enumerate().skip(1) {
            if rank > highest {
                (best, highest) = (n, rank);
            }
        }
        left.swap(0, best);
        self.picked += 1;
        Some(left[0].1)
    }

    /// Takes the list of this position away.
    pub(super) fn finish(self, moves: &mut Moves) {
        moves.truncate(self.start);
    }
}

/// Whether a move that is legal by the position is not by the rules.
fn is_forbidden(game: &Game, mv: Move) -> bool {
    game.rules().repetition == Repetition::Illegal && game.repeats(&game.position().after(mv))
}

/// Whether a quiet move of another position of the same game is one of this position, too.
fn is_quiet(position: &Position, mv: Move) -> bool {
    position.own() & mv.from().bit() != 0
        && position.empty() & mv.to().bit() != 0
        && (!position.variant().has_slides() || position.is_legal(mv))
}
