//! Unbounded best-first minimax and Descent: searches that follow the best moves as deep as they lead,
//! with a network's value at the leaves and proven results wherever there are any.
//!
//! As published by Quentin Cohen-Solal ("Learning to Play Two-Player Perfect-Information Games without
//! Knowledge", arXiv:2008.01188) and with Tristan Cazenave ("Minimax Strikes Back", arXiv:2012.10700),
//! with *completion*. A state *s* is opened by evaluating all its children at once. For each of its
//! moves *a* it knows, seen by the mover:
//!
//! - v(s, a), the value of the child: the network's, until the child is opened itself;
//! - c(s, a), 1 if the move is proven to win, −1 if to lose, else 0;
//! - r(s, a), whether the child is resolved: its result under best play of both is proven;
//! - n(s, a), how many iterations went on with it.
//!
//! The best move has the highest (c, v, n), compared in this order, and c(s) and v(s) are the best
//! move's. A state is resolved if c(s) is 1 or all its children are resolved, the end of a game is.
//! Iterations go from the root to the move of the highest (v, −n) among those not resolved, and so on;
//! then what they pass is brought up to date from below. The two methods differ in where they end:
//! [`Method::Ubfm`] at the first state that it opens, [`Method::Descent`] at a resolved one, mostly the
//! end of a game.
//!
//! A game can end by repetition, and positions then are worth what the way to them makes them worth.
//! So this is a tree, a state being a game and not a position, and transpositions are not joined.
//! Every proof holds under the rules as they are.

mod player;
mod search;
#[cfg(test)]
mod tests;
mod tree;

use crate::Limits;
pub use player::{DescentPlayer, MoveValue, StateValue};

/// Where an iteration ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Unbounded best-first minimax: at the first state that it opens. The safest move is played: a
    /// proven win, else the most visited. A draw is proven without visits, and so it is played if it
    /// is worth more than the most visited move; the published rule does not see it.
    #[default]
    Ubfm,
    /// Descent: where the result is proven, usually at the end of a game. Its values are meant to be
    /// learned. The best move is played.
    Descent,
}

impl Method {
    /// Both.
    pub const ALL: [Method; 2] = [Method::Ubfm, Method::Descent];

    /// Its name in a player's string.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Ubfm => "ubfm",
            Method::Descent => "descent",
        }
    }
}

/// How a [`DescentPlayer`] plays.
#[derive(Clone, Debug, PartialEq)]
pub struct DescentConfig {
    /// Where iterations end, and how the move is chosen.
    pub method: Method,
    /// The limits by simulations (iterations), nodes (states added to the tree) and time that hold
    /// when a choice comes without any of them. If these have none either, 400 simulations.
    pub limits: Limits,
    /// A leaf is worth (value + weight · margin) / (1 + weight); so is the end of a game.
    pub margin_weight: f32,
    /// How much is left to chance when the move is chosen, from 0, nothing, to 1, everything. Of *n*
    /// moves, the best first, the *j*-th (from 0) is played with probability
    /// 1 − exploration + exploration / (n − j) if none before it was: the ordinal law of
    /// arXiv:2008.01188.
    pub exploration: f32,
    /// States in the tree at most, 20 bytes each, except for the children of the root. Then it does not
    /// grow any more, and the search ends.
    pub max_states: u32,
}

const DEFAULT_SIMULATIONS: u32 = 400;

impl Default for DescentConfig {
    fn default() -> Self {
        DescentConfig {
            method: Method::default(),
            limits: Limits { simulations: Some(DEFAULT_SIMULATIONS), ..Limits::default() },
            margin_weight: 0.0,
            exploration: 0.0,
            max_states: 1 << 23,
        }
    }
}
