#![doc = include_str!("../README.md")]

pub mod board;
mod game;
mod movegen;
mod moves;
mod perft;
mod position;
pub mod reference;
mod rules;
mod variant;

pub use board::{InvalidPoint, POINTS, Point, Symmetry, points};
pub use game::{Game, IllegalMove};
pub use moves::{InvalidMove, MOVES, Move};
pub use perft::perft;
pub use position::{Color, InvalidPosition, Key, PIECES, Position};
pub use rules::{
    AGREEMENT, CONTEST, Ending, GameResult, NO_REPEAT, OLYMPIAD, Outcome, Repetition, RuleSet,
    THREEFOLD, UnknownEnding, UnknownRules,
};
pub use variant::{UnknownVariant, Variant};
