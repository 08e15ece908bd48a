use std::fmt;
use std::io;
use std::path::PathBuf;

use super::FORMAT_VERSION;

/// A part of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Everything before the blocks.
    Header,
    /// A block of games, 0 the first.
    Games(usize),
    /// A block of states, 0 the first.
    States(usize),
    /// Everything after the blocks.
    Index,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Header => f.write_str("its header"),
            Place::Games(block) => write!(f, "block {block} of its games"),
            Place::States(block) => write!(f, "block {block} of its states"),
            Place::Index => f.write_str("its index"),
        }
    }
}

/// A shard cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The shard.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a shard: it does not begin as one; leave it out", path.display())]
    NotAShard {
        /// The file.
        path: PathBuf,
    },
    /// The end is missing.
    #[error("{} is cut short: it does not end as a shard does; restore it from a copy, or move it away so that its games are played again", path.display())]
    Truncated {
        /// The shard.
        path: PathBuf,
    },
    /// Another version of the layout.
    #[error("{} has shard format {version}, and this program reads format {FORMAT_VERSION}; use the program that wrote it or a newer one", path.display())]
    Version {
        /// The shard.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Bytes have changed since they were written.
    #[error("{} is damaged: {place} does not match its checksum; restore it from a copy, or move it away so that its games are played again", path.display())]
    Damaged {
        /// The shard.
        path: PathBuf,
        /// The part.
        place: Place,
    },
    /// The bytes are as they were written, and wrong.
    #[error("{} cannot be understood: in {place}, {reason}; restore it from a copy, or move it away so that its games are played again", path.display())]
    Malformed {
        /// The shard.
        path: PathBuf,
        /// The part.
        place: Place,
        /// What is wrong there.
        reason: String,
    },
    /// A game breaks the rules that the header names.
    #[error("{}: game {game} is not one of these rules: {reason}; leave the shard out, or make it anew", path.display())]
    AgainstTheRules {
        /// The shard.
        path: PathBuf,
        /// The game's number.
        game: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no such game.
    #[error("{} has no game at place {place}: it holds {games}, counted from 0", path.display())]
    NoSuchGame {
        /// The shard.
        path: PathBuf,
        /// What was asked for.
        place: u64,
        /// How many games there are.
        games: u64,
    },
    /// The shard is to be used together with shards of another variant or other rules.
    #[error("{} holds games of {found}, the newest shard games of {expected}; leave one kind out", path.display())]
    Foreign {
        /// The shard.
        path: PathBuf,
        /// Its variant and rules.
        found: String,
        /// Those of the newest shard.
        expected: String,
    },
    /// What was to be written is no shard.
    #[error("{} was not written: {reason}; this is a fault of the program that made the games", path.display())]
    Unfit {
        /// The shard.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl ShardError {
    /// The file that the error is about.
    pub fn path(&self) -> &std::path::Path {
        match self {
            ShardError::Io { path, .. }
            | ShardError::NotAShard { path }
            | ShardError::Truncated { path }
            | ShardError::Version { path, .. }
            | ShardError::Damaged { path, .. }
            | ShardError::Malformed { path, .. }
            | ShardError::AgainstTheRules { path, .. }
            | ShardError::NoSuchGame { path, .. }
            | ShardError::Foreign { path, .. }
            | ShardError::Unfit { path, .. } => path,
        }
    }
}
