//! One data set becomes three, game by game.

use std::path::{Path, PathBuf};

use surakarta_record::ShardError;
use xxhash_rust::xxh3::xxh3_64;

use crate::collect::Collector;
use crate::error::DatasetError;
use crate::folder::NewFolder;
use crate::numbers;
use crate::part::{Part, Shares};
use crate::read::Sources;

/// What a split has done.
#[derive(Debug)]
pub struct SplitUp {
    /// Games of each part, in the order of [`Part::ALL`].
    pub games: [u64; 3],
    /// What is wrong with each shard that was left out.
    pub left_out: Vec<ShardError>,
}

/// Writes the games of these shards into the folders `train`, `validation` and `test` of a new folder, as
/// [`Shares`] draw them, in the order of [`merge`](crate::merge) and with games numbered as there.
///
/// # Errors
/// If the folder is not empty or cannot be written, or no shard is whole.
pub fn split(paths: &[PathBuf], out: &Path, shares: &Shares) -> Result<SplitUp, DatasetError> {
    let folder = NewFolder::create(out)?;
    let mut sources = Sources::open(paths)?;
    sources.put_in_order();
    let mut collectors = Vec::new();
    for part in Part::ALL {
        collectors.push(Collector::into_folder(folder.inner(part.name())?));
    }
    sources.each_block(
        |games| {
            let making = numbers::making(games.header);
            let drawn = |game| (shares.part(&game), games.numbers.original(game.number), game);
            (making, games.games.into_iter().map(drawn).collect::<Vec<_>>())
        },
        |(making, games)| {
            let push =
                |(part, original, game)| collectors[part as usize].push(&making, original, game);
            games.into_iter().try_for_each(push)
        },
    )?;
    for source in &sources.shards {
        for state in source.states()? {
            let part = shares.part_of(xxh3_64(state.position.to_string().as_bytes()));
            let making = numbers::making(&source.header);
            collectors[part as usize].push_states(&making, [state])?;
        }
    }
    let mut games = [0; 3];
    for (collector, games) in collectors.into_iter().zip(&mut games) {
        *games = collector.finish()?.count;
    }
    folder.finish()?;
    Ok(SplitUp { games, left_out: sources.left_out })
}
