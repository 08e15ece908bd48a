use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

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
    Catalogue::default().newest_first(paths)
}

/// What shards say of themselves, for one who lists a growing folder again and again: each file is
/// opened once. Shards are written once and never changed.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    known: HashMap<PathBuf, ShardInfo>,
}

impl Catalogue {
    /// As the function [`newest_first`]. Shards that are not among the paths are forgotten.
    pub fn newest_first(&mut self, paths: &[PathBuf]) -> (Vec<ShardInfo>, Vec<ShardError>) {
        let mut before = std::mem::take(&mut self.known);
        let (mut shards, mut errors) = (Vec::new(), Vec::new());
        for path in paths {
            let info = match before.remove(path) {
                Some(info) => info,
                None => match ShardInfo::read(path) {
                    Ok(info) => info,
                    Err(error) => {
                        errors.push(error);
                        continue;
                    }
                },
            };
            self.known.insert(path.clone(), info.clone());
            shards.push(info);
        }
        let age = |shard: &ShardInfo| {
            let ShardHeader { iteration, first_game, seed, .. } = shard.header;
            (iteration, first_game, seed, shard.root)
        };
        shards.sort_by_key(|shard| Reverse(age(shard)));
        shards.dedup_by_key(|shard| shard.root);
        (shards, errors)
    }
}

impl ShardInfo {
    fn read(path: &Path) -> Result<ShardInfo, ShardError> {
        let reader = ShardReader::open(path)?;
        Ok(ShardInfo {
            path: path.to_owned(),
            header: reader.header().clone(),
            samples: reader.samples(),
            root: reader.root(),
        })
    }
}
