//! A network of whatever kind, as it comes out of a weights file.

use std::fs;
use std::path::Path;

use safetensors::SafeTensors;
use surakarta_game::Variant;

use crate::evaluator::{Evaluator, EvaluatorError, Inference};
use crate::file::{Header, LoadError, LoadProblem, expect_variant};
use crate::mlp::Mlp;
use crate::quantised::{Quantised, QuantisedWeights};
use crate::shape::Trunk;
use crate::tower::Tower;
use crate::weights::Weights;

/// What a file of weights holds: f32 weights or quantised ones.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkFile {
    /// Single precision.
    F32(Box<Weights>),
    /// Eight and sixteen bits.
    Quantised(Box<QuantisedWeights>),
}

impl NetworkFile {
    /// Reads a file.
    ///
    /// # Errors
    /// As [`Weights::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<NetworkFile, LoadError> {
        let path = path.as_ref();
        let read = || -> Result<NetworkFile, LoadProblem> {
            let file = fs::read(path)?;
            let (header, tensors) = (Header::of(&file)?, SafeTensors::deserialize(&file)?);
            Ok(match header.quantised {
                None => NetworkFile::F32(Weights::read(header, &tensors)?.into()),
                Some(_) => NetworkFile::Quantised(QuantisedWeights::read(header, &tensors)?.into()),
            })
        };
        read().map_err(|problem| LoadError { path: path.to_owned(), problem })
    }

    /// Reads a file that must be for this variant.
    ///
    /// # Errors
    /// As [`Weights::load_for`].
    pub fn load_for(path: impl AsRef<Path>, variant: Variant) -> Result<NetworkFile, LoadError> {
        let path = path.as_ref();
        let file = NetworkFile::load(path)?;
        expect_variant(path, file.variant(), variant)?;
        Ok(file)
    }

    /// The variant that the network plays.
    pub fn variant(&self) -> Variant {
        match self {
            NetworkFile::F32(weights) => weights.variant(),
            NetworkFile::Quantised(weights) => weights.variant(),
        }
    }
}

/// A network of any kind, laid out for inference without libtorch. Clones share the weights.
#[derive(Clone, Debug)]
pub struct Network {
    kind: Kind,
    hash: String,
}

#[derive(Clone, Debug)]
enum Kind {
    Mlp(Box<Mlp>),
    Tower(Box<Tower>),
    Quantised(Box<Quantised>),
}

impl Network {
    /// The network with these weights, on the best kernel that this processor can run.
    pub fn new(weights: &Weights) -> Network {
        let kind = match weights.shape().trunk() {
            Trunk::Mlp(_) => Kind::Mlp(Mlp::new(weights).into()),
            Trunk::Conv(_) | Trunk::Circuit(_) => Kind::Tower(Tower::new(weights).into()),
        };
        Network { kind, hash: weights.hash() }
    }

    /// The quantised network with these weights, likewise.
    pub fn quantised(weights: &QuantisedWeights) -> Network {
        Network { kind: Kind::Quantised(Quantised::new(weights).into()), hash: weights.hash() }
    }

    /// Reads a weights file that must be for this variant.
    ///
    /// # Errors
    /// As [`Weights::load_for`].
    pub fn load_for(path: impl AsRef<Path>, variant: Variant) -> Result<Network, LoadError> {
        Ok(NetworkFile::load_for(path, variant)?.into())
    }

    /// Something to evaluate positions with, for one thread.
    pub fn evaluator(&self) -> Box<dyn Evaluator> {
        match &self.kind {
            Kind::Mlp(mlp) => mlp.clone(),
            Kind::Tower(tower) => tower.clone(),
            Kind::Quantised(quantised) => quantised.clone(),
        }
    }
}

impl Inference for Network {
    fn evaluator(&self, _: usize) -> Result<Box<dyn Evaluator>, EvaluatorError> {
        Ok(self.evaluator())
    }

    /// [`Weights::hash`] or [`QuantisedWeights::hash`].
    fn hash(&self) -> &str {
        &self.hash
    }

    fn kernel(&self) -> String {
        let kernel = match &self.kind {
            Kind::Mlp(mlp) => mlp.kernel(),
            Kind::Tower(tower) => tower.kernel(),
            Kind::Quantised(quantised) => quantised.kernel(),
        };
        kernel.to_owned()
    }
}

impl From<NetworkFile> for Network {
    fn from(file: NetworkFile) -> Network {
        match file {
            NetworkFile::F32(weights) => Network::new(&weights),
            NetworkFile::Quantised(weights) => Network::quantised(&weights),
        }
    }
}
