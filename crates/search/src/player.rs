//! What the arena and a person at the terminal see of a search.

use std::time::Duration;

use surakarta_game::{Game, Move};

/// How much a player may think about one move. Several limits hold together: the first one reached
/// ends the search. A player without any limit that applies to it uses its own default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Visits of the root of a Monte Carlo tree, inherited ones included.
    pub simulations: Option<u32>,
    /// Moves made by alpha-beta, quiescence included.
    pub nodes: Option<u64>,
    /// Plies of iterative deepening.
    pub depth: Option<u32>,
    /// Wall time. A search limited so is not reproducible.
    pub time: Option<Duration>,
}

/// A chosen move and what the search found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The move to play.
    pub mv: Move,
    /// Expected result in [−1, 1], seen by the side to move; `None` from a player that has none.
    pub value: Option<f32>,
    /// The line that the search expects, the chosen move first; empty if it keeps none.
    pub line: Vec<Move>,
    /// What the choice cost.
    pub work: Work,
}

/// What a search has done for one choice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Descents from the root.
    pub simulations: u64,
    /// Moves made by alpha-beta.
    pub nodes: u64,
    /// Positions that a network evaluated.
    pub evaluations: u64,
    /// Plies searched completely, or the longest line of a tree.
    pub depth: u32,
}

/// A player could not choose.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// The game is over or the side to move has no legal move.
    #[error("there is no move to choose: the game is over")]
    GameOver,
    /// The network behind the player failed.
    #[error(transparent)]
    Evaluator(#[from] surakarta_net::EvaluatorError),
}

/// Anything that chooses moves. One player plays one game at a time.
pub trait Player: Send {
    /// Forgets the last game, and draws every random number of the next one from this seed.
    fn new_game(&mut self, seed: u64);

    /// Chooses a move in a game that is not over. The same moves since `new_game`, the same seed and
    /// limits without time give the same choice.
    ///
    /// # Errors
    /// If the game is over or the network fails.
    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError>;
}
