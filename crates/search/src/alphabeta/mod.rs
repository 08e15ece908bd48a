//! A classical player: alpha-beta search with a hand-made evaluation.
//!
//! Principal variation search by iterative deepening with aspiration windows, then quiescence over
//! captures. Moves come in stages: that of the transposition table, captures, killers, quiet moves by
//! history. Unless it is told to be exact, the search reduces late quiet moves, tries what a pass would
//! lead to, and leaves positions alone that are far enough above its window, and quiet moves where they
//! are far enough below it (`selection.rs`). A *node* is a move made, quiescence included.
//!
//! Two things hold whatever is left out:
//! - **A score beyond [`DECIDED`] is proven.** No move that could save the loser has been passed over,
//!   and what the proof owes to the positions before (endings by repetition and by counters) is kept
//!   with it in the table, where it serves only if these are the same.
//! - **An exact search** ([`AlphaBetaConfig::exact`]) to a given depth finds the value of plain minimax to
//!   that depth, quiescence included, with any table.

mod evaluation;
mod ordering;
mod past;
mod search;
mod selection;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use surakarta_game::{Game, Move, RuleSet, Variant};
use surakarta_tablebase::Tables;

use crate::player::{Choice, Limits, Player, PlayerError, Work};
pub use evaluation::{DECIDED, PIECE, Score, evaluate, final_score, value};
use ordering::Ordering;
use search::{Bounds, INFINITY, MAX_DEPTH, MAX_PLIES, Search};
use table::Table;

/// Half the width of the first window around the last iteration's score.
const WINDOW: Score = 40;

/// How an [`AlphaBetaPlayer`] thinks.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaBetaConfig {
    /// The limits by nodes, depth and time that hold when a choice comes without any of them. If
    /// these have none either, 10,000 nodes.
    pub limits: Limits,
    /// Size of the transposition table in MiB.
    pub table_mib: usize,
    /// Whether a search to a given depth finds the value of plain minimax to this depth: nothing is
    /// reduced or pruned on suspicion, at a price in strength.
    pub exact: bool,
    /// The folder of the endgame tables that [`AlphaBetaPlayer::with_tables`] is to be given, if any.
    pub tables: Option<PathBuf>,
}

impl Default for AlphaBetaConfig {
    fn default() -> Self {
        let limits = Limits { nodes: Some(DEFAULT_NODES), ..Limits::default() };
        AlphaBetaConfig { limits, table_mib: 8, exact: false, tables: None }
    }
}

const DEFAULT_NODES: u64 = 10_000;

/// Iterative deepening by principal variation search. It draws no random numbers. The transposition
/// table lives as long as the game.
pub struct AlphaBetaPlayer {
    config: AlphaBetaConfig,
    table: Table,
    ordering: Ordering,
    endgames: Option<Arc<Tables>>,
    /// What is in the table holds for these only.
    played: Option<(RuleSet, Variant)>,
}

/// What a search found out about the root.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The expected line, the best move first; never empty.
    pub line: Vec<Move>,
    /// The score of the last depth that was searched completely, seen by the side to move: that of
    /// minimax to this depth if the player is exact. The evaluation if none was.
    pub score: Score,
    /// The last depth that was searched completely, in plies; what looked unpromising less deep.
    pub depth: u32,
    /// Moves made.
    pub nodes: u64,
}

impl AlphaBetaPlayer {
    /// A player with an empty table.
    pub fn new(config: AlphaBetaConfig) -> AlphaBetaPlayer {
        AlphaBetaPlayer {
            table: Table::new(config.table_mib),
            config,
            ordering: Ordering::new(MAX_PLIES),
            endgames: None,
            played: None,
        }
    }

    /// The same player with endgame tables: what they prove ends a line as the end of a game does.
    #[must_use]
    pub fn with_tables(self, tables: Arc<Tables>) -> AlphaBetaPlayer {
        AlphaBetaPlayer { endgames: Some(tables), ..self }
    }

    /// Searches as [`Player::choose`] does, and gives the score itself.
    ///
    /// # Errors
    /// If the game is over.
    pub fn analyse(&mut self, game: &Game, limits: &Limits) -> Result<Analysis, PlayerError> {
        let started = Instant::now();
        let first = *game.legal_moves().first().ok_or(PlayerError::GameOver)?;
        let asked = limits.for_move_of(game.side_to_move());
        let Limits { nodes, depth, time, .. } = self.limits(&asked);
        let played = Some((*game.rules(), game.position().variant()));
        if self.played != played {
            self.forget();
            self.played = played;
        }
        self.table.next_search();
        self.ordering.age();

        let bounds = Bounds {
            exact: self.config.exact,
            nodes: nodes.unwrap_or(u64::MAX),
            deadline: time.and_then(|time| started.checked_add(time)),
        };
        let mut search = Search::new(game, &mut self.table, &mut self.ordering, bounds);
        search.endgames = self.endgames.as_deref();
        let score = evaluate(game.position());
        let mut found = Analysis { line: vec![first], score, depth: 0, nodes: 0 };
        for depth in 1..=depth.unwrap_or(MAX_DEPTH).clamp(1, MAX_DEPTH) {
            let score = deepen(&mut search, &mut found, depth);
            let Some(score) = score else { break };
            found.score = score;
            found.depth = depth;
        }
        found.nodes = search.nodes();
        Ok(found)
    }

    /// The limits that apply to this player.
    fn limits(&self, asked: &Limits) -> Limits {
        let applies = |l: &Limits| l.nodes.is_some() || l.depth.is_some() || l.time.is_some();
        if applies(asked) {
            *asked
        } else if applies(&self.config.limits) {
            self.config.limits
        } else {
            AlphaBetaConfig::default().limits
        }
    }

    fn forget(&mut self) {
        self.table.clear();
        self.ordering.clear();
    }
}

/// Searches to a depth, in windows around the last score that open to the side where it is missed.
/// Even a search that is stopped may have found a better line.
fn deepen(search: &mut Search<'_>, found: &mut Analysis, depth: u32) -> Option<Score> {
    let mut width = WINDOW;
    let (mut alpha, mut beta) = (-INFINITY, INFINITY);
    if depth > 2 {
        (alpha, beta) = (found.score - width, found.score + width);
    }
    loop {
        let score = search.root(
            depth,
            alpha.max(-INFINITY),
            beta.min(INFINITY),
            found.line.first().copied(),
        );
        if !search.line().is_empty() {
            found.line = search.line().to_vec();
        }
        let score = score?;
        width *= 4;
        if score <= alpha && alpha > -INFINITY {
            alpha = score - width;
        } else if score >= beta && beta < INFINITY {
            beta = score + width;
        } else {
            return Some(score);
        }
    }
}

impl Player for AlphaBetaPlayer {
    fn new_game(&mut self, _seed: u64) {
        self.forget();
    }

    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError> {
        let Analysis { line, score, depth, nodes } = self.analyse(game, limits)?;
        Ok(Choice {
            mv: line[0],
            value: Some(value(score)),
            line,
            work: Work { nodes, depth, ..Work::default() },
        })
    }
}
