//! What makes a folder a libtorch that tch can use.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The one version that tch 0.26 accepts.
pub(crate) const VERSION: &str = "2.13.0";

/// Libraries that a binary needs, and the size in bytes below which a file cannot be whole.
const LIBRARIES: [(&str, u64); 2] = [("libtorch_cpu", 50_000_000), ("libc10", 200_000)];

/// A folder with `include` and `lib`, of the right version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Libtorch {
    /// The folder itself, every link on the way resolved.
    pub(crate) path: PathBuf,
    /// Whether it can compute on CUDA devices.
    pub(crate) cuda: bool,
}

impl Libtorch {
    /// Checks the folder: headers, libraries, version.
    ///
    /// # Errors
    /// The first thing that is wrong, as half a sentence that follows the name of the folder.
    pub(crate) fn at(folder: &Path) -> Result<Self> {
        let Ok(path) = folder.canonicalize() else {
            bail!("does not exist");
        };
        let include = path.join("include/torch/csrc/api/include/torch/torch.h");
        if !include.exists() {
            bail!("has no {}", include.strip_prefix(&path)?.display());
        }
        let lib = path.join("lib");
        for (name, least) in LIBRARIES {
            match fs::metadata(lib.join(library(name))) {
                Err(_) => bail!("has no lib/{}", library(name)),
                Ok(file) if file.len() < least => {
                    bail!("has a truncated lib/{} ({} bytes)", library(name), file.len())
                }
                Ok(_) => {}
            }
        }
        if !lib.join(library("libtorch")).exists() {
            bail!("has no lib/{}", library("libtorch"));
        }
        match version(&path) {
            Some(found) if found == VERSION => {}
            Some(found) => bail!("holds libtorch {found}, but tch wants {VERSION}"),
            None => bail!("does not say which version it is"),
        }
        let cuda = lib.join(library("libtorch_cuda")).exists();
        Ok(Self { path, cuda })
    }
}

/// File name of a shared library on this system.
fn library(name: &str) -> String {
    format!("{name}{}", std::env::consts::DLL_SUFFIX)
}

/// The version without its build tag (`2.13.0` for `2.13.0+cu130`), from the file that libtorch's
/// own archives carry or, in a Python package, from the header.
fn version(libtorch: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(libtorch.join("build-version")) {
        let text = text.trim();
        return Some(text.split_once('+').map_or(text, |(version, _)| version).to_owned());
    }
    let header = fs::read_to_string(libtorch.join("include/torch/headeronly/version.h"))
        .or_else(|_| {
            fs::read_to_string(libtorch.join("include/torch/csrc/api/include/torch/version.h"))
        })
        .ok()?;
    let number = |part: &str| {
        let start = format!("#define TORCH_VERSION_{part} ");
        let line = header.lines().find_map(|line| line.strip_prefix(&start))?;
        line.trim().parse::<u32>().ok()
    };
    Some(format!("{}.{}.{}", number("MAJOR")?, number("MINOR")?, number("PATCH")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that passes: sparse files have a size and no weight.
    fn good() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::File::create(path).unwrap()
        };
        at("include/torch/csrc/api/include/torch/torch.h");
        for (name, least) in LIBRARIES {
            at(&format!("lib/{}", library(name))).set_len(least).unwrap();
        }
        at(&format!("lib/{}", library("libtorch")));
        fs::write(folder.path().join("build-version"), "2.13.0+cpu\n").unwrap();
        folder
    }

    fn complaint(folder: &Path) -> String {
        Libtorch::at(folder).unwrap_err().to_string()
    }

    #[test]
    fn a_whole_folder_of_the_right_version_passes() {
        let folder = good();
        let libtorch = Libtorch::at(folder.path()).unwrap();
        assert_eq!(libtorch.path, folder.path().canonicalize().unwrap());
        assert!(!libtorch.cuda);
        fs::write(folder.path().join("lib").join(library("libtorch_cuda")), "").unwrap();
        assert!(Libtorch::at(folder.path()).unwrap().cuda);
    }

    #[test]
    fn a_python_package_says_its_version_in_a_header() {
        let folder = good();
        fs::remove_file(folder.path().join("build-version")).unwrap();
        assert_eq!(complaint(folder.path()), "does not say which version it is");
        let header = folder.path().join("include/torch/headeronly/version.h");
        fs::create_dir_all(header.parent().unwrap()).unwrap();
        let text = "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 13\n#define TORCH_VERSION_PATCH 0\n";
        fs::write(&header, text).unwrap();
        assert!(Libtorch::at(folder.path()).is_ok());
        fs::write(&header, text.replace("13", "12")).unwrap();
        assert_eq!(complaint(folder.path()), "holds libtorch 2.12.0, but tch wants 2.13.0");
    }

    #[test]
    fn each_missing_or_broken_part_is_named() {
        let folder = good();
        let lib = folder.path().join("lib");
        fs::write(folder.path().join("build-version"), "2.4.1").unwrap();
        assert!(complaint(folder.path()).contains("2.4.1"));
        fs::remove_file(lib.join(library("libtorch"))).unwrap();
        assert!(complaint(folder.path()).ends_with(&library("libtorch")));
        fs::write(lib.join(library("libtorch_cpu")), "half").unwrap();
        assert!(complaint(folder.path()).contains("truncated"));
        fs::remove_dir_all(folder.path().join("include")).unwrap();
        assert!(complaint(folder.path()).contains("torch.h"));
        assert_eq!(complaint(&lib.join("nowhere")), "does not exist");
    }
}
