//! What the tests share: a network, a batch, and what it leaves.

// Every test program uses a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use indicatif::{MultiProgress, ProgressDrawTarget};
use surakarta_game::Variant;
use surakarta_net::{Evaluator, Mlp, Shape, Weights};
use surakarta_record::{GameRecord, Shard, ShardHeader};
use surakarta_search::SearchConfig;
use surakarta_selfplay::{
    Batch, Beginnings, Played, SelfplayConfig, SelfplayError, Source, Surroundings,
};

pub(crate) fn network() -> Mlp {
    Mlp::new(&Weights::random(Shape::mlp(&[32, 16]).unwrap(), Variant::Standard, 7))
}

pub(crate) fn config() -> SelfplayConfig {
    SelfplayConfig {
        games_per_shard: 4,
        games_in_flight: 3,
        full_simulations: 24,
        fast_simulations: 8,
        ..SelfplayConfig::default()
    }
}

pub(crate) fn header() -> ShardHeader {
    ShardHeader { seed: 5, iteration: 2, player: "mcts".to_owned(), ..ShardHeader::default() }
}

pub(crate) fn silent() -> MultiProgress {
    MultiProgress::with_draw_target(ProgressDrawTarget::hidden())
}

pub(crate) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

pub(crate) fn around<'a>(
    pool: &'a rayon::ThreadPool,
    stop: &'a (dyn Fn() -> bool + Sync),
    bars: &'a MultiProgress,
) -> Surroundings<'a> {
    Surroundings { pool, stop, bars, label: "test", watch: &|_| () }
}

pub(crate) fn play(
    folder: &Path,
    config: &SelfplayConfig,
    games: std::ops::Range<u64>,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Played, SelfplayError> {
    play_by(SearchConfig::default(), folder, config, games, threads, stop)
}

pub(crate) fn play_by(
    search: SearchConfig,
    folder: &Path,
    config: &SelfplayConfig,
    games: std::ops::Range<u64>,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Played, SelfplayError> {
    let batch = Batch {
        header: &header(),
        config,
        games,
        folder,
        tables: None,
        beginnings: &Beginnings::default(),
    };
    play_batch(&batch, search, threads, stop)
}

/// The network plays a batch.
pub(crate) fn play_batch(
    batch: &Batch,
    search: SearchConfig,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Played, SelfplayError> {
    let evaluator = || Ok(Box::new(network()) as Box<dyn Evaluator>);
    let source = Source::Search { search, evaluator: &evaluator };
    batch.play(&source, around(&pool(threads), stop, &silent()))
}

pub(crate) fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    files.map(|f| (f.file_name().into_string().unwrap(), fs::read(f.path()).unwrap())).collect()
}

/// Every game that was played.
pub(crate) fn games(played: &Played) -> Vec<GameRecord> {
    let read = |path: &std::path::PathBuf| Shard::read(path).unwrap().games;
    played.shards.iter().flat_map(read).collect()
}
