//! Matches between players, Bradley–Terry ratings and their tables.
//!
//! A [`Tournament`] plays colour-swapped pairs of games from distinct openings on the threads of a
//! pool and keeps a journal that it can go on from. [`Standings`] make a table of its games, rated
//! by [`rate`].
//!
//! ```
//! use surakarta_arena::{Session, Standings, StandingsOptions, Tournament};
//! use surakarta_game::{OLYMPIAD, Variant};
//! use surakarta_search::{Player, RandomPlayer};
//!
//! let names = ["one".to_owned(), "other".to_owned()];
//! let tournament = Tournament::round_robin(&names, 10, 8, Variant::Standard, OLYMPIAD, 7)?;
//! let factory = |_| Ok(Box::new(RandomPlayer::new(Default::default())) as Box<dyn Player>);
//! let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
//! let played = tournament.play(&factory, &Session::new(&pool))?;
//! let standings = Standings::of(&names, &played.games, &StandingsOptions::default())?;
//! assert_eq!(standings.games, 20);
//! println!("{}", standings.table());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adjudication;
mod allowance;
mod book;
mod brownian;
mod connection;
mod davidson;
pub mod engine;
mod error;
mod events;
mod fit;
mod format;
mod game;
mod guards;
mod head_to_head;
mod journal;
mod linear;
mod live;
mod match_up;
mod match_up_table;
mod normal;
mod number;
mod opening;
mod pgn;
mod progress;
mod ranking;
mod rating;
mod results;
mod scoring;
mod session;
mod sprt;
mod sprt_course;
mod standings;
mod stopping;
mod surprise;
mod table;
mod text;
mod tournament;

pub use adjudication::{Adjudication, DrawRule, WinRule};
pub use allowance::{Allowance, DEFAULT_MARGIN, TimeControl};
pub use book::{Book, BookOptions, balanced_book};
pub use error::ArenaError;
pub use events::Events;
pub use format::Format;
pub use game::{ArenaGame, ArenaPly, GameKey, Seat, play_game};
pub use guards::{Changed, Faults, Guards};
pub use head_to_head::{Counts, Figures, Pentanomial, Trinomial};
pub use live::LiveTable;
pub use match_up::{CrossRow, HeadToHead, SurpriseRow};
pub use normal::Z95;
pub use number::{fixed, quantity, signed};
pub use opening::{DEFAULT_OPENING_PLIES, MOST_OPENING_PLIES, Opening, OpeningSet, RandomOpenings};
pub use pgn::write_pgn;
pub use progress::{Progress, ProgressLine};
pub use rating::{
    Clusters, Difference, Estimate, Incomparable, RatedGame, RatingOptions, Ratings, Unrated, rate,
};
pub use results::{JournalFile, JournalHeader, ResultRow, Results, ResultsError};
pub use scoring::{MatchScore, Scoring};
pub use session::{Factory, PlayedGames, Session, Watcher};
pub use sprt::{Hypothesis, NoLlr, Sprt, SprtEstimate, SprtModel};
pub use sprt_course::SprtCourse;
pub use standings::{
    AdvantageRow, DifferenceRow, Repeats, Standing, Standings, StandingsOptions, Tally,
};
pub use stopping::{Decision, Until};
pub use surprise::Surprise;
pub use table::TableStyle;
pub use tournament::{Colors, Conduct, Tournament};
