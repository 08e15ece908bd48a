//! Principal variation search with quiescence, on one `Game` that is played up and down.

use std::time::Instant;

use surakarta_game::{Game, Move, Repetition};

use super::evaluation::{Score, evaluate, final_score};
use super::ordering::Ordering;
use super::past::digest;
use super::table::{Bound, Entry, Finding, Table};

/// The deepest search, in plies before quiescence.
pub(super) const MAX_DEPTH: u32 = 64;

/// Room for the plies of a line: the search itself, quiescence (a capture each), and one beyond.
pub(super) const MAX_PLIES: usize = MAX_DEPTH as usize + 30;

/// Beyond every score.
pub(super) const INFINITY: Score = i16::MAX as Score;

/// Nodes between two looks at the clock.
const CLOCK_INTERVAL: u64 = 1024;

/// When a search has to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) nodes: u64,
    pub(super) deadline: Option<Instant>,
}

/// One search of one position. Methods return `None` as soon as a limit is reached.
pub(super) struct Search<'a> {
    game: Game,
    table: &'a mut Table,
    ordering: &'a mut Ordering,
    bounds: Bounds,
    nodes: u64,
    stopped: bool,
    /// The moves of all positions on the present line, ranked.
    moves: Vec<(i32, Move)>,
    /// `[ply]`: the best line from there on.
    lines: Vec<Vec<Move>>,
    /// The move to try first at the root.
    first: Option<Move>,
}

impl<'a> Search<'a> {
    /// A search of a game that is not over.
    pub(super) fn new(
        game: &Game,
        table: &'a mut Table,
        ordering: &'a mut Ordering,
        bounds: Bounds,
    ) -> Search<'a> {
        Search {
            game: game.clone(),
            table,
            ordering,
            bounds,
            nodes: 0,
            stopped: false,
            moves: Vec::with_capacity(1024),
            lines: vec![Vec::new(); MAX_PLIES],
            first: None,
        }
    }

    /// Moves made so far.
    pub(super) fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The best line of the last search of the root, even of one that was stopped; empty if no move
    /// had proved better than its lower bound.
    pub(super) fn line(&self) -> &[Move] {
        &self.lines[0]
    }

    /// Searches the root within a window: the score if it lies strictly within, else a bound of it.
    pub(super) fn root(
        &mut self,
        depth: u32,
        alpha: Score,
        beta: Score,
        first: Option<Move>,
    ) -> Option<Score> {
        self.first = first;
        self.full(depth, 0, alpha, beta)
    }

    fn full(&mut self, depth: u32, ply: usize, mut alpha: Score, beta: Score) -> Option<Score> {
        self.lines[ply].clear();
        if depth == 0 {
            return self.quiescence(ply, alpha, beta);
        }
        let position = *self.game.position();
        let (key, side) = (position.key(), position.side_to_move());
        let known = self.table.get(key);
        let inside = beta - alpha > 1;
        if let Some(entry) = known.filter(|entry| !inside && entry.depth as u32 == depth) {
            let score = entry.score(ply);
            let decides = match entry.bound {
                Bound::Exact => true,
                Bound::Lower => score >= beta,
                Bound::Upper => score <= alpha,
            };
            if decides && self.past(entry.bound, entry.mv, depth) == entry.past {
                return Some(score);
            }
        }

        let start = self.moves.len();
        self.list_moves(ply, known);
        let lowest = alpha;
        let mut best = -INFINITY;
        let mut best_move = None;
        for n in start..self.moves.len() {
            let mv = self.next_move(n);
            let score = self.score_of(mv, n == start, depth, ply, alpha, beta)?;
            if score > best || best_move.is_none() {
                best = score;
                best_move = Some(mv);
            }
            if score > alpha {
                alpha = score;
                if inside {
                    let (above, below) = self.lines.split_at_mut(ply + 1);
                    above[ply].clear();
                    above[ply].push(mv);
                    above[ply].extend_from_slice(&below[0]);
                }
            }
            if score >= beta {
                self.ordering.refuted(mv, position.is_capture(mv), side, ply, depth);
                break;
            }
        }
        self.moves.truncate(start);

        if let Some(mv) = best_move {
            let bound = if best >= beta {
                Bound::Lower
            } else if best > lowest {
                Bound::Exact
            } else {
                Bound::Upper
            };
            let past = self.past(bound, mv, depth);
            self.table.put(&Finding { key, past, score: best, ply, mv, depth, bound });
        }
        Some(best)
    }

    /// What a finding in the present position owes to the past. A lower bound rests on one move
    /// alone, and what comes after it.
    pub(super) fn past(&self, bound: Bound, mv: Move, depth: u32) -> u64 {
        let positions = self.game.positions();
        let position = self.game.position();
        match bound {
            Bound::Lower => digest(self.game.rules(), positions, &position.after(mv), depth - 1),
            Bound::Exact | Bound::Upper => {
                digest(self.game.rules(), &positions[..positions.len() - 1], position, depth)
            }
        }
    }

    /// The score of a move in a position that is searched to `depth`: the first with the whole
    /// window, any other with an empty one unless it turns out better.
    fn score_of(
        &mut self,
        mv: Move,
        first: bool,
        depth: u32,
        ply: usize,
        alpha: Score,
        beta: Score,
    ) -> Option<Score> {
        self.make(mv)?;
        let score = if self.game.result().is_some() {
            self.lines[ply + 1].clear();
            Some(-final_score(&self.game, ply + 1))
        } else if first {
            self.full(depth - 1, ply + 1, -beta, -alpha).map(|score| -score)
        } else {
            let mut score = self.full(depth - 1, ply + 1, -alpha - 1, -alpha).map(|score| -score);
            if score.is_some_and(|score| score > alpha && score < beta) {
                score = self.full(depth - 1, ply + 1, -beta, -alpha).map(|score| -score);
            }
            score
        };
        self.game.undo();
        score
    }

    fn quiescence(&mut self, ply: usize, mut alpha: Score, beta: Score) -> Option<Score> {
        let position = *self.game.position();
        let mut best = evaluate(&position);
        if best >= beta {
            return Some(best);
        }
        alpha = alpha.max(best);
        let start = self.moves.len();
        let (moves, ordering) = (&mut self.moves, &*self.ordering);
        position.for_each_capture(|mv| {
            moves.push((ordering.rank(mv, true, position.side_to_move(), ply, None), mv));
        });
        for n in start..self.moves.len() {
            let mv = self.next_move(n);
            self.make(mv)?;
            let score = if self.game.result().is_some() {
                Some(-final_score(&self.game, ply + 1))
            } else {
                self.quiescence(ply + 1, -beta, -alpha).map(|score| -score)
            };
            self.game.undo();
            best = best.max(score?);
            alpha = alpha.max(best);
            if best >= beta {
                break;
            }
        }
        self.moves.truncate(start);
        Some(best)
    }

    /// Appends the legal moves of the present position.
    fn list_moves(&mut self, ply: usize, known: Option<Entry>) {
        let first = match ply {
            0 => self.first,
            _ => known.map(|entry| entry.mv),
        };
        let (game, moves, ordering) = (&self.game, &mut self.moves, &*self.ordering);
        let position = game.position();
        let forbidden = |mv| {
            game.rules().repetition == Repetition::Illegal && game.repeats(&position.after(mv))
        };
        position.for_each_move(|mv| {
            if !forbidden(mv) {
                let captures = position.is_capture(mv);
                let rank = ordering.rank(mv, captures, position.side_to_move(), ply, first);
                moves.push((rank, mv));
            }
        });
    }

    /// Brings the move of the highest rank from `n` on to the place `n`; the earlier one of equals.
    fn next_move(&mut self, n: usize) -> Move {
        let mut best = n;
        for i in n + 1..self.moves.len() {
            if self.moves[i].0 > self.moves[best].0 {
                best = i;
            }
        }
        self.moves.swap(n, best);
        self.moves[n].1
    }

    /// Plays a move, unless a limit is reached.
    fn make(&mut self, mv: Move) -> Option<()> {
        if self.nodes.is_multiple_of(CLOCK_INTERVAL)
            && self.bounds.deadline.is_some_and(|deadline| Instant::now() >= deadline)
        {
            self.stopped = true;
        }
        if self.stopped || self.nodes >= self.bounds.nodes {
            return None;
        }
        self.nodes += 1;
        self.game.play_legal(mv);
        Some(())
    }
}
