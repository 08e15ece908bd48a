//! Files that are either whole or not there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file so that its name never stands for a part of it: beside the name, synced, then
/// renamed over it, and the folder synced. What a killed process leaves is `<name>.tmp`, which the
/// next try overwrites.
///
/// # Errors
/// Whatever the system says; the file is then as it was before.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link stays one, and what it leads to is replaced.
    let target = fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        // A device or a pipe cannot be replaced.
        return File::options().write(true).open(path)?.write_all(bytes);
    }
    let temporary = temporary(path);
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    sync_folder(path)
}

/// A file that grows piece by piece and stands under its name when it is whole: see
/// [`write_atomically`]. Dropped before [`commit`](AtomicFile::commit), it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    temporary: PathBuf,
    file: io::BufWriter<File>,
    committed: bool,
}

impl AtomicFile {
    /// Begins the file beside its name.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let temporary = temporary(path);
        let file = io::BufWriter::with_capacity(1 << 18, File::create(&temporary)?);
        Ok(AtomicFile { path: path.to_owned(), temporary, file, committed: false })
    }

    /// Gives the file its name, in place of what stood there.
    ///
    /// # Errors
    /// Whatever the system says; what stood under the name is then as it was.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        self.committed = true;
        sync_folder(&self.path)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl io::Seek for AtomicFile {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            // What could not be finished is only in the way, on a full disk above all.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}

/// Makes the rename last through a power failure.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// Folders cannot be opened as files here.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_file_has_no_name_until_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "old").unwrap();
        let write = |text: &str| {
            let mut file = AtomicFile::create(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"old");
            file
        };
        drop(write("half"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        write("new").commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // By way of a link, as this must not harm the device if it fails.
        let null = dir.path().join("null");
        std::os::unix::fs::symlink("/dev/full", &null).unwrap();
        assert_eq!(write_atomically(&null, b"new").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // A folder stands where the file is to go.
        let folder = dir.path().join("folder");
        fs::create_dir_all(folder.join("full")).unwrap();
        assert!(write_atomically(&folder, b"x").is_err());
        let mut names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "folder"]);
    }
}
