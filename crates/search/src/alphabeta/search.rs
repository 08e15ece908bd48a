//! Principal variation search with quiescence, on one `Game` that is played up and down.

use std::mem;
use std::time::Instant;

use surakarta_game::{Game, Move};
use surakarta_tablebase::Tables;

use super::evaluation::{DECIDED, Score, final_score, judge, proven_score};
use super::ordering::{Moves, Ordering, Picker};
use super::past::digest;
use super::selection;
use super::table::{Bound, Entry, Finding, Table};

/// The deepest search, in plies before quiescence.
pub(super) const MAX_DEPTH: u32 = 64;

/// Room for the plies of a line: the search itself, quiescence (a capture each), and one beyond.
pub(super) const MAX_PLIES: usize = MAX_DEPTH as usize + 30;

/// Beyond every score.
pub(super) const INFINITY: Score = i16::MAX as Score;

/// Nodes between two looks at the clock.
const CLOCK_INTERVAL: u64 = 1024;

/// How a search is to go, and when it has to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) exact: bool,
    pub(super) nodes: u64,
    pub(super) deadline: Option<Instant>,
}

/// One search of one position. Methods return `None` as soon as a limit is reached.
pub(super) struct Search<'a> {
    game: Game,
    pub(super) endgames: Option<&'a Tables>,
    table: &'a mut Table,
    ordering: &'a mut Ordering,
    bounds: Bounds,
    nodes: u64,
    stopped: bool,
    moves: Moves,
    /// The moves of all positions on the present line that have been searched.
    tried: Vec<Move>,
    /// `[ply]`: the best line from there on.
    lines: Vec<Vec<Move>>,
    /// The move to try first at the root.
    first: Option<Move>,
}

/// What a node is searched for.
#[derive(Clone, Copy)]
struct Node {
    /// Plies to search before quiescence.
    depth: u32,
    /// Plies from the root.
    ply: usize,
    alpha: Score,
    beta: Score,
    /// Whether the move before was a pass.
    passed: bool,
}

impl Node {
    /// Whether the score itself is asked for, not only whether it is above alpha.
    fn is_open(&self) -> bool {
        self.beta - self.alpha > 1
    }
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
            endgames: None,
            table,
            ordering,
            bounds,
            nodes: 0,
            stopped: false,
            moves: Vec::with_capacity(1024),
            tried: Vec::with_capacity(1024),
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
        self.moves.clear();
        self.tried.clear();
        self.full(Node { depth, ply: 0, alpha, beta, passed: false })
    }

    fn full(&mut self, node: Node) -> Option<Score> {
        let Node { mut depth, ply, mut alpha, beta, .. } = node;
        let open = node.is_open();
        if open {
            self.lines[ply].clear();
        }
        if depth == 0 {
            return self.quiescence(ply, alpha, beta);
        }
        let position = *self.game.position();
        let (key, side) = (position.key(), position.side_to_move());
        let known = self.table.get(key);
        if let Some(score) = known.filter(|_| !open).and_then(|entry| self.served(&entry, &node)) {
            return Some(score);
        }

        let selective = !self.bounds.exact;
        // No quiet move that is left unsearched is expected to come above this score.
        let mut ceiling = None;
        let mut has_captures = true;
        if selective && !open && alpha.abs() < DECIDED {
            let estimate;
            (estimate, has_captures) = judge(&position);
            if let Some(score) = self.cut_early(&node, estimate)? {
                return Some(score);
            }
            ceiling = selection::ceiling(depth, estimate).filter(|&ceiling| ceiling <= alpha);
        }
        if selective && ply > 0 && known.is_none() && depth >= selection::UNKNOWN_DEPTH {
            depth -= 1;
        }

        let first = if ply == 0 { self.first } else { known.map(|entry| entry.mv) };
        let mut picker =
            Picker::new(&self.moves, self.ordering, first, ply, has_captures, depth > 1);
        let lowest = alpha;
        let mut best = ceiling.unwrap_or(-INFINITY);
        let quiet = ceiling.is_none();
        let mut best_move = None;
        let tried = self.tried.len();
        let mut number = 0;
        while let Some(mv) = picker.next(&mut self.moves, &self.game, self.ordering, quiet) {
            let captures = position.is_capture(mv);
            let reduction = if selective && depth >= 3 && number > 0 && !captures {
                selection::reduction(depth, number, open, self.ordering.history(side, mv))
            } else {
                0
            };
            let below = Node { depth: depth - 1, ply: ply + 1, alpha, beta, passed: false };
            let score = self.score_of(mv, number == 0, reduction, below)?;
            number += 1;
            if score > best || best_move.is_none() && score >= best {
                best = score;
                best_move = Some(mv);
            }
            if score > alpha {
                alpha = score;
                best_move = Some(mv);
                if open {
                    let (above, below) = self.lines.split_at_mut(ply + 1);
                    above[ply].clear();
                    above[ply].push(mv);
                    // Behind a move that refutes the position there may be no line of this search.
                    if score < beta {
                        above[ply].extend_from_slice(&below[0]);
                    }
                }
            }
            if score >= beta {
                self.ordering.refuted(mv, captures, &self.tried[tried..], side, ply, depth);
                break;
            }
            self.tried.push(mv);
        }
        picker.finish(&mut self.moves);
        self.tried.truncate(tried);

        if let Some(mv) = best_move {
            let bound = if best >= beta {
                Bound::Lower
            } else if best > lowest {
                Bound::Exact
            } else {
                Bound::Upper
            };
            let past = self.past(bound, best, mv, depth);
            self.table.put(&Finding { key, past, score: best, ply, mv, depth, bound });
        }
        Some(best)
    }

    /// The score that a finding gives this node, if it gives one that decides it.
    fn served(&self, entry: &Entry, node: &Node) -> Option<Score> {
        let depth = entry.depth as u32;
        if depth < node.depth || self.bounds.exact && depth > node.depth {
            return None;
        }
        let mut score = entry.score(node.ply);
        let decides = |score| match entry.bound {
            Bound::Exact => score >= node.beta || score <= node.alpha,
            Bound::Lower => score >= node.beta,
            Bound::Upper => score <= node.alpha,
        };
        if !decides(score) {
            return None;
        }
        let proves = self.bounds.exact || score.abs() > DECIDED;
        if proves
            && (depth > node.depth || self.past(entry.bound, score, entry.mv, depth) != entry.past)
        {
            if self.bounds.exact {
                return None;
            }
            // It does not hold here for sure, but may well do.
            score = score.clamp(-DECIDED, DECIDED);
        }
        Some(score).filter(|&score| decides(score))
    }

    /// What a finding in the present position owes to the past: nothing if it is only an estimate. A
    /// lower bound rests on one move alone, and what comes after it.
    pub(super) fn past(&self, bound: Bound, score: Score, mv: Move, depth: u32) -> u64 {
        if !self.bounds.exact && score.abs() <= DECIDED {
            return 0;
        }
        let positions = self.game.positions();
        let position = self.game.position();
        match bound {
            Bound::Lower => digest(self.game.rules(), positions, &position.after(mv), depth - 1),
            Bound::Exact | Bound::Upper => {
                digest(self.game.rules(), &positions[..positions.len() - 1], position, depth)
            }
        }
    }

    /// The score of a node that is expected to be far enough outside its window, never one that
    /// claims a decision. The outer option is none if a limit is reached.
    fn cut_early(&mut self, node: &Node, estimate: Score) -> Option<Option<Score>> {
        let &Node { depth, ply, beta, passed, .. } = node;
        if selection::is_far_above(depth, estimate, beta) {
            return Some(Some(estimate));
        }
        let position = *self.game.position();
        if !passed && estimate >= beta && selection::may_pass(depth, &position) {
            let elsewhere =
                Game::from_position(*self.game.rules(), position.with_other_side_to_move());
            if elsewhere.result().is_none() {
                let here = mem::replace(&mut self.game, elsewhere);
                let depth = depth.saturating_sub(selection::pass_reduction(depth) + 1);
                let below =
                    Node { depth, ply: ply + 1, alpha: -beta, beta: 1 - beta, passed: true };
                let score = self.full(below).map(|score| -score);
                self.game = here;
                if score? >= beta {
                    return Some(Some(score?.min(DECIDED)));
                }
            }
        }
        Some(None)
    }

    /// The score of a move that leads to the node `below`, whose window is still that of the node
    /// itself: the first move is searched with the whole window, any other with an empty one unless
    /// it turns out better, at first less deep by the reduction.
    fn score_of(&mut self, mv: Move, first: bool, reduction: u32, below: Node) -> Option<Score> {
        let Node { depth, ply, alpha, beta, .. } = below;
        if depth > 0 {
            self.table.prefetch(self.game.position().after(mv).key());
        }
        self.make(mv)?;
        let score = if let Some(score) = self.settled(ply) {
            self.lines[ply].clear();
            Some(-score)
        } else {
            let whole = Node { alpha: -beta, beta: -alpha, ..below };
            let empty = Node { alpha: -alpha - 1, ..whole };
            if first {
                self.full(whole).map(|score| -score)
            } else {
                let depth = depth.saturating_sub(reduction).max(depth.min(1));
                let mut score = self.full(Node { depth, ..empty }).map(|score| -score);
                if depth < below.depth && score.is_some_and(|score| score > alpha) {
                    score = self.full(empty).map(|score| -score);
                }
                if score.is_some_and(|score| score > alpha && score < beta) {
                    score = self.full(whole).map(|score| -score);
                }
                score
            }
        };
        self.game.undo();
        score
    }

    /// The score of a position that needs no search: the game is over, or tables prove its value.
    #[inline]
    fn settled(&self, ply: usize) -> Option<Score> {
        if self.game.result().is_some() {
            return Some(final_score(&self.game, ply));
        }
        let tables = self.endgames?;
        let value = tables.prove(self.game.position(), self.game.rules())?;
        let plies = tables.probe(self.game.position()).and_then(|entry| entry.plies);
        Some(proven_score(value, plies, ply))
    }

    fn quiescence(&mut self, ply: usize, mut alpha: Score, beta: Score) -> Option<Score> {
        let position = *self.game.position();
        let (mut best, has_captures) = judge(&position);
        if best >= beta || !has_captures {
            return Some(best);
        }
        alpha = alpha.max(best);
        let mut picker = Picker::new(&self.moves, self.ordering, None, ply, true, false);
        while let Some(mv) = picker.next(&mut self.moves, &self.game, self.ordering, false) {
            self.make(mv)?;
            let score = if let Some(score) = self.settled(ply + 1) {
                Some(-score)
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
        picker.finish(&mut self.moves);
        Some(best)
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
