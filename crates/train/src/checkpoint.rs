//! All that training needs to go on to the bit as if it had not been interrupted. Compiles without
//! libtorch.
//!
//! One safetensors file: for each tensor of the network `weights.NAME`, `mean.NAME` and
//! `square.NAME` (AdamW's running means), and `average.NAME` if weights are averaged, f32. Its
//! metadata has one entry, `surakarta-checkpoint`, a JSON object with `format` ([`CHECKPOINT_VERSION`]), `variant`, `inputs` (the network's input
//! version), `shape`, `progress` ([`Progress`]) and `checksum`. Equal checkpoints make equal bytes.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use surakarta_game::Variant;
use surakarta_net::{INPUT_VERSION, Shape, Weights};
use surakarta_record::write_atomically;
use xxhash_rust::xxh3::Xxh3;

use crate::error::TrainError;
use crate::metrics::Totals;

/// The version of the file's layout.
pub const CHECKPOINT_VERSION: u64 = 2;

const ENTRY: &str = "surakarta-checkpoint";
/// The last may be missing.
const PARTS: [&str; 4] = ["weights", "mean", "square", "average"];

/// Weights, optimiser and counters between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The weights.
    pub weights: Weights,
    /// AdamW's running mean of gradients, named and shaped as the weights.
    pub mean: Weights,
    /// AdamW's running mean of squared gradients, likewise.
    pub square: Weights,
    /// The averaged weights, which play; none if the last ones do.
    pub average: Option<Weights>,
    /// How far training has come.
    pub progress: Progress,
}

/// How far training has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The iteration that the next step belongs to.
    pub iteration: u64,
    /// Steps of this iteration that are done; 0 between iterations.
    pub step: u64,
    /// Steps since the beginning of training.
    pub steps: u64,
    /// Samples seen since the beginning of training.
    pub samples: u64,
    /// Samples recorded in the iterations that are over, held-out ones included.
    pub recorded: u64,
    /// What the metrics of this iteration have summed up so far.
    pub totals: Totals,
    /// What this training depends on besides: names, as `train.uses`, and their values. Whoever goes
    /// on with it may compare; empty if that is ensured otherwise.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub basis: BTreeMap<String, String>,
}

/// The metadata of the file.
#[derive(Serialize, Deserialize)]
struct Header {
    format: u64,
    variant: String,
    inputs: u32,
    shape: Shape,
    source: String,
    progress: Progress,
    checksum: String,
}

impl Checkpoint {
    /// Writes the file beside its name, syncs it and renames it.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn save(&self, path: &Path) -> Result<(), TrainError> {
        let bytes = self.to_bytes().map_err(|problem| invalid(path, problem))?;
        write_atomically(path, &bytes).map_err(|error| TrainError::io("write", path, error))
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// If the file is missing, damaged, or written by a build with another layout or other inputs.
    pub fn load(path: &Path) -> Result<Checkpoint, TrainError> {
        let bytes = fs::read(path).map_err(|error| TrainError::io("read", path, error))?;
        Checkpoint::from_bytes(&bytes).map_err(|problem| invalid(path, problem))
    }

    /// Reads a checkpoint of a network that must have this shape and variant.
    ///
    /// # Errors
    /// As [`Checkpoint::load`], or if it holds another network.
    pub fn load_as(path: &Path, shape: &Shape, variant: Variant) -> Result<Checkpoint, TrainError> {
        let checkpoint = Checkpoint::load(path)?;
        let Checkpoint { weights, .. } = &checkpoint;
        let problem = if weights.variant() != variant {
            let found = weights.variant();
            format!("it is for the variant {found} where {variant} is wanted; start a new run")
        } else if weights.shape() != shape {
            let [found, wanted] = [weights.shape(), shape].map(|shape| shape.describe(variant));
            format!(
                "it holds a network {found} where {wanted} is wanted; change the shape or start a new run"
            )
        } else {
            return Ok(checkpoint);
        };
        Err(invalid(path, problem))
    }

    /// In the order of their names.
    fn parts(&self) -> impl Iterator<Item = &Weights> {
        [&self.weights, &self.mean, &self.square].into_iter().chain(&self.average)
    }

    /// Covers all that the file holds: the notes of the moments are not kept.
    fn checksum(&self) -> String {
        let mut hash = Xxh3::new();
        for part in self.parts() {
            hash.update(part.hash().as_bytes());
        }
        hash.update(self.weights.source().as_bytes());
        hash.update(serde_json::json!(self.progress).to_string().as_bytes());
        format!("{:032x}", hash.digest128())
    }

    fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let header = Header {
            format: CHECKPOINT_VERSION,
            variant: self.weights.variant().name().to_owned(),
            inputs: INPUT_VERSION,
            shape: self.weights.shape().clone(),
            source: self.weights.source().to_owned(),
            progress: self.progress.clone(),
            checksum: self.checksum(),
        };
        let header = serde_json::to_string(&header).map_err(|error| error.to_string())?;
        let named: Vec<_> = PARTS
            .iter()
            .zip(self.parts())
            .flat_map(|(part, weights)| {
                weights.tensors().map(move |(name, dims, data)| {
                    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
                    (format!("{part}.{name}"), dims.to_vec(), bytes)
                })
            })
            .collect();
        let view = |(name, dims, bytes)| Ok((name, TensorView::new(Dtype::F32, dims, bytes)?));
        let views: Result<Vec<_>, safetensors::SafeTensorError> =
            named.iter().map(|(name, dims, bytes)| view((name, dims.clone(), bytes))).collect();
        let metadata = HashMap::from([(ENTRY.to_owned(), header)]);
        views
            .and_then(|views| safetensors::serialize(views, Some(metadata)))
            .map_err(|error| error.to_string())
    }

    fn from_bytes(file: &[u8]) -> Result<Checkpoint, String> {
        let incomplete = |error| format!("it is not a complete safetensors file ({error})");
        let (_, metadata) = SafeTensors::read_metadata(file).map_err(incomplete)?;
        let tensors = SafeTensors::deserialize(file).map_err(incomplete)?;
        let entry = metadata.metadata().as_ref().and_then(|metadata| metadata.get(ENTRY));
        let header = Header::parse(entry.map(String::as_str).unwrap_or_default())?;
        let mut parts = PARTS.map(|_| Vec::new());
        for (name, view) in tensors.iter() {
            let part = name.split_once('.').and_then(|(part, rest)| {
                Some((PARTS.iter().position(|&known| known == part)?, rest))
            });
            let Some((part, name)) = part.filter(|_| view.dtype() == Dtype::F32) else {
                return Err(format!("the tensor {name} does not belong to a checkpoint"));
            };
            let data = view.data().as_chunks().0.iter().map(|&four| f32::from_le_bytes(four));
            parts[part].push((name.to_owned(), view.shape().to_vec(), data.collect()));
        }
        let variant = header.variant.parse().map_err(|error| format!("{error}"))?;
        let named = |part: usize, tensors: Vec<_>| {
            let source = if part == 0 { &header.source[..] } else { "" };
            Weights::from_tensors(header.shape.clone(), variant, source, tensors)
                .map_err(|error| format!("in {}, {error}", PARTS[part]))
        };
        let [weights, mean, square, average] = parts;
        let checkpoint = Checkpoint {
            weights: named(0, weights)?,
            mean: named(1, mean)?,
            square: named(2, square)?,
            average: if average.is_empty() { None } else { Some(named(3, average)?) },
            progress: header.progress.clone(),
        };
        if checkpoint.checksum() != header.checksum {
            return Err("its checksum does not match its contents, so it is damaged; restore it \
                        from a copy or an older checkpoint"
                .to_owned());
        }
        Ok(checkpoint)
    }
}

impl Header {
    fn parse(entry: &str) -> Result<Header, String> {
        let foreign = |_| "it is no checkpoint: its metadata has no valid entry of that name";
        let value: serde_json::Value = serde_json::from_str(entry).map_err(foreign)?;
        // First the version: another one may have other keys.
        let advice = "use the build that wrote it";
        match value["format"].as_u64() {
            Some(CHECKPOINT_VERSION) => {}
            Some(other) => {
                return Err(format!(
                    "it has format version {other} and this build reads {CHECKPOINT_VERSION}; {advice}"
                ));
            }
            None => return Err("it states no format version".to_owned()),
        }
        let header: Header = serde_json::from_value(value).map_err(|error| error.to_string())?;
        if header.inputs != INPUT_VERSION {
            return Err(format!(
                "it is for input version {} and this build has {INPUT_VERSION}; {advice}, or train anew",
                header.inputs
            ));
        }
        Ok(header)
    }
}

fn invalid(path: &Path, problem: String) -> TrainError {
    TrainError::Checkpoint { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_average() -> Checkpoint {
        let shape = checkpoint().weights.shape().clone();
        let average = Weights::random(shape, Variant::Standard, 4).with_source("");
        Checkpoint { average: Some(average), ..checkpoint() }
    }

    fn checkpoint() -> Checkpoint {
        let random = |seed| Weights::random(Shape::mlp(&[16]).unwrap(), Variant::Standard, seed);
        Checkpoint {
            weights: random(1),
            mean: random(2).with_source(""),
            square: random(3).with_source(""),
            average: None,
            progress: Progress {
                iteration: 3,
                step: 17,
                steps: 117,
                samples: 1_000,
                recorded: 400,
                totals: Totals { loss: 1.0 / 3.0, wdl: 0.1, steps: 17.0, ..Totals::default() },
                basis: BTreeMap::from([("train.uses".to_owned(), "4.0".to_owned())]),
            },
        }
    }

    fn message(path: &Path) -> String {
        let error = Checkpoint::load(path).unwrap_err().to_string();
        assert!(error.contains("last.checkpoint"), "{error}");
        error
    }

    #[test]
    fn comes_back_as_it_was_and_makes_equal_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("last.checkpoint");
        with_average().save(&path).unwrap();
        assert_eq!(Checkpoint::load(&path).unwrap(), with_average());
        checkpoint().save(&path).unwrap();
        assert_eq!(Checkpoint::load(&path).unwrap(), checkpoint());
        let first = fs::read(&path).unwrap();
        checkpoint().save(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), first);
        // Nothing is left beside it.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn every_damage_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("last.checkpoint");
        assert!(message(&path).starts_with("cannot read "));
        let bytes = with_average().to_bytes().unwrap();
        for end in [0, 4, 8, 100, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..end]).unwrap();
            assert!(message(&path).contains("not a complete safetensors file"), "{end}");
        }
        let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        for at in (start..bytes.len()).step_by(bytes.len() / 50) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert!(message(&path).contains("checksum"), "byte {at}");
        }
        let mut poisoned = bytes.clone();
        let end = poisoned.len();
        poisoned[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        fs::write(&path, &poisoned).unwrap();
        assert!(message(&path).contains("NaN"));
    }

    #[test]
    fn foreign_files_and_other_shapes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("last.checkpoint");
        checkpoint().weights.save(&path).unwrap();
        assert!(message(&path).contains("it is no checkpoint"));
        let other = String::from_utf8_lossy(&checkpoint().to_bytes().unwrap()).into_owned();
        assert!(other.contains(r#"\"step\":17"#));
        for (found, changed, problem) in [
            (r#"\"step\":17"#, r#"\"step\":18"#, "checksum"),
            (r#"\"format\":2"#, r#"\"format\":9"#, "format version 9"),
            (r#"\"inputs\":2"#, r#"\"inputs\":7"#, "input version 7"),
        ] {
            let mut bytes = checkpoint().to_bytes().unwrap();
            let at = bytes.windows(found.len()).position(|w| w == found.as_bytes()).unwrap();
            bytes[at..at + found.len()].copy_from_slice(changed.as_bytes());
            fs::write(&path, &bytes).unwrap();
            assert!(message(&path).contains(problem), "{problem}");
        }
        checkpoint().save(&path).unwrap();
        let wanted = Shape::mlp(&[32]).unwrap();
        let refused = |shape: &Shape, variant| {
            Checkpoint::load_as(&path, shape, variant).unwrap_err().to_string()
        };
        let error = refused(&wanted, Variant::Standard);
        assert!(error.contains("436→16 where mlp 436→32 is wanted"), "{error}");
        let error = refused(checkpoint().weights.shape(), Variant::Rural);
        assert!(error.contains("the variant standard where rural is wanted"), "{error}");
    }
}
