//! Game records, shards, the replay window and exports.

mod codec;
mod file;
mod game;
mod sample;
pub mod shard;
mod shuffle;
mod window;

pub use file::write_atomically;
pub use game::{GameRecord, PlyRecord, Policy, ReplayError, SearchKind, dequantise, quantise};
pub use sample::Sample;
pub use shard::{Shard, ShardError, ShardHeader, ShardReader, State, shard_name, write_shard};
pub use window::{Draw, Window};
