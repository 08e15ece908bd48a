use std::path::PathBuf;

use surakarta_game::{IllegalMove, Variant};

use crate::number::quantity;

/// A tournament cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    /// Fewer than two players, or two with the same name.
    #[error("{0}")]
    Players(String),
    /// A player could not be made.
    #[error("player `{name}`: {source}")]
    Factory {
        /// Its name.
        name: String,
        /// What its factory said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There are not as many openings as pairs of games.
    #[error(
        "only {} of {} found for {}; {}",
        quantity(found, "distinct opening"),
        quantity(plies, "random ply"),
        quantity(wanted, "pair"),
        if *over {
            "most random games are over before; ask for shorter openings"
        } else {
            "ask for fewer pairs or longer openings"
        }
    )]
    TooFewOpenings {
        /// Openings of each pair of players.
        wanted: usize,
        /// Openings found.
        found: usize,
        /// Length of each.
        plies: u32,
        /// Whether most random games are over before.
        over: bool,
    },
    /// A line of a file is no opening.
    #[error("{path}, line {line}: {reason}")]
    OpeningFile {
        /// The file.
        path: PathBuf,
        /// The line, 1 the first.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file has too few openings.
    #[error(
        "{path} has {} for {} of games; ask for fewer pairs or add openings",
        quantity(found, "opening"),
        quantity(wanted, "pair")
    )]
    TooFewInFile {
        /// The file.
        path: PathBuf,
        /// Openings in it.
        found: usize,
        /// Openings of each two players.
        wanted: usize,
    },
    /// A book of openings could not be made.
    #[error("the book: {0}")]
    Book(String),
    /// The moves of an opening are not legal.
    #[error("opening {0}: {1}")]
    Opening(usize, IllegalMove),
    /// An opening is of another variant than its set says.
    #[error("opening {0} is one of the variant {1}, its set one of {2}; keep variants apart")]
    OtherVariant(usize, Variant, Variant),
    /// The journal could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The journal.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The journal is another tournament's.
    #[error(
        "{path} is the journal of another tournament ({differences}); give another journal, or the same settings to go on"
    )]
    OtherTournament {
        /// The journal.
        path: PathBuf,
        /// What differs: `pairs is 10 there and 20 here`.
        differences: String,
    },
    /// The file is no journal, or a line of it is damaged.
    #[error("{path}, line {line}: {reason}; move the file away to start afresh")]
    Journal {
        /// The file.
        path: PathBuf,
        /// The line, 1 the first.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The journal would be a folder, a device or a pipe.
    #[error("{0} is not a file; a journal is one, or is made as one")]
    NoFile(PathBuf),
    /// Another process writes to the journal.
    #[error("{0} is in use by another process; wait for it to end or give another journal")]
    InUse(PathBuf),
    /// A player to be rated, or the anchor, does not occur.
    #[error("`{0}` is not one of the players: {1}")]
    UnknownPlayer(String, String),
}
