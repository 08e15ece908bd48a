//! Players of Surakarta: MCTS as a resumable state machine, alpha-beta, rollouts, and the strings
//! that name them.

mod player;
mod random;

pub use player::{Choice, Limits, Player, PlayerError, Work};
pub use random::{Stream, stream};
