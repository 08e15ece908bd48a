//! Players of Surakarta: MCTS as a resumable state machine, alpha-beta, Descent, rollouts, and
//! the strings that name them.

pub mod alphabeta;
pub mod descent;
pub mod mcts;
mod player;
mod random;
mod rollout;
mod simple;
pub mod spec;

pub use alphabeta::{AlphaBetaConfig, AlphaBetaPlayer};
pub use descent::{DescentConfig, DescentPlayer};
pub use mcts::{
    MctsConfig, MctsPlayer, Method, MoveStats, Proof, Root, Search, SearchConfig, Step,
};
pub use player::{Choice, Clock, Limits, Player, PlayerError, Work};
pub use random::{Stream, draw, stream};
pub use rollout::{RolloutConfig, RolloutMove, RolloutPlayer, Rollouts};
pub use simple::{GreedyConfig, GreedyPlayer, RandomConfig, RandomPlayer};
pub use spec::{
    DescentSpec, EngineSpec, MctsSpec, NetRef, PlayerSpec, PlayerSpecError, Protocol, Supply,
};
