use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};
use surakarta_record::AtomicFile;

use crate::error::DatasetError;

/// A file of an export, as its manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Its name in the folder.
    pub file: String,
    /// Rows of a table, or positions of arrays.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, as `sha256sum` prints it.
    pub sha256: String,
}

/// A file that is being written, with its checksum.
#[derive(Debug)]
pub(crate) struct OutFile {
    path: PathBuf,
    file: AtomicFile,
    hash: Sha256,
    bytes: u64,
}

impl OutFile {
    pub(crate) fn create(folder: &Path, name: &str) -> Result<OutFile, DatasetError> {
        let path = folder.join(name);
        let file = AtomicFile::create(&path).map_err(|error| unwritten(&path, error))?;
        Ok(OutFile { path, file, hash: Sha256::new(), bytes: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name.
    pub(crate) fn finish(self, rows: u64) -> Result<Exported, DatasetError> {
        let OutFile { path, file, hash, bytes } = self;
        file.commit().map_err(|error| unwritten(&path, error))?;
        let hash = hash.finalize();
        let name = path.file_name().expect("a name was joined").to_string_lossy().into_owned();
        let sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Exported { file: name, rows, bytes, sha256 })
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Why a file of an export was not made.
pub(crate) fn unwritten(path: &Path, reason: impl std::fmt::Display) -> DatasetError {
    DatasetError::Unwritten { path: path.to_owned(), reason: reason.to_string() }
}
