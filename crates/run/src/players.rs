//! Turns the string that names a player into the player.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use surakarta_game::Variant;
use surakarta_net::{Evaluator, Mlp, Weights};
use surakarta_search::{NetRef, Player, PlayerSpec};

use crate::directory::{best_weights, latest_weights};

/// Loads each network once and lends it to any number of players, all of one variant.
pub struct Networks {
    variant: Variant,
    run: Option<PathBuf>,
    loaded: Mutex<HashMap<PathBuf, (Mlp, String)>>,
}

impl Networks {
    /// Networks by path only: there is no run that `net=latest` and `net=best` could mean.
    pub fn new(variant: Variant) -> Networks {
        Networks::of_run(None, variant)
    }

    /// Networks of the run in a folder, too, if one is given.
    pub fn of_run(folder: Option<&Path>, variant: Variant) -> Networks {
        Networks { variant, run: folder.map(Path::to_owned), loaded: Mutex::default() }
    }

    /// The file that a player's network lies in.
    ///
    /// # Errors
    /// If the string means a network of a run and there is no run, or it has none yet.
    pub fn path(&self, net: &NetRef) -> Result<PathBuf> {
        let run = || {
            self.run.as_deref().with_context(|| {
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

    /// The network itself, and the hash of its weights.
    ///
    /// # Errors
    /// If the file is missing, damaged, or for another program or variant.
    pub fn load(&self, net: &NetRef) -> Result<(Mlp, String)> {
        let path = self.path(net)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(found) = loaded.get(&path) {
            return Ok(found.clone());
        }
        let weights = Weights::load_for(&path, self.variant)?;
        let network = (Mlp::new(&weights), weights.hash());
        loaded.insert(path, network.clone());
        Ok(network)
    }

    /// What a player is beyond the string that names it: the hash of its network's weights.
    ///
    /// # Errors
    /// If the player cannot be made.
    pub fn identity(&self, spec: &PlayerSpec) -> Result<String> {
        self.player(spec)?;
        Ok(match spec.net() {
            Some(net) => format!("weights {}", self.load(net)?.1),
            None => String::new(),
        })
    }

    /// Makes a player.
    ///
    /// # Errors
    /// If its network cannot be loaded.
    pub fn player(&self, spec: &PlayerSpec) -> Result<Box<dyn Player>> {
        spec.build(&mut |net| {
            let (network, _) = self.load(net)?;
            Ok(Box::new(network) as Box<dyn Evaluator>)
        })
    }
}
