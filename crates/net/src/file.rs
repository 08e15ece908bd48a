//! The files that weights live in: safetensors with metadata of ours.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use safetensors::tensor::{SafeTensorError, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use surakarta_game::Variant;

use crate::inputs::INPUT_VERSION;
use crate::quantised::QUANTISED_VERSION;
use crate::shape::Shape;
use crate::weights::InvalidWeights;

/// The version of the file's layout.
pub const FORMAT_VERSION: u64 = 1;

const ENTRY: &str = "surakarta";

/// The metadata of a file: one entry, `surakarta`, a JSON object. One, because the order of several
/// would differ from file to file: equal weights make equal bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// [`FORMAT_VERSION`].
    format: u64,
    /// [`QUANTISED_VERSION`] if the numbers are not those of f32 weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) quantised: Option<u64>,
    pub(crate) variant: String,
    /// [`INPUT_VERSION`].
    inputs: u32,
    pub(crate) shape: Shape,
    /// A free note.
    #[serde(default)]
    pub(crate) source: String,
    /// Over everything; a file that another program made may have none.
    #[serde(default)]
    pub(crate) checksum: Option<String>,
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
    /// f32 weights are wanted.
    #[error("it holds a quantised network; give the f32 weights that it was made from")]
    Quantised,
    /// A quantised network is wanted.
    #[error("it does not hold a quantised network; make one with `surakarta net quantise`")]
    NotQuantised,
    /// A quantised network of another build.
    #[error(
        "it is quantised in version {0} and this build has {QUANTISED_VERSION}; quantise the f32 weights anew"
    )]
    QuantisedVersion(u64),
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

impl Header {
    pub(crate) fn new(variant: Variant, shape: &Shape, source: &str, checksum: String) -> Header {
        Header {
            format: FORMAT_VERSION,
            quantised: None,
            variant: variant.name().to_owned(),
            inputs: INPUT_VERSION,
            shape: shape.clone(),
            source: source.to_owned(),
            checksum: Some(checksum),
        }
    }

    /// That of a file for this build.
    pub(crate) fn of(file: &[u8]) -> Result<Header, LoadProblem> {
        let (_, metadata) = SafeTensors::read_metadata(file)?;
        let header = Header::parse(metadata.metadata().as_ref().and_then(|m| m.get(ENTRY)))?;
        match header.inputs {
            INPUT_VERSION => Ok(header),
            other => Err(LoadProblem::Inputs(other)),
        }
    }

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

/// Whether a file is for the variant that is wanted.
pub(crate) fn expect_variant(
    path: &Path,
    found: Variant,
    wanted: Variant,
) -> Result<(), LoadError> {
    if found == wanted {
        return Ok(());
    }
    let problem = LoadProblem::OtherVariant { found, wanted };
    Err(LoadError { path: path.to_owned(), problem })
}

/// Writes the file beside its name (`NAME.tmp`), syncs it and renames it: a reader sees the old file or
/// the new one, never a part.
pub(crate) fn write_tensors<'a>(
    path: &Path,
    header: &Header,
    tensors: impl Iterator<Item = Result<(&'a str, TensorView<'a>), SafeTensorError>>,
) -> Result<(), SaveError> {
    let write = || {
        let metadata = HashMap::from([(ENTRY.to_owned(), serde_json::to_string(header)?)]);
        let tensors = tensors.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
        let bytes = safetensors::serialize(tensors, Some(metadata)).map_err(io::Error::other)?;
        // A link stays one, and what it leads to is replaced; a device or a pipe cannot be.
        let target = fs::canonicalize(path);
        let path = target.as_deref().unwrap_or(path);
        if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            return File::options().write(true).open(path)?.write_all(&bytes);
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(".tmp");
        let written = File::create(&beside).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&beside, path)
        });
        if written.is_err() {
            // The first error is the one to tell.
            let _ = fs::remove_file(&beside);
        }
        written?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Makes the new name itself durable.
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(|problem| SaveError { path: path.to_owned(), problem })
}
