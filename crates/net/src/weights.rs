//! The weights of a network, and the file that they live in.
//!
//! The file is safetensors with f32 tensors named and laid out as [`Shape::tensors`] lists them, so
//! that Python reads it, too. Its metadata has one entry, `surakarta`, a JSON object with `format`
//! ([`FORMAT_VERSION`]), `variant`, `inputs` ([`INPUT_VERSION`]), `shape`, `source` (a free note)
//! and `checksum`. One entry, because the order of several would differ from file to file: equal
//! weights make equal bytes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use surakarta_game::Variant;
use xxhash_rust::xxh3::Xxh3;

use crate::inputs::INPUT_VERSION;
use crate::shape::{Shape, TensorSpec};

/// The version of the file's layout.
pub const FORMAT_VERSION: u64 = 1;

const ENTRY: &str = "surakarta";

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

/// The metadata of the file.
#[derive(Serialize, Deserialize)]
struct Header {
    format: u64,
    variant: String,
    inputs: u32,
    shape: Shape,
    source: String,
    checksum: String,
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
    /// A weight of an input that the shape is blind to.
    #[error("the tensor {0} is not 0 for an input that the shape leaves out")]
    NotBlind(String),
}

/// A weights file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be used as weights: {problem}", .path.display())]
pub struct LoadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: LoadProblem,
}

/// What is wrong with a weights file.
#[derive(Debug, thiserror::Error)]
pub enum LoadProblem {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no safetensors file, or has been cut short.
    #[error("it is not a complete safetensors file ({0})")]
    NotSafetensors(#[from] safetensors::SafeTensorError),
    /// It does not have this project's metadata.
    #[error("its metadata has no valid entry `{ENTRY}`, so surakarta did not write it ({0})")]
    Metadata(String),
    /// Another version of the layout.
    #[error(
        "it has format version {0} and this build reads {FORMAT_VERSION}; use the build that wrote it"
    )]
    Format(u64),
    /// Another version of the inputs.
    #[error(
        "it is for input version {0} and this build has {INPUT_VERSION}; use the build that wrote it, or train anew"
    )]
    Inputs(u32),
    /// A variant that this build does not know.
    #[error("{0}")]
    Variant(#[from] surakarta_game::UnknownVariant),
    /// The tensors do not fit the shape.
    #[error("{0}")]
    Tensors(#[from] InvalidWeights),
    /// Something changed since the file was written.
    #[error("its checksum does not match its contents, so it is damaged; restore it from a copy")]
    Checksum,
    /// It is fine, but for another network than the one wanted.
    #[error(
        "it holds a network {found} where {wanted} is wanted; change the shape or give other weights",
        found = .found.describe(*.variant), wanted = .wanted.describe(*.variant)
    )]
    OtherShape {
        /// What the file holds.
        found: Box<Shape>,
        /// What is wanted.
        wanted: Box<Shape>,
        /// Of both.
        variant: Variant,
    },
    /// It is fine, but for another variant than the one wanted.
    #[error("it is for the variant {found} where {wanted} is wanted; give other weights")]
    OtherVariant {
        /// What the file is for.
        found: Variant,
        /// What is wanted.
        wanted: Variant,
    },
}

/// A weights file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the weights could not be written to {}: {problem}", .path.display())]
pub struct SaveError {
    /// The file.
    pub path: PathBuf,
    /// What went wrong.
    pub problem: io::Error,
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
            if shape.blind_places(variant, &spec).any(|place| data[place] != 0.0) {
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
            shape.blind_places(variant, &spec).for_each(|place| data[place] = 0.0);
            Tensor { spec, data }
        });
        let tensors = tensors.collect();
        let source = format!("random, seed {seed}");
        Weights { shape, variant, source, tensors }
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
        let path = path.as_ref();
        let write = || {
            let mut beside = path.as_os_str().to_owned();
            beside.push(".tmp");
            let mut file = File::create(&beside)?;
            file.write_all(&self.to_bytes()?)?;
            file.sync_all()?;
            fs::rename(&beside, path)?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            // Makes the new name itself durable.
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        };
        write().map_err(|problem| SaveError { path: path.to_owned(), problem })
    }

    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let header = Header {
            format: FORMAT_VERSION,
            variant: self.variant.name().to_owned(),
            inputs: INPUT_VERSION,
            shape: self.shape.clone(),
            source: self.source.clone(),
            checksum: self.checksum(),
        };
        let metadata = HashMap::from([(ENTRY.to_owned(), serde_json::to_string(&header)?)]);
        let data: Vec<Vec<u8>> = self.tensors.iter().map(|t| bytes(&t.data)).collect();
        let views = self.tensors.iter().zip(&data).map(|(tensor, data)| {
            let TensorSpec { name, dims } = &tensor.spec;
            TensorView::new(Dtype::F32, dims.clone(), data).map(|view| (name, view))
        });
        let views = views.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
        safetensors::serialize(views, Some(metadata)).map_err(io::Error::other)
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
        if weights.variant == variant {
            return Ok(weights);
        }
        let problem = LoadProblem::OtherVariant { found: weights.variant, wanted: variant };
        Err(LoadError { path: path.to_owned(), problem })
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
        let (found, wanted) = (Box::new(weights.shape), Box::new(shape.clone()));
        let problem = LoadProblem::OtherShape { found, wanted, variant };
        Err(LoadError { path: path.to_owned(), problem })
    }

    fn from_bytes(file: &[u8]) -> Result<Weights, LoadProblem> {
        let (_, metadata) = SafeTensors::read_metadata(file)?;
        let tensors = SafeTensors::deserialize(file)?;
        let header = Header::parse(metadata.metadata().as_ref().and_then(|m| m.get(ENTRY)))?;
        if header.inputs != INPUT_VERSION {
            return Err(LoadProblem::Inputs(header.inputs));
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
        if weights.checksum() != header.checksum {
            return Err(LoadProblem::Checksum);
        }
        Ok(weights)
    }
}

impl Header {
    fn parse(entry: Option<&String>) -> Result<Header, LoadProblem> {
        let metadata = |error: serde_json::Error| LoadProblem::Metadata(error.to_string());
        let entry = entry.ok_or_else(|| LoadProblem::Metadata("there is none".to_owned()))?;
        let value: serde_json::Value = serde_json::from_str(entry).map_err(metadata)?;
        // First the version: another one may have other keys.
        match value["format"].as_u64() {
            Some(FORMAT_VERSION) => serde_json::from_value(value).map_err(metadata),
            Some(other) => Err(LoadProblem::Format(other)),
            None => Err(LoadProblem::Metadata("it states no format version".to_owned())),
        }
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
