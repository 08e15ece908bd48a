//! Game records, shards and the replay window.
//!
//! A [`GameRecord`] is what a game leaves behind. [`shard`] keeps whole games in files that notice every
//! damage; a [`Window`] holds the newest samples of many shards and hands out the batches of training.

mod codec;
mod file;
mod game;
mod sample;
pub mod shard;
mod shuffle;
mod window;

pub use file::{AtomicFile, write_atomically};
pub use game::{GameRecord, PlyRecord, Policy, ReplayError, SearchKind, dequantise, quantise};
pub use sample::{Sample, margin_of};
pub use shard::{Shard, ShardError, ShardHeader, ShardReader, State, shard_name, write_shard};
pub use window::{Draw, Window};
