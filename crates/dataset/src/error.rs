use std::io;
use std::path::{Path, PathBuf};

use surakarta_game::{RuleSet, Variant};
use surakarta_record::ShardError;

/// A data set cannot be read or written. Each is one sentence that names the file and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// A shard is damaged, or could not be written.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// No shard is left to use.
    #[error("none of the shards can be used: {first}")]
    NothingLeft {
        /// What is wrong with the first.
        first: Box<ShardError>,
    },
    /// Results need a folder of their own.
    #[error("{} is there and not empty; name a new folder", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// Endgame tables have nothing to say of these games.
    #[error("the tables in {} prove nothing of games of {variant} under {rules}; relabel others, or build tables of the variant", tables.display())]
    NothingProven {
        /// The folder.
        tables: PathBuf,
        /// The variant of the first games.
        variant: Variant,
        /// Their rules.
        rules: RuleSet,
    },
    /// A table could not be written.
    #[error("{} was not made: {reason}; check the disk and the path, then export again", path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// What the writer said.
        reason: String,
    },
    /// Arrays have one shape for all positions.
    #[error("{} holds games of {found}, other shards of {expected}, and arrays have one shape; export each variant by itself", path.display())]
    Mixed {
        /// The shard.
        path: PathBuf,
        /// Its variant.
        found: String,
        /// That of the first shard.
        expected: String,
    },
    /// A table of games does not say what its games are.
    #[error("{}, line {line}: {reason}; mend the row or leave it out", path.display())]
    Row {
        /// The table.
        path: PathBuf,
        /// The line, 1 the first.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

impl DatasetError {
    /// What makes an error of the system one of ours.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> DatasetError {
        let path = path.to_owned();
        move |source| DatasetError::Io { path, action, source }
    }
}
