//! Game records, shards, the replay window and exports.

mod game;

pub use game::{GameRecord, PlyRecord, Policy, ReplayError, SearchKind};
