//! Alpha-beta depth by depth, and with a score for every move if there is to be more than one line.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::time::Instant;

use surakarta_game::{Game, Move};
use surakarta_search::alphabeta::{Score, final_score, value};
use surakarta_search::{AlphaBetaConfig, AlphaBetaPlayer, Limits, PlayerError};

use super::found::{self, Analysis, MoveAnalysis};
use super::{Question, Report, Reporter};

/// What is known of a move, after the last depth that was searched completely.
struct Known {
    score: Score,
    line: Vec<Move>,
}

/// One analysis under way.
struct Thinking<'a> {
    question: &'a Question,
    player: AlphaBetaPlayer,
    limits: Limits,
    began: Instant,
    stop: &'a AtomicBool,
    /// Moves made so far.
    nodes: u64,
    depth: u32,
    /// The best first.
    known: Vec<Known>,
}

/// The deepest search that is asked for without a limit of depth.
const DEEPEST: u32 = 64;

/// Searches ever deeper and reports after every depth. Each depth begins anew, with what the table has
/// kept, so that it may see a little less within so many nodes than the player does in a game.
pub(super) fn think(
    question: &Question,
    player: AlphaBetaPlayer,
    stop: &AtomicBool,
    sender: &Sender<Report>,
) {
    let reporter = Reporter::new(sender, stop);
    let given =
        |limits: &Limits| limits.nodes.is_some() || limits.depth.is_some() || limits.time.is_some();
    let own = question.player.limits();
    let usual = AlphaBetaConfig::default().limits;
    let limits = [question.limits, own].into_iter().find(given).unwrap_or(usual);
    let began = Instant::now();
    let mut thinking =
        Thinking { question, player, limits, began, stop, nodes: 0, depth: 0, known: Vec::new() };
    let several = question.multipv > 1;
    // Below a move of the root there is one ply at least.
    let first = if several { 2 } else { 1 };
    let deepest = limits.depth.unwrap_or(DEEPEST).max(first);
    for depth in first..=deepest {
        let searched = if several { thinking.every_move(depth) } else { thinking.best_move(depth) };
        match searched {
            Ok(true) => thinking.depth = depth,
            Ok(false) => break,
            Err(error) => return reporter.finish(Err(error)),
        }
        if depth < deepest && reporter.send(thinking.analysis(), false).is_break() {
            return;
        }
    }
    reporter.finish(Ok(thinking.analysis()));
}

impl Thinking<'_> {
    /// What is left of the limits for a search to this depth; `None` if nothing is.
    fn left(&self, depth: u32) -> Option<Limits> {
        let nodes = self.limits.nodes.map(|nodes| nodes.saturating_sub(self.nodes));
        let time = self.limits.time.map(|time| time.saturating_sub(self.began.elapsed()));
        let over =
            nodes == Some(0) || time.is_some_and(|time| time.is_zero()) || self.stop.load(Relaxed);
        // Something must be known in the end.
        let over = over && !self.known.is_empty();
        (!over).then_some(Limits { nodes, time, depth: Some(depth), ..Limits::default() })
    }

    /// Searches a game to a depth. `None` if a limit is reached before.
    fn search(&mut self, game: &Game, depth: u32) -> Result<Option<Known>, PlayerError> {
        let Some(limits) = self.left(depth) else { return Ok(None) };
        let found = self.player.analyse(game, &limits)?;
        self.nodes += found.nodes;
        // The very first search counts, however far it came.
        let counts = found.depth == depth || self.known.is_empty();
        Ok(counts.then_some(Known { score: found.score, line: found.line }))
    }

    fn best_move(&mut self, depth: u32) -> Result<bool, PlayerError> {
        let game = &self.question.game;
        let Some(found) = self.search(game, depth)? else { return Ok(false) };
        self.known = vec![found];
        Ok(true)
    }

    /// Searches below each move of the root, the best so far first, and ranks them all.
    fn every_move(&mut self, depth: u32) -> Result<bool, PlayerError> {
        let mut game = self.question.game.clone();
        let moves = match self.known.is_empty() {
            true => game.legal_moves(),
            false => self.known.iter().map(|known| known.line[0]).collect(),
        };
        let mut ranked = Vec::with_capacity(moves.len());
        for mv in moves {
            game.play_legal(mv);
            let below = match game.result() {
                Some(_) => Some(Known { score: final_score(&game, 0), line: Vec::new() }),
                None => self.search(&game, depth - 1)?,
            };
            game.undo();
            let Some(below) = below else { return Ok(false) };
            let line = [&[mv][..], &below.line].concat();
            ranked.push(Known { score: -below.score, line });
        }
        ranked.sort_by_key(|known| std::cmp::Reverse(known.score));
        self.known = ranked;
        Ok(true)
    }

    fn analysis(&self) -> Analysis {
        let moves = self.known.iter().enumerate().map(|(n, known)| MoveAnalysis {
            r#move: known.line[0].to_string(),
            value: Some(value(known.score)),
            visits: None,
            prior: None,
            proven: None,
            line: if n < self.question.multipv { found::texts(&known.line) } else { Vec::new() },
            table: None,
        });
        let moves: Vec<MoveAnalysis> = moves.collect();
        Analysis {
            value: moves.first().and_then(|best| best.value),
            moves,
            nodes: self.nodes,
            depth: self.depth,
            ..found::nothing(self.question)
        }
    }
}
