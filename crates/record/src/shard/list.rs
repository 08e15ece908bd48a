use std::cmp::Reverse;
use std::path::PathBuf;

use super::{ShardError, ShardHeader, ShardReader, checksum};

/// What a shard says of itself, without its games.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardInfo {
    /// The file.
    pub path: PathBuf,
    /// What made it.
    pub header: ShardHeader,
    /// Plies that are [samples](crate::PlyRecord::is_sample).
    pub samples: u64,
    /// A checksum of everything in it: see [`ShardReader::root`].
    pub root: u64,
}

/// A checksum of the content of shards, in this order.
pub fn root_of(shards: &[ShardInfo]) -> u64 {
    let roots: Vec<u8> = shards.iter().flat_map(|shard| shard.root.to_le_bytes()).collect();
    checksum(&roots)
}

/// Shards ordered by iteration and first game, the newest first, each content once, whatever the
/// order of the paths; and what is wrong with each that cannot be opened. No file stays open.
pub fn newest_first(paths: &[PathBuf]) -> (Vec<ShardInfo>, Vec<ShardError>) {
    let (mut shards, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match ShardReader::open(path) {
            Ok(reader) => shards.push(ShardInfo {
                path: path.clone(),
                header: reader.header().clone(),
                samples: reader.samples(),
                root: reader.root(),
            }),
            Err(error) => errors.push(error),
        }
    }
    let age = |shard: &ShardInfo| {
        let ShardHeader { iteration, first_game, seed, .. } = shard.header;
        (iteration, first_game, seed, shard.root)
    };
    shards.sort_by_key(|shard| Reverse(age(shard)));
    shards.dedup_by_key(|shard| shard.root);
    (shards, errors)
}
