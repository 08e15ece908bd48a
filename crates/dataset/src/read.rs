//! Shards read by all threads, and used in their order.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use surakarta_game::Color;
use surakarta_record::{GameRecord, ShardError, ShardHeader, ShardReader, State};
use xxhash_rust::xxh3::Xxh3;

use crate::error::DatasetError;
use crate::numbers::{self, Numbers};

/// A shard that has been read from end to end and found whole.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// What made it.
    pub header: ShardHeader,
    /// A checksum of everything in it.
    pub root: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Plies of all games.
    pub plies: u64,
    /// Plies that are samples.
    pub samples: u64,
    pub(crate) blocks: usize,
    /// Equal for the same games: in 64 bits, two others of ten million fall together with a probability
    /// of 3 · 10⁻⁶.
    pub(crate) identities: Vec<u64>,
}

/// The shards of a data set.
#[derive(Debug, Default)]
pub struct Sources {
    /// Those that are whole, in the order of their paths.
    pub shards: Vec<Source>,
    /// What is wrong with each of the others, which are left out.
    pub left_out: Vec<ShardError>,
}

impl Sources {
    /// Reads every byte of these shards.
    ///
    /// # Errors
    /// If none is whole.
    pub fn open(paths: &[PathBuf]) -> Result<Sources, DatasetError> {
        let mut sources = Sources::default();
        let read: Vec<_> = paths.par_iter().map(|path| Source::read(path)).collect();
        for source in read {
            match source {
                Ok(source) => sources.shards.push(source),
                Err(error) => sources.left_out.push(error),
            }
        }
        if sources.shards.is_empty() && !sources.left_out.is_empty() {
            let first = Box::new(sources.left_out.remove(0));
            return Err(DatasetError::NothingLeft { first });
        }
        Ok(sources)
    }

    /// Orders the shards by what is in them: by iteration, seed, maker, number and content, the same content
    /// once.
    pub(crate) fn put_in_order(&mut self) {
        self.shards.sort_by_cached_key(|source| {
            let making = numbers::making(&source.header);
            let text = serde_json::to_string(&making).expect("headers are JSON");
            (making.iteration, making.seed, text, source.header.first_game, source.root)
        });
        self.shards.dedup_by_key(|source| source.root);
    }

    /// Lets `read` make something of each block of games, on all threads, and `take` it in their order.
    ///
    /// # Errors
    /// What `take` says, or that a shard is no longer what it was.
    pub(crate) fn each_block<T: Send>(
        &self,
        read: impl Fn(Games<'_>) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), DatasetError> + Send,
    ) -> Result<(), DatasetError> {
        let mut blocks = Vec::new();
        let mut first = 0;
        for (place, source) in self.shards.iter().enumerate() {
            blocks.extend((0..source.blocks).map(|block| (place, block, first)));
            first += source.header.games;
        }
        let games = |&(place, block, first): &(usize, usize, u64)| {
            let source = &self.shards[place];
            let mut reader = ShardReader::open(&source.path)?;
            let offset = reader.first_of_block(block);
            let games = reader.games_of_block(block)?;
            let (header, numbers) = (&source.header, Numbers::of(&source.header));
            Ok(read(Games { place, offset, first: first + offset, header, numbers, games }))
        };
        in_order(&blocks, games, |read: Result<T, ShardError>| take(read?))
    }
}

/// Games of one block.
pub(crate) struct Games<'a> {
    /// Of the shard among the sources.
    pub(crate) place: usize,
    /// Of the first game in the shard.
    pub(crate) offset: u64,
    /// Of the first game among all.
    pub(crate) first: u64,
    pub(crate) header: &'a ShardHeader,
    /// What the games of the shard were called when they were played.
    pub(crate) numbers: Numbers,
    pub(crate) games: Vec<GameRecord>,
}

impl Source {
    /// Its states outside games.
    pub(crate) fn states(&self) -> Result<Vec<State>, ShardError> {
        ShardReader::open(&self.path)?.states()
    }

    fn read(path: &Path) -> Result<Source, ShardError> {
        let mut reader = ShardReader::open(path)?;
        let rules = reader.header().rules.to_string();
        let identities = reader.games().map(|game| Ok(identity(&game?, &rules)));
        let identities = identities.collect::<Result<_, _>>()?;
        reader.states()?;
        Ok(Source {
            path: path.to_owned(),
            header: reader.header().clone(),
            root: reader.root(),
            bytes: reader.bytes(),
            plies: reader.plies(),
            samples: reader.samples(),
            blocks: reader.blocks(),
            identities,
        })
    }
}

/// A hash of start, moves, rules and ending.
fn identity(game: &GameRecord, rules: &str) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&game.course().to_le_bytes());
    hash.update(rules.as_bytes());
    hash.update(&[game.result.ending as u8]);
    hash.update(&game.result.outcome.value_for(Color::Black).to_le_bytes());
    hash.digest()
}

/// Reads every byte of every shard and plays its games again under its rules, on all threads. What is
/// found comes in the order of the paths.
///
/// # Errors
/// What `tell` says.
pub fn verify<E: Send>(
    paths: &[PathBuf],
    mut tell: impl FnMut(&Path, Result<ShardHeader, ShardError>) -> Result<(), E> + Send,
) -> Result<(), E> {
    let check = |path: &PathBuf| (path.clone(), surakarta_record::shard::verify(path));
    in_order(paths, check, |(path, found)| tell(&path, found))
}

/// Reads items on all threads and takes what comes of them in their order. While some are taken the next
/// are read; few are in memory.
pub(crate) fn in_order<I: Sync, T: Send, E: Send>(
    items: &[I],
    read: impl Fn(&I) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut ready = Vec::new();
    for chunk in items.chunks(4 * rayon::current_num_threads()).chain([&items[..0]]) {
        let waiting = std::mem::take(&mut ready);
        let take_all = || waiting.into_iter().try_for_each(&mut take);
        let (taken, next) =
            rayon::join(take_all, || chunk.par_iter().map(&read).collect::<Vec<T>>());
        taken?;
        ready = next;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_taken_in_their_order() {
        for n in [0, 1, 7, 100, 1_000] {
            let items: Vec<usize> = (0..n).collect();
            let mut taken = Vec::new();
            let done: Result<(), ()> = in_order(
                &items,
                |i| 2 * i,
                |i| {
                    taken.push(i);
                    Ok(())
                },
            );
            assert_eq!(done, Ok(()));
            assert_eq!(taken, items.iter().map(|i| 2 * i).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_is_taken_after_an_error() {
        let items: Vec<usize> = (0..500).collect();
        let mut taken = 0;
        let stop = |i: usize| {
            taken += 1;
            if i == 100 { Err("stop") } else { Ok(()) }
        };
        assert_eq!(in_order(&items, |i| *i, stop), Err("stop"));
        assert_eq!(taken, 101);
    }
}
