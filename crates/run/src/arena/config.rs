//! The configuration of a tournament. `configs/arena.toml` shows every key with a comment.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use surakarta_arena::{
    Adjudication, Allowance, Colors, DEFAULT_MARGIN, Format, MOST_OPENING_PLIES, MatchScore,
    Scoring, Sprt, TimeControl, Until,
};
use surakarta_game::{RuleSet, Variant};
use surakarta_search::{Limits, NetRef, PlayerSpec};

use crate::config::{parse_toml, text};
use crate::directory::{latest_weights, weights_number, weights_path};
use crate::rating::checkpoint_name;

/// Who plays whom, how often, and under which conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArenaConfig {
    /// The players.
    #[serde(default)]
    pub players: Vec<Entrant>,
    /// Checkpoints of a run, which play too.
    #[serde(default)]
    pub checkpoints: Option<Checkpoints>,
    /// Who meets whom.
    #[serde(default, with = "text")]
    pub format: Format,
    /// Pairs of games of every two players who meet.
    pub pairs: u32,
    /// Seed of the openings and of the players.
    pub seed: u64,
    /// Random plies of an opening.
    #[serde(default)]
    pub opening_plies: Option<u32>,
    /// A file of openings instead of random ones; in a configuration, relative to its folder.
    #[serde(default)]
    pub openings: Option<PathBuf>,
    /// Who moves first.
    #[serde(default, with = "text")]
    pub colors: Colors,
    /// The variant.
    #[serde(default, with = "text")]
    pub variant: Variant,
    /// The rules.
    #[serde(default, with = "text")]
    pub rules: RuleSet,
    /// Games at a time; 0 is one for each core.
    #[serde(default)]
    pub threads: usize,
    /// What players are granted beside the limits of their own.
    #[serde(default)]
    pub limits: LimitsConfig,
    /// When a game is taken as decided; never without.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// How a match is scored, beside its ratings.
    #[serde(default)]
    pub scoring: Scoring,
    /// Pieces that a forfeit is worth; all of a side without.
    #[serde(default)]
    pub forfeit: Option<u32>,
    /// Points at which a match of two players is over.
    #[serde(default)]
    pub race: Option<f64>,
    /// A sequential test, which ends a match of two players when it has decided.
    #[serde(default)]
    pub sprt: Option<Sprt>,
    /// Ratings that fix the scale, by the players' names; without any the mean of all is zero.
    #[serde(default)]
    pub anchors: BTreeMap<String, f64>,
}

/// A player with a name and limits of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entrant {
    /// The player.
    pub player: PlayerSpec,
    /// Its name in tables; the string that names it without.
    pub name: Option<String>,
    /// What it is granted, instead of what all are.
    pub limits: Option<LimitsConfig>,
}

impl From<PlayerSpec> for Entrant {
    fn from(player: PlayerSpec) -> Entrant {
        Entrant { player, name: None, limits: None }
    }
}

impl Entrant {
    /// Its name in tables.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.player.name())
    }
}

impl<'de> Deserialize<'de> for Entrant {
    /// A string, or a table with the keys `player`, `name` and `limits`.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Entrant, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Named {
            player: PlayerSpec,
            #[serde(default)]
            name: Option<String>,
            #[serde(default)]
            limits: Option<LimitsConfig>,
        }

        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Entrant;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a player's string, or a table with player, name and limits")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Entrant, E> {
                text.parse().map(|player: PlayerSpec| player.into()).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entrant, A::Error> {
                let Named { player, name, limits } =
                    Named::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Entrant { player, name, limits })
            }
        }

        from.deserialize_any(Either)
    }
}

/// Checkpoints of a run, in the order of their age.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoints {
    /// The folder of the run.
    pub run: PathBuf,
    /// Iterations between one and the next; the last one plays too.
    pub every: u32,
    /// How they play; whatever its net, each gets the checkpoint's.
    pub player: PlayerSpec,
}

impl Checkpoints {
    fn entrants(&self) -> Result<Vec<Entrant>> {
        let Checkpoints { run, every, player } = self;
        if *every == 0 {
            bail!("checkpoints.every is 0; write how many iterations lie between two of them");
        }
        if player.net().is_none() {
            bail!("checkpoints.player is `{player}`, which has no network; write mcts:net=latest");
        }
        let Some(newest) = latest_weights(run).as_deref().and_then(weights_number) else {
            bail!(
                "checkpoints.run: {} does not exist; name the folder of a run",
                weights_path(run, 0).display()
            );
        };
        let mut numbers: Vec<u32> = (0..=newest).step_by(*every as usize).collect();
        numbers.extend((numbers.last() != Some(&newest)).then_some(newest));
        if let Some(&missing) = numbers.iter().find(|&&n| !weights_path(run, n).exists()) {
            bail!(
                "checkpoints: {} does not exist; choose every so that all of them do",
                weights_path(run, missing).display()
            );
        }
        let entrant = |number| Entrant {
            player: player.with_net(NetRef::Path(weights_path(run, number))),
            name: Some(checkpoint_name(number)),
            limits: None,
        };
        Ok(numbers.into_iter().map(entrant).collect())
    }
}

/// What a player is granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsConfig {
    /// Simulations of each move.
    #[serde(default)]
    pub sims: Option<u32>,
    /// Nodes of each move.
    #[serde(default)]
    pub nodes: Option<u64>,
    /// Depth of each move.
    #[serde(default)]
    pub depth: Option<u32>,
    /// Milliseconds of each move.
    #[serde(default)]
    pub ms: Option<u64>,
    /// Seconds of a game and of each move, as in `10+0.1`.
    #[serde(default, with = "some_text")]
    pub clock: Option<TimeControl>,
    /// Milliseconds by which a limit of time may be overstepped.
    #[serde(default)]
    pub margin_ms: Option<u64>,
}

impl LimitsConfig {
    /// As the arena takes it.
    ///
    /// # Errors
    /// If a limit is zero.
    pub fn allowance(&self) -> Result<Allowance> {
        let LimitsConfig { sims, nodes, depth, ms, clock, margin_ms } = *self;
        let zero = [
            ("sims", sims == Some(0)),
            ("nodes", nodes == Some(0)),
            ("depth", depth == Some(0)),
            ("ms", ms == Some(0)),
        ];
        if let Some((key, _)) = zero.into_iter().find(|&(_, zero)| zero) {
            bail!("limits.{key} is 0; leave it out for no limit");
        }
        let time = ms.map(Duration::from_millis);
        let limits = Limits { simulations: sims, nodes, depth, time, clock: None };
        let margin = margin_ms.map_or(DEFAULT_MARGIN, Duration::from_millis);
        Ok(Allowance { limits, clock, margin })
    }
}

/// A value that may be missing, in the project's text form.
mod some_text {
    use super::*;

    pub(super) fn serialize<T: fmt::Display, S: serde::Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(to)
    }

    pub(super) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: std::str::FromStr<Err: fmt::Display>,
        D: Deserializer<'de>,
    {
        text::deserialize(from).map(Some)
    }
}

/// Openings are drawn, and games kept in memory, before anything is counted.
const MOST_PAIRS: u32 = 1_000_000;

/// Whether so many pairs of games can be played.
///
/// # Errors
/// A sentence that names the key.
pub(crate) fn check_pairs(key: &str, pairs: u32) -> Result<()> {
    if !(1..=MOST_PAIRS).contains(&pairs) {
        bail!("{key} is {pairs}; it must lie between 1 and {MOST_PAIRS}");
    }
    Ok(())
}

/// Whether games last for so many random plies.
///
/// # Errors
/// A sentence that names the key.
pub(crate) fn check_opening_plies(plies: u32) -> Result<()> {
    if plies > MOST_OPENING_PLIES {
        bail!(
            "opening_plies is {plies}; it must lie between 0 and {MOST_OPENING_PLIES}: games of random moves are over before long"
        );
    }
    Ok(())
}

impl ArenaConfig {
    /// A match of two players without anything special.
    pub fn of_match(players: [PlayerSpec; 2], pairs: u32, seed: u64) -> ArenaConfig {
        ArenaConfig {
            players: players.map(Entrant::from).to_vec(),
            checkpoints: None,
            format: Format::RoundRobin,
            pairs,
            seed,
            opening_plies: None,
            openings: None,
            colors: Colors::default(),
            variant: Variant::default(),
            rules: RuleSet::default(),
            threads: 0,
            limits: LimitsConfig::default(),
            adjudication: Adjudication::default(),
            scoring: Scoring::default(),
            forfeit: None,
            race: None,
            sprt: None,
            anchors: BTreeMap::new(),
        }
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// If it cannot be read, or a key is unknown, missing or wrong.
    pub fn load(path: &Path) -> Result<ArenaConfig> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration {}", path.display()))?;
        let parse = || -> Result<ArenaConfig> {
            let mut config: ArenaConfig = parse_toml(&text)?;
            config.check()?;
            let folder = path.parent().unwrap_or(Path::new(""));
            config.openings = config.openings.map(|openings| folder.join(openings));
            Ok(config)
        };
        parse().with_context(|| format!("in the configuration {}", path.display()))
    }

    /// When the tournament is over.
    pub(super) fn until(&self) -> Until {
        let score = MatchScore { scoring: self.scoring, forfeit: self.forfeit };
        let race = self.race.map(|points| Until::Race(score, points));
        race.or(self.sprt.map(Until::Sprt)).unwrap_or_default()
    }

    /// Whether every value makes sense, beyond its form.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<()> {
        check_pairs("pairs", self.pairs)?;
        if self.openings.is_some() && self.opening_plies.is_some() {
            bail!("openings and opening_plies are both given; leave one of them out");
        }
        if let Some(plies) = self.opening_plies {
            check_opening_plies(plies)?;
        }
        if let Some(points) = self.race.filter(|&points| !(points > 0.0 && points.is_finite())) {
            bail!("race is {points}; write the points at which the match is over, or leave it out");
        }
        if self.forfeit.is_some() && self.scoring == Scoring::Games {
            bail!("forfeit counts pieces and scoring is games; leave it out or score by pieces");
        }
        if let Some((name, rating)) =
            self.anchors.iter().find(|(_, rating)| rating.abs() > 1e6 || rating.is_nan())
        {
            bail!("anchors: `{name}` has the rating {rating}; write one within a million");
        }
        if self.race.is_some() && self.sprt.is_some() {
            bail!("race and [sprt] are both given; leave one of them out");
        }
        if let Some(Err(said)) = self.sprt.map(|test| test.check()) {
            bail!("[sprt] {said}");
        }
        for name in self.players.iter().filter_map(|player| player.name.as_deref()) {
            if name.is_empty() || name.chars().any(char::is_control) {
                bail!(
                    "the name {name:?} of a player is empty or has control characters; write another"
                );
            }
        }
        self.adjudication.check().map_err(|error| anyhow!(error))?;
        self.limits.allowance()?;
        for limits in self.players.iter().filter_map(|player| player.limits) {
            limits.allowance()?;
        }
        Ok(())
    }

    /// All players, the checkpoints last.
    ///
    /// # Errors
    /// If the checkpoints' run does not exist.
    pub fn entrants(&self) -> Result<Vec<Entrant>> {
        let mut entrants = self.players.clone();
        if let Some(checkpoints) = &self.checkpoints {
            entrants.extend(checkpoints.entrants()?);
        }
        Ok(entrants)
    }
}
