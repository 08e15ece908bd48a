//! The rules of Surakarta on bitboards: positions, moves, perft, notation, endings.
//!
//! Pure functions and small values: no I/O, no floats, no threads, no randomness.
//!
//! ```
//! use surakarta_game::{Game, OLYMPIAD, perft};
//!
//! let mut game = Game::new(OLYMPIAD);
//! game.play("b2b3".parse()?)?;
//! assert_eq!(game.position().to_string(), "wwwwww/wwwwww/6/1b4/b1bbbb/bbbbbb w 1 1");
//! assert_eq!(perft(game.start(), 3), 5_382);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
