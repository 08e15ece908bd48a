//! Game records, shards, the replay window and exports.

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
