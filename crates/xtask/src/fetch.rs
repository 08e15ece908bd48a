//! Puts a CPU libtorch into the cache folder, whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use indicatif::DecimalBytes;

use crate::libtorch::{Libtorch, VERSION};
use crate::progress::Progress;
use crate::python;
use crate::wheels::Packages;

/// Space taken at the worst moment: the packages, pip's second copy of them, what comes out.
const DISK: u64 = 2_000_000_000;

const EXTRACT: &str = include_str!("extract.py");

/// The folder in the cache that `fetch` fills.
pub(crate) fn destination(cache: &Path) -> PathBuf {
    cache.join(format!("libtorch-{VERSION}-cpu-{}", std::env::consts::ARCH))
}

/// Fetches, extracts, checks, and only then gives the folder its name.
pub(crate) fn fetch(cache: &Path) -> Result<Libtorch> {
    let packages = Packages::here()?;
    python::require_pip()?;
    let destination = destination(cache);
    let lock = File::create(cache.join("libtorch.lock"))?;
    if fs4::FileExt::try_lock(&lock).is_err() {
        eprintln!("Waiting for another set-up to finish.");
        fs4::FileExt::lock(&lock)?;
    }
    if let Ok(libtorch) = Libtorch::at(&destination) {
        return Ok(libtorch);
    }
    require_disk(cache)?;

    let name = destination.file_name().unwrap_or_default();
    let beside = |end: &str| destination.with_file_name(join(name, end));
    let (partial, downloads) = (beside(".partial"), beside(".wheels"));
    remove(&partial)?;
    let wheels = packages.fetch(&downloads)?;
    fs::create_dir_all(&partial)?;
    if let Err(error) = extract(&partial, &wheels) {
        // Broken packages must not be found again by the next try.
        remove(&partial)?;
        remove(&downloads)?;
        return Err(error);
    }
    if let Err(wrong) = Libtorch::at(&partial) {
        bail!("What was fetched {wrong}: report this as a bug");
    }
    remove(&destination)?;
    fs::rename(&partial, &destination)?;
    File::open(cache)?.sync_all()?;
    remove(&downloads)?;
    Libtorch::at(&destination)
        .with_context(|| format!("{} vanished: try again", destination.display()))
}

fn join(name: &OsStr, end: &str) -> std::ffi::OsString {
    let mut name = name.to_owned();
    name.push(end);
    name
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| {
            format!("{} is in the way and cannot be removed: remove it", folder.display())
        })?;
    }
    Ok(())
}

fn require_disk(cache: &Path) -> Result<()> {
    let free = fs4::available_space(cache)?;
    if free < DISK {
        bail!(
            "{} has {} free and libtorch takes {} while it is unpacked: free some space, \
             or set XDG_CACHE_HOME to a folder on another disk",
            cache.display(),
            DecimalBytes(free),
            DecimalBytes(DISK)
        );
    }
    Ok(())
}

/// Runs `extract.py`, showing how far it is.
fn extract(out: &Path, wheels: &[PathBuf]) -> Result<()> {
    let mut python = Command::new("python3")
        .args(["-I", "-c", EXTRACT])
        .arg(out)
        .args(wheels)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut progress = None;
    if let Some(stdout) = python.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            match line?.split_once(' ') {
                Some(("total", bytes)) => {
                    progress = Some(Progress::new("Unpacking", bytes.parse()?));
                }
                Some(("done", bytes)) => {
                    if let Some(progress) = &mut progress {
                        progress.set(bytes.parse()?);
                    }
                }
                _ => {}
            }
        }
    }
    let mut said = Vec::new();
    if let Some(mut stderr) = python.stderr.take() {
        stderr.read_to_end(&mut said)?;
    }
    if let Some(progress) = progress {
        progress.finish();
    }
    if !python.wait()?.success() {
        bail!(
            "The libtorch packages could not be unpacked ({}): try again",
            python::last_error(&said)
        );
    }
    Ok(())
}
