//! What people do with shards: merge, split and relabel them, sum them up, export them as tables and arrays that
//! anyone can open, and read records back.
//!
//! Everything streams: a few blocks of games are in memory at a time, whatever the size of the data. Blocks
//! are decoded by all threads of the rayon pool and used in their order, so that no result depends on the
//! number of threads. A damaged shard is left out whole and named; the others are used.

mod collect;
mod error;
pub mod export;
mod folder;
mod import;
mod merge;
mod numbers;
mod part;
mod read;
mod relabel;
mod split;
pub mod survey;

pub use error::DatasetError;
pub use import::{Imported, import};
pub use merge::{Merged, merge};
pub use numbers::Numbers;
pub use part::{InvalidShares, Part, Shares};
pub use read::{Source, Sources, verify};
pub use relabel::{Relabelled, relabel};
pub use split::{SplitUp, split};
