//! Turns the string that names a player into the player.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail};
use surakarta_arena::engine::Engine;
use surakarta_game::{RuleSet, Variant};
#[cfg(feature = "torch")]
use surakarta_net::Weights;
use surakarta_net::{Evaluator, Inference, Network, NetworkFile, QuantisedWeights, Trunk};
use surakarta_search::{EngineSpec, NetRef, Player, PlayerSpec, Supply};
use surakarta_tablebase::Tables;
use surakarta_train::Device;

use crate::directory::{best_weights, latest_weights};

/// For programs that nobody stops waiting for.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Where networks come from, and what computes them.
#[derive(Clone, Debug, Default)]
pub struct NetworkPlace {
    /// The folder of the run that `net=latest` and `net=best` mean.
    pub run: Option<PathBuf>,
    /// Where libtorch computes networks. Without, they are computed natively, and TorchScript modules
    /// by libtorch on the processor.
    pub device: Option<Device>,
    /// Whether native networks of kind `mlp` are quantised as they are loaded. Other kinds have no
    /// quantised inference.
    pub quantised: bool,
}

/// Loads each network once and lends it to any number of players, all of one variant; programs are
/// tried once.
pub struct Networks<'a> {
    variant: Variant,
    rules: RuleSet,
    /// Turns true when programs that do not start are to be given up.
    stop: &'a AtomicBool,
    place: NetworkPlace,
    loaded: Mutex<HashMap<PathBuf, Arc<dyn Inference>>>,
    /// Endgame tables by their folders.
    opened: Mutex<HashMap<PathBuf, Arc<Tables>>>,
    /// Programs that have been seen to start, by their strings.
    probed: Mutex<HashMap<String, String>>,
}

impl<'a> Networks<'a> {
    /// Networks by path only: there is no run that `net=latest` and `net=best` could mean.
    pub fn new(variant: Variant) -> Networks<'a> {
        Networks::of(&NetworkPlace::default(), variant)
    }

    /// Networks of a run, too, if one is given, computed where it says.
    pub fn of(place: &NetworkPlace, variant: Variant) -> Networks<'a> {
        Networks {
            variant,
            rules: RuleSet::default(),
            stop: &NEVER,
            place: place.clone(),
            loaded: Mutex::default(),
            opened: Mutex::default(),
            probed: Mutex::default(),
        }
    }

    /// Tells programs these rules instead of the usual ones.
    #[must_use]
    pub fn under(self, rules: RuleSet) -> Networks<'a> {
        Networks { rules, ..self }
    }

    /// Programs that do not start are given up once this turns true.
    #[must_use]
    pub fn stopped_by(self, stop: &'a AtomicBool) -> Networks<'a> {
        Networks { stop, ..self }
    }

    /// The file that a player's network lies in.
    ///
    /// # Errors
    /// If the string means a network of a run and there is no run, or it has none yet.
    pub fn path(&self, net: &NetRef) -> Result<PathBuf> {
        let run = || {
            self.place.run.as_deref().with_context(|| {
                format!("net={net} names a network of a run; say which with --run DIR, or give the path of a weights file")
            })
        };
        match net {
            NetRef::Path(path) => Ok(path.clone()),
            NetRef::Latest => {
                let run = run()?;
                latest_weights(run)
                    .with_context(|| format!("the run in {} has no weights yet", run.display()))
            }
            NetRef::Best => {
                let best = best_weights(run()?);
                if !best.exists() {
                    bail!("{} does not exist: no checkpoint has been rated yet", best.display());
                }
                Ok(best)
            }
        }
    }

    /// The network itself: natively, or through libtorch if a device was chosen or the file is a
    /// TorchScript module (its name ends in `.pt`).
    ///
    /// # Errors
    /// If the file is missing, damaged, or for another program or variant, or libtorch or the device
    /// is missing.
    pub fn load(&self, net: &NetRef) -> Result<Arc<dyn Inference>> {
        let path = self.path(net)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(found) = loaded.get(&path) {
            return Ok(Arc::clone(found));
        }
        let script = is_script(&path);
        let network: Arc<dyn Inference> = match (self.place.device, script) {
            (None, false) if self.place.quantised => Arc::new(quantised(&path, self.variant)?),
            (None, false) => Arc::new(Network::load_for(&path, self.variant)?),
            (device, _) => torch_network(&path, script, self.variant, device.unwrap_or_default())?,
        };
        loaded.insert(path, Arc::clone(&network));
        Ok(network)
    }

    /// The endgame tables of a folder.
    ///
    /// # Errors
    /// If there are none of the variant, they are damaged, or prove nothing under the rules.
    pub fn tables(&self, folder: &Path) -> Result<Arc<Tables>> {
        let mut opened = self.opened.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(tables) = opened.get(folder) {
            return Ok(Arc::clone(tables));
        }
        let tables = Arc::new(Tables::open(folder)?);
        if tables.pieces(self.variant) == 0 {
            bail!("the tables in {} hold no endgame of {}", folder.display(), self.variant);
        }
        if !tables.holds_under(&self.rules, self.variant) {
            bail!(
                "the tables in {} prove nothing under the rules {}; play without them",
                folder.display(),
                self.rules
            );
        }
        // Before anybody's clock runs.
        tables.warm_up();
        opened.insert(folder.to_owned(), Arc::clone(&tables));
        Ok(tables)
    }

    /// Makes a player.
    ///
    /// # Errors
    /// If its network cannot be loaded, or the program behind it cannot be used.
    pub fn player(&self, spec: &PlayerSpec) -> Result<Box<dyn Player>> {
        spec.build(&mut &*self)
    }

    /// What tells this player from another of the same name: the hash of its network, or of its
    /// program, the files that it is given, and what it calls itself; with endgame tables, what is in them.
    /// `None` for a player that its string tells everything about.
    ///
    /// # Errors
    /// As [`player`](Self::player).
    pub fn identity(&self, spec: &PlayerSpec) -> Result<Option<String>> {
        let of_net = match (spec, spec.net()) {
            (PlayerSpec::External(engine), _) => Some(self.probe(engine)?),
            (_, Some(net)) => Some(format!("weights {}", self.load(net)?.hash())),
            _ => None,
        };
        let of_tables = match spec.tables() {
            Some(folder) => Some(format!("tables {}", self.tables(folder)?.identity(self.variant))),
            None => None,
        };
        Ok(match (of_net, of_tables) {
            (Some(net), Some(tables)) => Some(format!("{net}, {tables}")),
            (net, tables) => net.or(tables),
        })
    }

    /// Starts a program once to see that it can play, and keeps its identity.
    fn probe(&self, spec: &EngineSpec) -> Result<String> {
        if !PlayerSpec::External(spec.clone()).plays(self.variant) {
            bail!(
                "the {} protocol knows the standard board only; `{}` cannot play {}",
                spec.protocol.name(),
                spec.cmd,
                self.variant
            );
        }
        let key = PlayerSpec::External(spec.clone()).to_string();
        let mut probed = self.probed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(identity) = probed.get(&key) {
            return Ok(identity.clone());
        }
        let identity = Engine::probe(spec, self.variant, self.rules, self.stop)?;
        probed.insert(key, identity.clone());
        Ok(identity)
    }
}

impl Supply for &Networks<'_> {
    type Error = anyhow::Error;

    fn network(&mut self, net: &NetRef, size: usize) -> Result<Box<dyn Evaluator>> {
        Ok(self.load(net)?.evaluator(size)?)
    }

    fn tables(&mut self, folder: &Path) -> Result<Arc<Tables>> {
        Networks::tables(self, folder)
    }

    fn engine(&mut self, spec: &EngineSpec) -> Result<Box<dyn Player>> {
        self.probe(spec)?;
        Ok(Box::new(Engine::new(spec.clone(), self.variant, self.rules)))
    }
}

/// A native network, quantised if its kind can be.
fn quantised(path: &Path, variant: Variant) -> Result<Network> {
    Ok(match NetworkFile::load_for(path, variant)? {
        NetworkFile::F32(weights) if matches!(weights.shape().trunk(), Trunk::Mlp(_)) => {
            let weights = QuantisedWeights::new(&weights)
                .with_context(|| format!("{} cannot be quantised", path.display()))?;
            Network::quantised(&weights)
        }
        file => file.into(),
    })
}

/// Whether a file is a TorchScript module, by its name.
pub(crate) fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pt"))
}

/// A network behind libtorch.
#[cfg(feature = "torch")]
fn torch_network(
    path: &Path,
    script: bool,
    variant: Variant,
    device: Device,
) -> Result<Arc<dyn Inference>> {
    use surakarta_train::TorchNetwork;
    Ok(Arc::new(match script {
        true => TorchNetwork::load_script(path, variant, device)?,
        false => TorchNetwork::new(Weights::load_for(path, variant)?, device)?,
    }))
}

#[cfg(not(feature = "torch"))]
fn torch_network(path: &Path, _: bool, _: Variant, _: Device) -> Result<Arc<dyn Inference>> {
    bail!(
        "{} cannot be played here: this binary was built without libtorch; build it with the feature `torch`",
        path.display()
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use surakarta_net::{Shape, Weights};

    #[test]
    fn what_can_be_quantised_is_if_that_is_wanted() {
        let folder = tempfile::TempDir::new().unwrap();
        let place = NetworkPlace { quantised: true, ..NetworkPlace::default() };
        for shape in [Shape::mlp(&[32, 16]), Shape::conv(1, 16)] {
            let path = folder.path().join("network.safetensors");
            let weights = Weights::random(shape.unwrap(), Variant::Standard, 3);
            weights.save(&path).unwrap();
            let hash = |place: &NetworkPlace| {
                let networks = Networks::of(place, Variant::Standard);
                networks.load(&NetRef::Path(path.clone())).unwrap().hash().to_owned()
            };
            assert_eq!(hash(&NetworkPlace::default()), weights.hash());
            let quantised = QuantisedWeights::new(&weights).map(|quantised| quantised.hash());
            assert_eq!(hash(&place), quantised.unwrap_or(weights.hash()));
        }
    }
}
