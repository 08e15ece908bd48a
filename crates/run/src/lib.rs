//! Configuration, run directory, the loop of self-play, training and rating.

pub mod analysis;
pub mod arena;
pub mod arena_bench;
pub mod beginnings;
pub mod bench;
pub mod config;
pub mod contest_protocol;
pub mod directory;
pub mod doctor;
pub mod evaluation;
pub mod grade;
pub mod learn;
mod lines;
pub mod net;
pub mod net_bench;
pub mod picture;
pub mod pipeline;
pub mod play;
pub mod players;
mod rating;
pub mod report;
pub mod search_bench;
pub mod selfplay;
pub mod selfplay_log;
pub mod show;
pub mod tables_bench;
pub mod ugi;
