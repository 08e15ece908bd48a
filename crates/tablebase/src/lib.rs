#![doc = include_str!("../README.md")]

mod build;
mod class;
mod index;
mod solve;
mod stats;
mod table;
mod tables;
mod verify;

pub use build::{Built, Watch, build};
pub use class::{Class, Entry, MAX_PIECES, Value};
pub use index::{Index, positions};
pub use stats::Stats;
pub use table::TableError;
pub use tables::Tables;
pub use verify::{Check, Fault};
