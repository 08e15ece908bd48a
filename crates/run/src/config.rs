//! The configuration of a run: one TOML file, unknown keys refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use surakarta_game::{RuleSet, Variant};
use surakarta_net::{Shape, Trunk};
use surakarta_search::{MctsConfig, MctsSpec, NetRef, PlayerSpec, SearchConfig};
use surakarta_selfplay::SelfplayConfig;
use surakarta_tablebase::Tables;
use surakarta_train::{Device, TrainConfig};

use crate::arena::{check_opening_plies, check_pairs};
use crate::players::{NetworkPlace, Networks};

/// Everything that a run depends on. `configs/cpu.toml` shows every key with a comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The run as a whole.
    pub run: RunConfig,
    /// The network's shape without auxiliary heads: see [`Config::shape`].
    pub network: Shape,
    /// How games are played.
    #[serde(default)]
    pub selfplay: SelfplayConfig,
    /// The tree search, in self-play and for the run's own players.
    #[serde(default)]
    pub search: SearchConfig,
    /// How the network learns.
    #[serde(default)]
    pub train: TrainConfig,
    /// How checkpoints are rated; not at all without this section.
    #[serde(default = "RatingConfig::none")]
    pub rating: RatingConfig,
}

/// The section `[run]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Names the run's folder, `runs/<name>`, unless `--dir` gives another.
    pub name: String,
    /// Every random number of the run derives from it.
    pub seed: u64,
    /// Rounds of self-play and training. May change when a run is continued.
    pub iterations: u32,
    /// Self-play games of one iteration.
    pub games: u32,
    /// Threads of self-play and rating; 0 is one for each core. May change when a run is continued.
    #[serde(default)]
    pub threads: usize,
    /// Where the network is trained: `cpu` or `cuda:N`. May change when a run is continued.
    #[serde(default)]
    pub device: Device,
    /// Where libtorch computes networks that play, `cpu` or `cuda:N`; natively on the processor
    /// without.
    #[serde(default)]
    pub play_device: Option<Device>,
    /// Whether a network of kind `mlp` is quantised to play, in self-play and in ratings.
    #[serde(default)]
    pub quantised: bool,
    /// The board that is played.
    #[serde(default, with = "text")]
    pub variant: Variant,
    /// The rule set, with any parameters.
    #[serde(default, with = "text")]
    pub rules: RuleSet,
    /// Weights to start from; a fresh network without.
    #[serde(default)]
    pub init: Option<PathBuf>,
    /// Iterations whose shards are kept; 0 keeps all. What the replay window needs is always kept.
    #[serde(default)]
    pub keep: u32,
    /// Play the next iteration's games while the network learns. They are then played by the network
    /// of one iteration earlier.
    #[serde(default = "yes")]
    pub overlap: bool,
    /// The folder of endgame tables that every network is graded by, and that self-play may
    /// [end games by](SelfplayConfig::end_by_tables).
    #[serde(default)]
    pub tables: Option<PathBuf>,
}

fn yes() -> bool {
    true
}

/// The section `[rating]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RatingConfig {
    /// A checkpoint is rated after every so many iterations, and after the last; 0 rates none.
    pub every: u32,
    /// Colour-swapped pairs of games between a checkpoint and each opponent.
    pub pairs: u32,
    /// Pairs of the last rating, which the run ends with.
    pub final_pairs: u32,
    /// How a checkpoint plays: an `mcts` player with `net=latest`, which stands for the checkpoint.
    pub player: PlayerSpec,
    /// Random plies of an opening.
    pub opening_plies: u32,
    /// The opponents; the first is the one that the scale is anchored to.
    pub opponents: Vec<PlayerSpec>,
    /// The rating of the first opponent.
    pub anchor: f64,
}

impl Default for RatingConfig {
    fn default() -> Self {
        RatingConfig {
            every: 10,
            pairs: 50,
            final_pairs: 100,
            player: PlayerSpec::Mcts(MctsSpec {
                net: NetRef::Latest,
                config: MctsConfig::default(),
            }),
            opening_plies: 6,
            opponents: Vec::new(),
            anchor: 0.0,
        }
    }
}

impl RunConfig {
    /// Where the networks of the run are computed when they play.
    pub fn network_place(&self) -> NetworkPlace {
        NetworkPlace { run: None, device: self.play_device, quantised: self.quantised }
    }
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// If it cannot be read, a key is unknown or missing, or a value makes no sense.
    pub fn load(path: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration {}", path.display()))?;
        Config::parse(&text).with_context(|| format!("in the configuration {}", path.display()))
    }

    /// The text of a file with these values, all of them: also those that are defaults today.
    ///
    /// # Errors
    /// Never for a configuration that was read.
    pub fn to_text(&self) -> Result<String> {
        Ok(toml::to_string_pretty(self)?)
    }

    /// Reads and checks the text of a file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(text: &str) -> Result<Config> {
        let config: Config = parse_toml(text)?;
        config.validate()?;
        Ok(config)
    }

    fn validate(&self) -> Result<()> {
        let run = &self.run;
        let sensible = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if run.name.is_empty() || run.name.starts_with('.') || !run.name.chars().all(sensible) {
            bail!(
                "[run] name is `{}`; it names a folder: use letters, digits, `-`, `_` and `.`",
                run.name
            );
        }
        for (key, value) in [("iterations", run.iterations), ("games", run.games)] {
            if value == 0 {
                bail!("[run] {key} is 0; it must be 1 or more");
            }
        }
        if run.quantised && run.play_device.is_some() {
            bail!(
                "[run] quantised is true and play_device is set; quantised networks are computed natively: leave one of the two out"
            );
        }
        if run.quantised && !matches!(self.network.trunk(), Trunk::Mlp(_)) {
            bail!(
                "[run] quantised is true, but only networks of kind mlp can be quantised; set it to false"
            );
        }
        if self.selfplay.end_by_tables && run.tables.is_none() {
            bail!(
                "[selfplay] end_by_tables is true, and [run] tables names none; name the folder, or set it to false"
            );
        }
        if !self.network.heads().is_empty() {
            bail!(
                "[network] heads are not listed; a head is switched on by its weight in [train], as in occupancy_weight = 0.1"
            );
        }
        let section = |name: &str, checked: Result<(), String>| match checked {
            Ok(()) => Ok(()),
            Err(error) => bail!("[{name}] {error}"),
        };
        section("selfplay", self.selfplay.validate())?;
        section("search", self.search.validate().map_err(|e| e.to_string()))?;
        section("train", self.train.validate().map_err(|e| e.to_string()))?;
        section("rating", self.rating.validate())
    }

    /// The endgame tables of the run, opened.
    ///
    /// # Errors
    /// If there are none, they are damaged, or prove nothing of its variant and rules.
    pub fn tables(&self) -> Result<Option<Arc<Tables>>> {
        let RunConfig { variant, rules, tables, .. } = &self.run;
        let networks = Networks::new(*variant).under(*rules);
        let open = |folder: &PathBuf| networks.tables(folder).context("[run] tables");
        tables.as_ref().map(open).transpose()
    }

    /// The network's shape, with the auxiliary heads that have a weight.
    pub fn shape(&self) -> Shape {
        self.network.clone().with_heads(self.train.heads())
    }

    /// What differs from another configuration of the same run, a line a key, as
    /// `[run] seed: 1 → 2`. The keys that may change on the way are left out.
    pub fn differences(&self, now: &Config) -> Vec<String> {
        let may_change = ["run.iterations", "run.threads", "run.device"];
        let fixed = |config: &Config| {
            let mut keys = config.flat();
            keys.retain(|key, _| !may_change.contains(&key.as_str()));
            keys
        };
        differences(&fixed(self), &fixed(now))
    }

    /// Every key as `section.key` with its value as TOML.
    pub(crate) fn flat(&self) -> BTreeMap<String, String> {
        let mut flat = BTreeMap::new();
        let sections = toml::Table::try_from(self).unwrap_or_default();
        for (section, keys) in sections {
            if let toml::Value::Table(keys) = keys {
                for (key, value) in keys {
                    flat.insert(format!("{section}.{key}"), value.to_string());
                }
            }
        }
        flat
    }
}

impl RatingConfig {
    /// No rating.
    fn none() -> RatingConfig {
        RatingConfig { every: 0, ..RatingConfig::default() }
    }

    fn validate(&self) -> Result<(), String> {
        if self.every > 0 && self.opponents.is_empty() {
            return Err("opponents is empty; name at least one player, or set every = 0".to_owned());
        }
        for (key, value) in [("pairs", self.pairs), ("final_pairs", self.final_pairs)] {
            check_pairs(key, value).map_err(|error| error.to_string())?;
        }
        check_opening_plies(self.opening_plies).map_err(|error| error.to_string())?;
        if self.player.net() != Some(&NetRef::Latest) {
            return Err(format!(
                "player is {}; it stands for each checkpoint: write mcts:net=latest,sims=400 or the like",
                self.player
            ));
        }
        for (i, opponent) in self.opponents.iter().enumerate() {
            if matches!(opponent.net(), Some(NetRef::Latest | NetRef::Best)) {
                return Err(format!(
                    "opponents names {opponent}, whose network changes; name a weights file (checkpoints meet the one rated before them anyway)"
                ));
            }
            if self.opponents[..i].contains(opponent) {
                return Err(format!("opponents names {opponent} twice"));
            }
        }
        Ok(())
    }
}

/// What differs between keys, named as [`Config::flat`] does, or other names, and their values.
pub(crate) fn differences(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<String> {
    let keys: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let show = |value: Option<&String>| value.map_or("not set", String::as_str).to_owned();
    keys.into_iter()
        .filter(|key| before.get(*key) != now.get(*key))
        .map(|key| {
            let name = match key.split_once('.') {
                Some((section, name)) => format!("[{section}] {name}"),
                None => key.clone(),
            };
            format!("{name}: {} → {}", show(before.get(key)), show(now.get(key)))
        })
        .collect()
}

/// Reads TOML. What is wrong is said in one sentence, with its line, its column and its key.
pub(crate) fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| {
        let message = error.message().trim_end().replace('\n', "; ");
        let Some(span) = error.span() else { return anyhow!(message) };
        let [before, found] = [0..span.start, span].map(|span| text.get(span).unwrap_or_default());
        let line = before.matches('\n').count() + 1;
        let begun = before.rsplit('\n').next().unwrap_or_default().trim_start_matches('\u{feff}');
        let column = begun.chars().count() + 1;
        // It stands before a wrong value, and is itself what is unknown or given twice.
        let key = match begun.trim_end().strip_suffix('=') {
            Some(before) => before.rsplit([',', '{']).next().unwrap_or_default(),
            None if message.contains('`') || found.contains('\n') => "",
            None => found,
        };
        let key = if key.is_empty() { String::new() } else { format!(", {}", key.trim()) };
        anyhow!("line {line}, column {column}{key}: {message}")
    })
}

/// Values that are written as their text.
pub(crate) mod text {
    use super::*;

    pub(crate) fn serialize<T: std::fmt::Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
        D: Deserializer<'de>,
    {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
