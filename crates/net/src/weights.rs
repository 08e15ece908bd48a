//! The weights of a network, and the file that they live in.
//!
//! The file is safetensors with f32 tensors named and laid out as [`Shape::tensors`] lists them, so
//! that Python reads it, too; see [`Header`] for its metadata.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use surakarta_game::Variant;
use xxhash_rust::xxh3::Xxh3;

use crate::file::{Header, LoadError, LoadProblem, SaveError, expect_variant, write_tensors};
use crate::inputs::INPUT_VERSION;
use crate::shape::{Auxiliary, Shape, TensorSpec};

/// All numbers of a network, finite and of the right count, with what they are for.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    shape: Shape,
    variant: Variant,
    source: String,
    tensors: Vec<Tensor>,
}

#[derive(Clone, Debug, PartialEq)]
struct Tensor {
    spec: TensorSpec,
    data: Vec<f32>,
}

/// Why tensors are not the weights of a network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidWeights {
    /// The shape asks for a tensor that is not there.
    #[error("the tensor {0} is missing")]
    Missing(String),
    /// There is a tensor that the shape does not ask for, or one twice.
    #[error("the tensor {0} does not belong to this shape, or is there twice")]
    Unexpected(String),
    /// A tensor has other dimensions than the shape asks for.
    #[error("the tensor {name} has dimensions {found:?} where the shape asks for {expected:?}")]
    Dimensions {
        /// The tensor.
        name: String,
        /// What it has.
        found: Vec<usize>,
        /// What the shape asks for.
        expected: Vec<usize>,
    },
    /// A tensor holds as many numbers as its dimensions do not say, or numbers that are not f32.
    #[error("the tensor {0} does not hold one f32 for each of its places")]
    Data(String),
    /// NaN or an infinity.
    #[error("the tensor {0} contains NaN or an infinity")]
    NotFinite(String),
    /// A tensor of a quantised network has another type than it should.
    #[error("the tensor {0} does not have the type of its place")]
    Type(String),
    /// Sums in a quantised network would not be exact.
    #[error("the tensor {0} has numbers beyond its range")]
    Overflow(String),
    /// A weight of an input that the shape is blind to.
    #[error("the tensor {0} tells inputs apart that the shape leaves out")]
    NotBlind(String),
}

impl Weights {
    /// Puts named tensors (name, dimensions, numbers in row-major order), given in any order,
    /// together. `source` is a free note on where they come from.
    ///
    /// # Errors
    /// If they are not exactly the tensors that the shape lists, or not all finite.
    pub fn from_tensors(
        shape: Shape,
        variant: Variant,
        source: impl Into<String>,
        tensors: impl IntoIterator<Item = (String, Vec<usize>, Vec<f32>)>,
    ) -> Result<Weights, InvalidWeights> {
        let mut given = HashMap::new();
        for (name, dims, data) in tensors {
            if given.insert(name.clone(), (dims, data)).is_some() {
                return Err(InvalidWeights::Unexpected(name));
            }
        }
        let mut ordered = Vec::new();
        for spec in shape.tensors(variant) {
            let Some((dims, data)) = given.remove(&spec.name) else {
                return Err(InvalidWeights::Missing(spec.name));
            };
            if dims != spec.dims {
                let TensorSpec { name, dims: expected } = spec;
                return Err(InvalidWeights::Dimensions { name, found: dims, expected });
            }
            if data.len() != spec.len() {
                return Err(InvalidWeights::Data(spec.name));
            }
            if !data.iter().all(|x| x.is_finite()) {
                return Err(InvalidWeights::NotFinite(spec.name));
            }
            let differs = |(place, seen): (usize, Option<usize>)| {
                data[place] != seen.map_or(0.0, |seen| data[seen])
            };
            if shape.blind_places(variant, &spec).any(differs) {
                return Err(InvalidWeights::NotBlind(spec.name));
            }
            ordered.push(Tensor { spec, data });
        }
        match given.into_keys().min() {
            Some(name) => Err(InvalidWeights::Unexpected(name)),
            None => Ok(Weights { shape, variant, source: source.into(), tensors: ordered }),
        }
    }

    /// An untrained network for a variant, the same one for the same seed.
    ///
    /// Biases are 0. Weights are uniform with the variance 2 / inputs that keeps ReLU layers alive
    /// (He et al. 2015, arXiv:1502.01852). Those of the heads are a tenth of that size, so that the
    /// untrained network hardly prefers anything, and so are those that end a residual block, so that
    /// a deep tower begins as a shallow one.
    pub fn random(shape: Shape, variant: Variant, seed: u64) -> Weights {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let tensors = shape.tensors(variant).into_iter().map(|spec| {
            let mut data = vec![0.0; spec.len()];
            if spec.dims.len() > 1 {
                let inputs: usize = spec.dims[1..].iter().product();
                let bound = first_scale(&spec.name) * (6.0 / inputs as f32).sqrt();
                let mut uniform = || (rng.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
                data.iter_mut().for_each(|x| *x = bound * uniform());
            }
            shape.blind(variant, &spec, &mut data);
            Tensor { spec, data }
        });
        let tensors = tensors.collect();
        let source = format!("random, seed {seed}");
        Weights { shape, variant, source, tensors }
    }

    /// The same network with exactly these auxiliary heads: those that it lacks are fresh, as
    /// [`Weights::random`] makes them with this seed, and those too many are dropped.
    #[must_use]
    pub fn with_heads(self, heads: &[Auxiliary], seed: u64) -> Weights {
        let shape = self.shape.clone().with_heads(heads.iter().copied());
        if shape == self.shape {
            return self;
        }
        let mut fresh = Weights::random(shape, self.variant, seed);
        let mut kept: HashMap<_, _> =
            self.tensors.into_iter().map(|tensor| (tensor.spec.name.clone(), tensor)).collect();
        for tensor in &mut fresh.tensors {
            if let Some(kept) = kept.remove(&tensor.spec.name) {
                *tensor = kept;
            }
        }
        fresh.with_source(&self.source)
    }

    /// The shape of the network.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The variant that it plays.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The note on where the weights come from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The same weights with another note.
    #[must_use]
    pub fn with_source(self, source: impl Into<String>) -> Weights {
        Weights { source: source.into(), ..self }
    }

    /// Name, dimensions and numbers (row-major) of every tensor, in the order of [`Shape::tensors`].
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &[usize], &[f32])> {
        self.tensors.iter().map(|t| (&t.spec.name[..], &t.spec.dims[..], &t.data[..]))
    }

    /// The numbers of a tensor (row-major), or `None` if the shape has no such tensor.
    pub fn tensor(&self, name: &str) -> Option<&[f32]> {
        self.tensors.iter().find(|t| t.spec.name == name).map(|t| &t.data[..])
    }

    /// What tells networks apart: 32 hexadecimal digits (XXH3, 128 bits) over shape, variant, input
    /// version and numbers, not over the note.
    pub fn hash(&self) -> String {
        format!("{:032x}", self.hashed().digest128())
    }

    fn hashed(&self) -> Xxh3 {
        let mut hash = Xxh3::new();
        let identity = serde_json::json!([&self.shape, self.variant.name(), INPUT_VERSION]);
        hash.update(identity.to_string().as_bytes());
        for tensor in &self.tensors {
            hash.update(&bytes(&tensor.data));
        }
        hash
    }

    /// Covers all that a file holds.
    fn checksum(&self) -> String {
        let mut hash = self.hashed();
        hash.update(self.source.as_bytes());
        format!("{:032x}", hash.digest128())
    }

    /// Writes the file beside its name (`NAME.tmp`), syncs it and renames it: a reader sees the old
    /// file or the new one, never a part.
    ///
    /// # Errors
    /// If the file system refuses; the message names the file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let header = Header::new(self.variant, &self.shape, &self.source, self.checksum());
        let data: Vec<Vec<u8>> = self.tensors.iter().map(|t| bytes(&t.data)).collect();
        let views = self.tensors.iter().zip(&data).map(|(tensor, data)| {
            let TensorSpec { name, dims } = &tensor.spec;
            TensorView::new(Dtype::F32, dims.clone(), data).map(|view| (&name[..], view))
        });
        write_tensors(path.as_ref(), &header, views)
    }

    /// Reads a weights file.
    ///
    /// # Errors
    /// If it is missing, damaged, written by a build with another format or other inputs, or does
    /// not fit the shape that it states; the message is one sentence that names the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Weights, LoadError> {
        let path = path.as_ref();
        let read = || Weights::from_bytes(&fs::read(path)?);
        read().map_err(|problem| LoadError { path: path.to_owned(), problem })
    }

    /// Reads a weights file that must be for this variant.
    ///
    /// # Errors
    /// As [`Weights::load`], or if the file is for another variant.
    pub fn load_for(path: impl AsRef<Path>, variant: Variant) -> Result<Weights, LoadError> {
        let path = path.as_ref();
        let weights = Weights::load(path)?;
        expect_variant(path, weights.variant, variant)?;
        Ok(weights)
    }

    /// Reads a weights file that must be for this shape and variant.
    ///
    /// # Errors
    /// As [`Weights::load_for`], or if the file holds a network of another shape.
    pub fn load_as(
        path: impl AsRef<Path>,
        shape: &Shape,
        variant: Variant,
    ) -> Result<Weights, LoadError> {
        let path = path.as_ref();
        let weights = Weights::load_for(path, variant)?;
        if weights.shape == *shape {
            return Ok(weights);
        }
        let (found, wanted) = (weights.shape.into(), shape.clone().into());
        let problem = LoadProblem::OtherShape { found, wanted, variant };
        Err(LoadError { path: path.to_owned(), problem })
    }

    /// Reads a weights file to begin the training of such a network with: its auxiliary heads may be
    /// others, see [`Weights::with_heads`].
    ///
    /// # Errors
    /// As [`Weights::load_as`].
    pub fn load_to_train(
        path: impl AsRef<Path>,
        shape: &Shape,
        variant: Variant,
        seed: u64,
    ) -> Result<Weights, LoadError> {
        let path = path.as_ref();
        let found = Weights::load_for(path, variant)?.with_heads(shape.heads(), seed);
        if found.shape == *shape { Ok(found) } else { Weights::load_as(path, shape, variant) }
    }

    fn from_bytes(file: &[u8]) -> Result<Weights, LoadProblem> {
        Weights::read(Header::of(file)?, &SafeTensors::deserialize(file)?)
    }

    pub(crate) fn read(header: Header, tensors: &SafeTensors) -> Result<Weights, LoadProblem> {
        if header.quantised.is_some() {
            return Err(LoadProblem::Quantised);
        }
        let variant = header.variant.parse()?;
        let mut named = Vec::new();
        for (name, view) in tensors.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(InvalidWeights::Data(name.to_owned()).into());
            }
            named.push((name.to_owned(), view.shape().to_vec(), floats(view.data())));
        }
        let weights = Weights::from_tensors(header.shape, variant, header.source, named)?;
        if header.checksum.is_some_and(|checksum| checksum != weights.checksum()) {
            return Err(LoadProblem::Checksum);
        }
        Ok(weights)
    }
}

/// The size of a tensor's first random numbers, relative to what keeps a layer with ReLU alive.
fn first_scale(name: &str) -> f32 {
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        ["block", _, "second" | "mix" | "pool", _] => 0.1,
        // Two layers whose sum is to be as large as one.
        ["block", _, "board" | "circuit", _] => std::f32::consts::FRAC_1_SQRT_2,
        ["hidden" | "stem" | "globals" | "block" | "value", ..] => 1.0,
        // A product of two.
        [_, "from" | "to", _] => 0.3,
        _ => 0.1,
    }
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect()
}
