//! One string names a player anywhere: `random`, `alphabeta:nodes=10000`,
//! `mcts:net=runs/q/weights/best.safetensors,sims=400`, `ugi:cmd=./engine,ms=100`.
//!
//! The grammar is `kind[:key=value{,key=value}]`. A value with a comma stands in double quotes, where
//! `\"` and `\\` mean a quote and a backslash.
//!
//! ```
//! use surakarta_search::PlayerSpec;
//!
//! let spec: PlayerSpec = r#"mcts:net="a,b.safetensors",c=1.50"#.parse()?;
//! assert_eq!(spec.to_string(), r#"mcts:net="a,b.safetensors",sims=400,c=1.5"#);
//! # Ok::<(), surakarta_search::PlayerSpecError>(())
//! ```

mod engine;
mod heeded;
mod keys;
mod net;
mod pairs;

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use surakarta_game::Variant;
use surakarta_net::Evaluator;
use surakarta_tablebase::Tables;

use crate::{
    AlphaBetaConfig, AlphaBetaPlayer, DescentConfig, DescentPlayer, GreedyConfig, GreedyPlayer,
    Limits, MctsConfig, MctsPlayer, Player, RandomConfig, RandomPlayer, RolloutConfig,
    RolloutPlayer,
};
pub use engine::{EngineSpec, Protocol};
use keys::Key;
pub use net::{DescentSpec, MctsSpec, NetRef};
use pairs::{Quoted, split};

/// A kind of player with everything that it can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PlayerSpec {
    /// `random`
    Random,
    /// `greedy`
    Greedy,
    /// `rollout`
    Rollout(RolloutConfig),
    /// `alphabeta`
    AlphaBeta(AlphaBetaConfig),
    /// `mcts`
    Mcts(MctsSpec),
    /// `descent`
    Descent(DescentSpec),
    /// `ugi` and `contest`
    External(EngineSpec),
}

/// What a player needs beside its settings when it is built.
pub trait Supply {
    /// Why something cannot be had.
    type Error;

    /// Finds a network, for a player that evaluates about `size` positions at once.
    ///
    /// # Errors
    /// If there is none, or it cannot be loaded.
    fn network(&mut self, net: &NetRef, size: usize) -> Result<Box<dyn Evaluator>, Self::Error>;

    /// Opens the endgame tables of a folder.
    ///
    /// # Errors
    /// If there are none, they are damaged, or say nothing about the games to be played.
    fn tables(&mut self, folder: &Path) -> Result<Arc<Tables>, Self::Error>;

    /// Makes the player that an external program is.
    ///
    /// # Errors
    /// If the program cannot be used.
    fn engine(&mut self, spec: &EngineSpec) -> Result<Box<dyn Player>, Self::Error>;
}

/// Legal moves of a position, about: a player by Descent evaluates them together.
const BRANCHING: usize = 32;

const KINDS: &str = "random, greedy, rollout, alphabeta, mcts, descent, ugi, contest";

impl PlayerSpec {
    /// The name of the kind: what stands before the colon.
    pub fn kind(&self) -> &'static str {
        match self {
            PlayerSpec::Random => "random",
            PlayerSpec::Greedy => "greedy",
            PlayerSpec::Rollout(_) => "rollout",
            PlayerSpec::AlphaBeta(_) => "alphabeta",
            PlayerSpec::Mcts(_) => "mcts",
            PlayerSpec::Descent(_) => "descent",
            PlayerSpec::External(spec) => spec.protocol.name(),
        }
    }

    /// What tables call it: the `name` that an external program is given, else the canonical string.
    pub fn name(&self) -> String {
        match self {
            PlayerSpec::External(EngineSpec { name: Some(name), .. }) => name.clone(),
            _ => self.to_string(),
        }
    }

    /// The limits that the built player keeps to if it is asked without any.
    pub fn limits(&self) -> Limits {
        match self {
            PlayerSpec::Random | PlayerSpec::Greedy => Limits::default(),
            PlayerSpec::Rollout(config) => config.limits,
            PlayerSpec::AlphaBeta(config) => config.limits,
            PlayerSpec::Mcts(spec) => spec.config.limits,
            PlayerSpec::Descent(spec) => spec.config.limits,
            PlayerSpec::External(spec) => spec.limits,
        }
    }

    /// Whether its games can begin elsewhere than at the start position. Programs behind the contest
    /// protocol can only if they know its extensions.
    pub fn takes_openings(&self) -> bool {
        match self {
            PlayerSpec::External(spec) => spec.openings,
            _ => true,
        }
    }

    /// Whether it plays this variant: the contest protocol knows the standard board only.
    pub fn plays(&self, variant: Variant) -> bool {
        match self {
            PlayerSpec::External(spec) if spec.protocol == Protocol::Contest => {
                variant == Variant::Standard
            }
            _ => true,
        }
    }

    /// Whether the clock limits it: its games cannot be reproduced.
    pub fn is_timed(&self) -> bool {
        self.limits().time.is_some()
    }

    /// The network that it needs, if any.
    pub fn net(&self) -> Option<&NetRef> {
        match self {
            PlayerSpec::Mcts(spec) => Some(&spec.net),
            PlayerSpec::Descent(spec) => Some(&spec.net),
            _ => None,
        }
    }

    /// The same player with another network; one that needs none stays as it is.
    #[must_use]
    pub fn with_net(&self, net: NetRef) -> PlayerSpec {
        let mut player = self.clone();
        match &mut player {
            PlayerSpec::Mcts(spec) => spec.net = net,
            PlayerSpec::Descent(spec) => spec.net = net,
            _ => {}
        }
        player
    }

    /// The folder of the endgame tables that it looks into, if any.
    pub fn tables(&self) -> Option<&Path> {
        match self {
            PlayerSpec::AlphaBeta(config) => config.tables.as_deref(),
            PlayerSpec::Mcts(spec) => spec.config.tables.as_deref(),
            _ => None,
        }
    }

    /// The player.
    ///
    /// # Errors
    /// Those of `supply`.
    pub fn build<S: Supply>(&self, supply: &mut S) -> Result<Box<dyn Player>, S::Error> {
        let tables = self.tables().map(|folder| supply.tables(folder)).transpose()?;
        Ok(match self {
            PlayerSpec::Random => Box::new(RandomPlayer::new(RandomConfig::default())),
            PlayerSpec::Greedy => Box::new(GreedyPlayer::new(GreedyConfig::default())),
            PlayerSpec::Rollout(config) => Box::new(RolloutPlayer::new(config.clone())),
            PlayerSpec::AlphaBeta(config) => {
                let player = AlphaBetaPlayer::new(config.clone());
                Box::new(match tables {
                    Some(tables) => player.with_tables(tables),
                    None => player,
                })
            }
            PlayerSpec::Mcts(spec) => {
                let player = MctsPlayer::new(spec.config.clone(), supply.network(&spec.net, 1)?);
                Box::new(match tables {
                    Some(tables) => player.with_tables(tables),
                    None => player,
                })
            }
            PlayerSpec::Descent(spec) => Box::new(DescentPlayer::new(
                spec.config.clone(),
                supply.network(&spec.net, BRANCHING)?,
            )),
            PlayerSpec::External(spec) => supply.engine(spec)?,
        })
    }
}

/// The text names no player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerSpecError {
    /// No such kind.
    #[error("`{0}` is not a player; the players are {KINDS}")]
    Kind(String),
    /// The kind has no such key.
    #[error("{kind} has no key `{key}`; {}", if keys.is_empty() {
        "it takes none".to_owned()
    } else {
        format!("its keys are {}", keys.join(", "))
    })]
    Key {
        /// The kind.
        kind: &'static str,
        /// What was written.
        key: String,
        /// What there is.
        keys: Vec<&'static str>,
    },
    /// The key takes other values.
    #[error("`{value}` is not a value for `{key}`; write {accepts}")]
    Value {
        /// The key.
        key: &'static str,
        /// What was written.
        value: String,
        /// What it takes.
        accepts: &'static str,
    },
    /// The key is for another method of search.
    #[error("`{key}` means nothing with method={method}; leave it out or choose the other method")]
    Method {
        /// The key.
        key: String,
        /// The method that the player has.
        method: &'static str,
    },
    /// A key stands there twice.
    #[error("`{0}` is given twice; leave one of them out")]
    Twice(String),
    /// A network is needed.
    #[error("{0} player needs a network; add net=FILE, net=latest or net=best")]
    NoNet(&'static str),
    /// A command is needed.
    #[error("a player by the {0} protocol needs the program's command line; add cmd=\"...\"")]
    NoCommand(&'static str),
    /// A command line that ends within quotes.
    #[error("the command line `{0}` ends within quotes; close them")]
    OpenQuote(String),
    /// An option of a program without a name.
    #[error("`{0}` names no option of the program; write option.NAME=VALUE")]
    OptionName(String),
    /// A part is not `key=value`.
    #[error(
        "`{0}` is not key=value; parts are separated by commas, and a value with a comma is quoted"
    )]
    Pair(String),
    /// A quote is not closed, or something follows the closing one.
    #[error(
        "`{0}` is not a quoted value; close it with a double quote, and write \\\" for a quote and \\\\ for a backslash inside"
    )]
    Quote(String),
}

impl FromStr for PlayerSpec {
    type Err = PlayerSpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, PlayerSpecError> {
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind.trim(), Some(rest)),
            None => (text.trim(), None),
        };
        let pairs = || rest.map_or(Ok(Vec::new()), split);
        match kind {
            "random" => read("random", &pairs()?, &mut (), &[]).map(|()| PlayerSpec::Random),
            "greedy" => read("greedy", &pairs()?, &mut (), &[]).map(|()| PlayerSpec::Greedy),
            "rollout" => {
                let mut config = RolloutConfig::default();
                let usual = std::mem::take(&mut config.limits);
                read("rollout", &pairs()?, &mut config, keys::ROLLOUT)?;
                or_usual(&mut config.limits, usual);
                Ok(PlayerSpec::Rollout(config))
            }
            "alphabeta" => {
                let mut config = AlphaBetaConfig::default();
                let usual = std::mem::take(&mut config.limits);
                read("alphabeta", &pairs()?, &mut config, keys::ALPHABETA)?;
                or_usual(&mut config.limits, usual);
                Ok(PlayerSpec::AlphaBeta(config))
            }
            "mcts" => {
                let mut spec = MctsSpec { net: NetRef::Latest, config: MctsConfig::default() };
                let usual = std::mem::take(&mut spec.config.limits);
                let pairs = pairs()?;
                read("mcts", &pairs, &mut spec, keys::MCTS)?;
                expect_net(&pairs, "an mcts")?;
                let method = spec.config.search.method;
                let idle = |key: &str| keys::of_the_other(method).contains(&key);
                if let Some((key, _)) = pairs.iter().find(|(key, _)| idle(key)) {
                    return Err(PlayerSpecError::Method {
                        key: key.clone(),
                        method: method.name(),
                    });
                }
                or_usual(&mut spec.config.limits, usual);
                Ok(PlayerSpec::Mcts(spec))
            }
            "descent" => {
                let config = DescentConfig::default();
                let mut spec = DescentSpec { net: NetRef::Latest, config };
                let usual = std::mem::take(&mut spec.config.limits);
                let pairs = pairs()?;
                read("descent", &pairs, &mut spec, keys::DESCENT)?;
                expect_net(&pairs, "a descent")?;
                or_usual(&mut spec.config.limits, usual);
                Ok(PlayerSpec::Descent(spec))
            }
            "ugi" => engine::read(Protocol::Ugi, pairs()?).map(PlayerSpec::External),
            "contest" => engine::read(Protocol::Contest, pairs()?).map(PlayerSpec::External),
            _ => Err(PlayerSpecError::Kind(kind.to_owned())),
        }
    }
}

/// Puts each pair into its place.
fn read<C>(
    kind: &'static str,
    pairs: &[(String, String)],
    config: &mut C,
    keys: &[Key<C>],
) -> Result<(), PlayerSpecError> {
    for (at, (name, value)) in pairs.iter().enumerate() {
        let key = keys.iter().find(|key| key.name == name).ok_or_else(|| PlayerSpecError::Key {
            kind,
            key: name.clone(),
            keys: keys.iter().map(|key| key.name).collect(),
        })?;
        if pairs[..at].iter().any(|(earlier, _)| earlier == name) {
            return Err(PlayerSpecError::Twice(name.clone()));
        }
        (key.read)(config, value).ok_or_else(|| PlayerSpecError::Value {
            key: key.name,
            value: value.clone(),
            accepts: key.accepts,
        })?;
    }
    Ok(())
}

/// Whether the pairs name a network.
fn expect_net(pairs: &[(String, String)], player: &'static str) -> Result<(), PlayerSpecError> {
    let named = pairs.iter().any(|(key, _)| key == "net");
    if named { Ok(()) } else { Err(PlayerSpecError::NoNet(player)) }
}

/// A limit that is given replaces all of the usual ones.
fn or_usual(limits: &mut Limits, usual: Limits) {
    if *limits == Limits::default() {
        *limits = usual;
    }
}

impl fmt::Display for PlayerSpec {
    /// The canonical form: limits always, other values where they are not the usual ones, in the
    /// order of the kind's keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            PlayerSpec::Random | PlayerSpec::Greedy => Ok(()),
            PlayerSpec::Rollout(config) => {
                show(f, config, &RolloutConfig::default(), keys::ROLLOUT)
            }
            PlayerSpec::AlphaBeta(config) => {
                show(f, config, &AlphaBetaConfig::default(), keys::ALPHABETA)
            }
            PlayerSpec::Mcts(spec) => {
                let usual = MctsSpec { net: spec.net.clone(), config: MctsConfig::default() };
                show(f, spec, &usual, keys::MCTS)
            }
            PlayerSpec::Descent(spec) => {
                let usual = DescentSpec { net: spec.net.clone(), config: DescentConfig::default() };
                show(f, spec, &usual, keys::DESCENT)
            }
            PlayerSpec::External(spec) => engine::show(f, spec),
        }
    }
}

fn show<C>(f: &mut fmt::Formatter<'_>, config: &C, usual: &C, keys: &[Key<C>]) -> fmt::Result {
    let mut before = ':';
    for key in keys {
        let value = (key.show)(config);
        let Some(value) =
            value.filter(|value| key.always || Some(value) != (key.show)(usual).as_ref())
        else {
            continue;
        };
        write!(f, "{before}{}={}", key.name, Quoted(&value))?;
        before = ',';
    }
    Ok(())
}

impl TryFrom<String> for PlayerSpec {
    type Error = PlayerSpecError;

    fn try_from(text: String) -> Result<PlayerSpec, PlayerSpecError> {
        text.parse()
    }
}

impl From<PlayerSpec> for String {
    fn from(spec: PlayerSpec) -> String {
        spec.to_string()
    }
}
