//! A network of whatever kind, as it comes out of a weights file.

use std::path::Path;

use surakarta_game::Variant;

use crate::evaluator::{Evaluator, EvaluatorError, Inference};
use crate::mlp::Mlp;
use crate::shape::Trunk;
use crate::tower::Tower;
use crate::weights::{LoadError, Weights};

/// A network of any kind, laid out for inference without libtorch. Clones share the weights.
#[derive(Clone, Debug)]
pub struct Network {
    kind: Kind,
    hash: String,
}

#[derive(Clone, Debug)]
enum Kind {
    Mlp(Mlp),
    Tower(Tower),
}

impl Network {
    /// The network with these weights, on the best kernel that this processor can run.
    pub fn new(weights: &Weights) -> Network {
        let kind = match weights.shape().trunk() {
            Trunk::Mlp(_) => Kind::Mlp(Mlp::new(weights)),
            Trunk::Conv(_) | Trunk::Circuit(_) => Kind::Tower(Tower::new(weights)),
        };
        Network { kind, hash: weights.hash() }
    }

    /// Reads a weights file that must be for this variant.
    ///
    /// # Errors
    /// As [`Weights::load_for`].
    pub fn load_for(path: impl AsRef<Path>, variant: Variant) -> Result<Network, LoadError> {
        Ok(Network::new(&Weights::load_for(path, variant)?))
    }

    /// Something to evaluate positions with, for one thread.
    pub fn evaluator(&self) -> Box<dyn Evaluator> {
        match &self.kind {
            Kind::Mlp(mlp) => Box::new(mlp.clone()),
            Kind::Tower(tower) => Box::new(tower.clone()),
        }
    }
}

impl Inference for Network {
    fn evaluator(&self, _: usize) -> Result<Box<dyn Evaluator>, EvaluatorError> {
        Ok(self.evaluator())
    }

    fn hash(&self) -> &str {
        &self.hash
    }

    fn kernel(&self) -> String {
        let kernel = match &self.kind {
            Kind::Mlp(mlp) => mlp.kernel(),
            Kind::Tower(tower) => tower.kernel(),
        };
        kernel.to_owned()
    }
}
