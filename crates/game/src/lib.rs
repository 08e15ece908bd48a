#![doc = include_str!("../README.md")]

pub mod board;
mod game;
mod layout;
mod machine;
mod movegen;
mod moves;
mod pairs;
mod perft;
mod placement;
mod playout;
mod position;
pub mod reference;
mod rules;
mod stops;
mod variant;

pub use board::{GRID, InvalidPoint, Point, Symmetry, points};
pub use game::{Game, IllegalMove};
pub use layout::MAX_MOVES;
pub use machine::instructions;
pub use movegen::Survey;
pub use moves::{InvalidMove, Move};
pub use perft::perft;
pub use placement::Loops;
pub use playout::{LANES, Playout, play_out, play_out_many};
pub use position::{Color, InvalidPosition, Key, Position};
pub use rules::{
    AGREEMENT, CONTEST, Ending, GameResult, NO_REPEAT, OLYMPIAD, Outcome, Repetition, RuleSet,
    THREEFOLD, UnknownEnding, UnknownRules,
};
pub use variant::{UnknownVariant, Variant};
