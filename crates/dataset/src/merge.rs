//! Many shards and folders become one folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use surakarta_record::{GameRecord, ShardError};

use crate::collect::Collector;
use crate::error::DatasetError;
use crate::folder::NewFolder;
use crate::numbers;
use crate::read::{Games, Sources};

/// What a merge has done.
#[derive(Debug)]
pub struct Merged {
    /// Shards written.
    pub shards: u64,
    /// Games in them.
    pub games: u64,
    /// Games left out because an earlier one is the same.
    pub repeated: u64,
    /// What is wrong with each shard that was left out.
    pub left_out: Vec<ShardError>,
}

/// Writes the games of all these shards into the shards of a new folder, each game once.
///
/// Games are the same if they have the same variant, rules, start, moves and ending; the first of them in
/// the new order stays. The order is by iteration, seed, maker and number, whatever the order of the paths,
/// so that the same set of shards makes the same bytes. The games of an iteration are numbered anew; what
/// they were called before is in each header ([`Numbers`](crate::Numbers)). States outside games follow in
/// shards of their own.
///
/// Memory grows by about 25 bytes a game, and holds a few blocks of games besides.
///
/// # Errors
/// If the folder is not empty or cannot be written, or no shard is whole.
pub fn merge(paths: &[PathBuf], out: &Path) -> Result<Merged, DatasetError> {
    let folder = NewFolder::create(out)?;
    let mut sources = Sources::open(paths)?;
    let all: u64 = sources.shards.iter().map(|source| source.header.games).sum();
    sources.put_in_order();
    let mut collector = Collector::into_folder(folder.partial().to_owned());
    let mut seen = HashSet::new();
    let named = |games: Games<'_>| {
        let identities = sources.shards[games.place].identities.iter().skip(games.offset as usize);
        let name = |(game, &identity): (GameRecord, &u64)| {
            (identity, games.numbers.original(game.number), game)
        };
        let named: Vec<_> = games.games.into_iter().zip(identities).map(name).collect();
        (numbers::making(games.header), named)
    };
    sources.each_block(named, |(making, games)| {
        for (identity, original, game) in games {
            if seen.insert(identity) {
                collector.push(&making, original, game)?;
            }
        }
        Ok(())
    })?;
    for source in &sources.shards {
        collector.push_states(&numbers::making(&source.header), source.states()?)?;
    }
    let collector = collector.finish()?;
    folder.finish()?;
    let (shards, games) = (collector.shards, collector.count);
    Ok(Merged { shards, games, repeated: all - games, left_out: sources.left_out })
}
