//! Folders that are whole or not there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::DatasetError;

/// A folder that is filled beside its name, as `<name>.partial`, and gets it when everything is in it.
/// Dropped before that, it leaves nothing; what a killed process leaves, the next try removes.
#[derive(Debug)]
pub(crate) struct NewFolder {
    path: PathBuf,
    partial: PathBuf,
    finished: bool,
}

impl NewFolder {
    /// Begins a folder, which must not be there, or be empty.
    pub(crate) fn create(path: &Path) -> Result<NewFolder, DatasetError> {
        match fs::read_dir(path) {
            Ok(mut entries) => {
                if entries.next().is_some() {
                    return Err(DatasetError::Occupied { path: path.to_owned() });
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(DatasetError::io(path, "make the folder")(error)),
        }
        let mut name = path.components().as_path().as_os_str().to_owned();
        name.push(".partial");
        let partial = PathBuf::from(name);
        match fs::remove_dir_all(&partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(DatasetError::io(&partial, "remove what is left of an earlier try")(
                    error,
                ));
            }
            _ => {}
        }
        fs::create_dir_all(&partial).map_err(DatasetError::io(&partial, "make the folder"))?;
        Ok(NewFolder { path: path.to_owned(), partial, finished: false })
    }

    /// Where its files go for now.
    pub(crate) fn partial(&self) -> &Path {
        &self.partial
    }

    /// A folder in it.
    pub(crate) fn inner(&self, name: &str) -> Result<PathBuf, DatasetError> {
        let path = self.partial.join(name);
        fs::create_dir(&path).map_err(DatasetError::io(&path, "make the folder"))?;
        Ok(path)
    }

    /// Gives it its name.
    pub(crate) fn finish(mut self) -> Result<(), DatasetError> {
        // Some systems do not rename over an empty folder.
        let _ = fs::remove_dir(&self.path);
        fs::rename(&self.partial, &self.path)
            .map_err(DatasetError::io(&self.path, "make the folder"))?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_no_name_until_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out/");
        let folder = NewFolder::create(&path).unwrap();
        fs::write(folder.inner("train").unwrap().join("a"), "").unwrap();
        assert!(!path.exists());
        drop(folder);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

        // What a killed process left.
        fs::create_dir_all(dir.path().join("out.partial/old")).unwrap();
        let folder = NewFolder::create(&path).unwrap();
        fs::write(folder.partial().join("a"), "").unwrap();
        folder.finish().unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
        let error = NewFolder::create(&path).unwrap_err();
        assert!(error.to_string().contains("is there and not empty"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_no_folder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "x").unwrap();
        assert!(NewFolder::create(&path).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }
}
