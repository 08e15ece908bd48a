//! Python with the packages that notebooks need, beside the user's own and never among them.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::checkout;

/// The link in the checkout; `notebooks/execute.py` looks there.
const LINK: &str = ".python";

/// `python3 -m pip`, free of settings of the user's that contradict ours.
pub(crate) fn pip() -> Command {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--disable-pip-version-check", "--no-input"])
        .env("PIP_USER", "0")
        .env("PIP_REQUIRE_VIRTUALENV", "0");
    pip
}

/// What a failed Python said last, shortened to one line.
pub(crate) fn last_error(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next_back().unwrap_or("it did not say why");
    line.trim_start_matches("ERROR: ").chars().take(200).collect()
}

/// Checks that Python 3 and its pip are there.
pub(crate) fn require_pip() -> Result<()> {
    if Command::new("python3").arg("--version").output().is_err() {
        bail!(
            "There is no python3: install it (Debian: `apt install python3 python3-pip`) and try again"
        );
    }
    let answer = pip().arg("--version").output()?;
    if !answer.status.success() {
        bail!(
            "python3 has no pip: install it (Debian: `apt install python3-pip`; elsewhere `python3 -m ensurepip --user`) \
             and try again"
        );
    }
    Ok(())
}

/// Installs `notebooks/requirements.txt` for the `python3` at hand, unless that was done before.
/// Returns the folder, which is also linked as `.python`.
pub(crate) fn install() -> Result<PathBuf> {
    let requirements = checkout::root().join("notebooks/requirements.txt");
    let text = fs::read_to_string(&requirements)
        .with_context(|| format!("{} cannot be read", requirements.display()))?;
    let cache = checkout::cache()?;
    let folder = cache.join(format!("python-{}-{:016x}", version()?, digest(&text)));
    if !folder.exists() {
        require_pip()?;
        fill(&folder, &requirements)?;
    }
    checkout::link(LINK, &folder)?;
    eprintln!("Python packages for notebooks: {}", folder.display());
    Ok(folder)
}

/// Installs beside the folder and renames, so that the folder is whole if it exists.
fn fill(folder: &Path, requirements: &Path) -> Result<()> {
    eprintln!("Installing Python packages for notebooks with pip (about 140 MB to fetch).");
    let partial = folder.with_extension(format!("partial-{}", std::process::id()));
    let output = pip()
        .args(["install", "--quiet", "--only-binary", ":all:", "--target"])
        .arg(&partial)
        .arg("--requirement")
        .arg(requirements)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        // What is left of a failed try is only in the way.
        let _ = fs::remove_dir_all(&partial);
        bail!(
            "pip could not install {} ({}): check the network and try again",
            requirements.display(),
            last_error(&output.stderr)
        );
    }
    match fs::rename(&partial, folder) {
        // Another set-up was faster.
        Err(_) if folder.exists() => Ok(fs::remove_dir_all(&partial)?),
        done => done.with_context(|| format!("{} cannot be made", folder.display())),
    }
}

/// Version and processor of `python3`: compiled packages of one do not load in another.
fn version() -> Result<String> {
    const SAY: &str =
        "import sys, platform; print('%d.%d-%s' % (sys.version_info[:2] + (platform.machine(),)))";
    let output = Command::new("python3").args(["-c", SAY]).output().context(
        "There is no python3: install it (Debian: `apt install python3 python3-pip`) and try again",
    )?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Names a text. Another compiler may name it otherwise; then the packages are installed once more.
fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_what_counts() {
        let said = b"WARNING: slow\nERROR: No matching distribution found for torch==9\n\n";
        assert_eq!(last_error(said), "No matching distribution found for torch==9");
        assert_eq!(last_error(b"\n"), "it did not say why");
    }

    #[test]
    fn other_requirements_go_to_another_folder() {
        assert_eq!(digest("numpy==1"), digest("numpy==1"));
        assert_ne!(digest("numpy==1"), digest("numpy==2"));
    }
}
