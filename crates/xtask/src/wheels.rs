//! Which packages libtorch comes in, and fetching them with pip.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use indicatif::DecimalBytes;

use crate::libtorch::VERSION;
use crate::progress::Progress;
use crate::python;

/// The packages of one kind of machine.
pub(crate) struct Packages {
    /// As in `uname -m`, and in the names of the files.
    pub(crate) architecture: &'static str,
    /// Sum of their sizes in bytes.
    pub(crate) bytes: u64,
}

/// Their names, for pip. The last two are small; torch's libraries name theirs even on the CPU.
const REQUIREMENTS: [&str; 3] =
    ["torch==2.13.0", "nvidia-cuda-runtime==13.0.*", "nvidia-cuda-cupti==13.0.*"];

const KNOWN: [Packages; 2] = [
    Packages { architecture: "x86_64", bytes: 539_534_190 },
    Packages { architecture: "aarch64", bytes: 439_782_885 },
];

impl Packages {
    /// Those of this machine.
    pub(crate) fn here() -> Result<&'static Self> {
        let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
        KNOWN
            .iter()
            .find(|packages| system == "linux" && packages.architecture == architecture)
            .with_context(|| {
                format!(
                    "Set-up knows no libtorch for {system} on {architecture}: install PyTorch {VERSION} \
                     with `python3 -m pip install torch=={VERSION}`, or set LIBTORCH to a libtorch {VERSION}, and try again"
                )
            })
    }

    /// Fetches into `folder`, where whole files of an earlier, interrupted try are used again.
    /// Returns the files.
    pub(crate) fn fetch(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let unfinished = folder.join("unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        eprintln!(
            "Fetching libtorch {VERSION} for the CPU with pip ({}): {}.",
            DecimalBytes(self.bytes),
            REQUIREMENTS.join(", ")
        );
        let mut pip = python::pip();
        pip.args(["download", "--quiet", "--no-deps", "--no-cache-dir"])
            .args(["--progress-bar", "off", "--only-binary", ":all:"])
            // The libraries are the same for every Python: ask for one, whichever this machine has.
            .args(["--implementation", "cp", "--python-version", "3.12", "--abi", "cp312"]);
        for platform in ["manylinux_2_28", "manylinux_2_25", "manylinux_2_17", "manylinux2014"] {
            pip.arg("--platform").arg(format!("{platform}_{}", self.architecture));
        }
        pip.arg("--dest")
            .arg(folder)
            .args(REQUIREMENTS)
            // pip unpacks beside its target, not in /tmp, which may be small.
            .env("TMPDIR", &unfinished);
        watch(&mut pip, folder, self.bytes)?;
        fs::remove_dir_all(&unfinished)?;
        let mut wheels: Vec<_> = sizes(folder).into_keys().map(|name| folder.join(name)).collect();
        wheels.retain(|path| path.extension().is_some_and(|end| end == "whl"));
        if wheels.len() != REQUIREMENTS.len() {
            bail!(
                "{} holds {} packages where {} belong: remove it and try again",
                folder.display(),
                wheels.len(),
                REQUIREMENTS.len()
            );
        }
        Ok(wheels)
    }
}

/// Runs pip to its end, showing how much has arrived.
fn watch(pip: &mut Command, folder: &Path, bytes: u64) -> Result<()> {
    let mut pip =
        pip.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().context(
            "python3 does not start: install Python 3 (Debian: `apt install python3 python3-pip`)",
        )?;
    // pip says little with --quiet: the pipe cannot fill before it ends.
    let mut progress = Progress::new("Fetching", bytes);
    while pip.try_wait()?.is_none() {
        progress.set(sizes(folder).values().sum());
        thread::sleep(Duration::from_millis(200));
    }
    let output = pip.wait_with_output()?;
    progress.finish();
    if !output.status.success() {
        bail!(
            "pip could not fetch libtorch ({}): check the network (behind a proxy, set HTTPS_PROXY) and try again",
            python::last_error(&output.stderr)
        );
    }
    Ok(())
}

/// Size of every file below `folder` by its name: pip has a file twice while it moves it.
fn sizes(folder: &Path) -> BTreeMap<String, u64> {
    let mut sizes = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        // Files come and go while pip works.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.file_name().to_string_lossy().into_owned();
                let size = sizes.entry(name).or_insert(0);
                *size = data.len().max(*size);
            }
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_twice_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("unfinished/x")).unwrap();
        fs::write(folder.path().join("a.whl"), [0; 10]).unwrap();
        fs::write(folder.path().join("unfinished/x/a.whl"), [0; 30]).unwrap();
        fs::write(folder.path().join("b.whl"), [0; 5]).unwrap();
        assert_eq!(sizes(folder.path()).values().sum::<u64>(), 35);
    }

    #[test]
    fn the_version_asked_for_is_the_one_that_is_checked() {
        assert_eq!(REQUIREMENTS[0], format!("torch=={VERSION}"));
    }
}
