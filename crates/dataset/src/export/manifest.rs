use std::path::Path;

use serde::Serialize;
use surakarta_record::write_atomically;

use super::file::{Exported, unwritten};
use crate::error::DatasetError;
use crate::part::{Part, Shares};
use crate::read::Sources;

pub(crate) const NAME: &str = "manifest.json";

/// What an export is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// Name and version of the program that made it.
    pub program: String,
    /// Changes whenever the meaning of a column or an array does.
    pub format: u32,
    /// Games exported.
    pub games: u64,
    /// Positions, one a ply.
    pub positions: u64,
    /// Positions to learn from: full searches that left a policy.
    pub samples: u64,
    /// The share of games of each part.
    pub split: std::collections::BTreeMap<&'static str, f64>,
    /// The key that draws them.
    pub split_key: u64,
    /// The files.
    pub files: Vec<Exported>,
    /// The shards that they come from, in their order.
    pub sources: Vec<ManifestSource>,
    /// What is wrong with each shard that was left out.
    pub left_out: Vec<String>,
}

/// A shard that was exported.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestSource {
    /// Its file's name.
    pub shard: String,
    /// A checksum of everything in it: xxh3-64 in hexadecimal digits.
    pub root: String,
    /// Games in it.
    pub games: u64,
    /// The game_id of the first.
    pub first_game_id: u64,
}

/// The version of columns and arrays.
const FORMAT: u32 = 2;

impl Manifest {
    pub(crate) fn of(sources: &Sources, shares: &Shares, files: Vec<Exported>) -> Manifest {
        let sum = |count: fn(&crate::Source) -> u64| sources.shards.iter().map(count).sum();
        let mut first_game_id = 0;
        let source = |source: &crate::Source| {
            let first = first_game_id;
            first_game_id += source.header.games;
            let name = source.path.file_name().unwrap_or_default();
            ManifestSource {
                shard: name.to_string_lossy().into_owned(),
                root: format!("{:016x}", source.root),
                games: source.header.games,
                first_game_id: first,
            }
        };
        Manifest {
            program: concat!("surakarta ", env!("CARGO_PKG_VERSION")).into(),
            format: FORMAT,
            games: sum(|source| source.header.games),
            positions: sum(|source| source.plies),
            samples: sum(|source| source.samples),
            split: Part::ALL.map(Part::name).into_iter().zip(shares.shares()).collect(),
            split_key: shares.key(),
            files,
            sources: sources.shards.iter().map(source).collect(),
            left_out: sources.left_out.iter().map(ToString::to_string).collect(),
        }
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), DatasetError> {
        let path = folder.join(NAME);
        let text = serde_json::to_string_pretty(self).expect("a manifest is JSON") + "\n";
        write_atomically(&path, text.as_bytes()).map_err(|error| unwritten(&path, error))
    }
}
