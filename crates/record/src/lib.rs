//! Game records, shards, the replay window and exports.
//!
//! A [`GameRecord`] is what a game leaves behind. [`shard`] keeps whole games in files that notice every
//! damage; a [`Window`] holds the newest samples of many shards and hands out the batches of training;
//! [`export`] turns shards into tables, and a [`Survey`] counts what they hold.

mod codec;
pub mod export;
mod file;
mod game;
mod sample;
pub mod shard;
mod shuffle;
mod stats;
mod window;

pub use file::write_atomically;
pub use game::{GameRecord, PlyRecord, Policy, ReplayError, SearchKind, dequantise, quantise};
pub use sample::Sample;
pub use shard::{Shard, ShardError, ShardHeader, ShardReader, State, shard_name, write_shard};
pub use stats::{Summary, Survey};
pub use window::{Draw, Window};
