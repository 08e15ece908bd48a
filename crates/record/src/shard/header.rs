use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serializer};
use surakarta_game::{RuleSet, Variant};

/// What made a shard. Nothing in it depends on when, where or by how many threads it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardHeader {
    /// The board that was played on.
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    pub variant: Variant,
    /// The rules of every game.
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    pub rules: RuleSet,
    /// The player, as its one string names it.
    pub player: String,
    /// Hash of the weights file, if the player has one.
    pub weights: Option<String>,
    /// Name of the kernel that evaluated the network, if there was one.
    pub kernel: Option<String>,
    /// Name and version of the program.
    pub program: String,
    /// The run's seed.
    pub seed: u64,
    /// The iteration of the run, 0 the first.
    pub iteration: u64,
    /// Number of the first game in the iteration.
    pub first_game: u64,
    /// How many games there are; their numbers follow one another.
    pub games: u64,
    /// Any other settings that shaped the games.
    pub settings: BTreeMap<String, String>,
}

impl ShardHeader {
    /// Variant and rules, as messages name them.
    pub(crate) fn kind(&self) -> String {
        format!("{} under {}", self.variant, self.rules)
    }
}

fn to_text<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn from_text<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}
