//! What commands print on stdout.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use surakarta_arena::ArenaError;

/// Prints a text. Unlike `print!` it returns the error of a reader that has gone.
pub(crate) fn print(text: impl std::fmt::Display) -> anyhow::Result<()> {
    write!(io::stdout().lock(), "{text}").context("standard output takes no more")
}

/// Prints a text and a line end.
pub(crate) fn line(text: impl std::fmt::Display) -> anyhow::Result<()> {
    print(format_args!("{text}\n"))
}

/// Prints a value as one line of JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    line(serde_json::to_string(value)?)
}

/// Whether the error says that nobody reads our output any more; a pipe that was named as a file is
/// another matter.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken) && !error.chain().any(|cause| cause.is::<ArenaError>())
}

/// Says something on stderr, if anybody listens: unlike `eprintln!` it never panics.
pub(crate) fn say(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Makes the folder that results go to.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    if path.exists() && !path.is_dir() {
        bail!("{} is not a folder; name a folder for the results", path.display());
    }
    std::fs::create_dir_all(path)
        .with_context(|| format!("cannot make the folder {}", path.display()))
}

/// Whether files can be written that a command will write when its work is done, and are neither each
/// other nor what it reads. Each has the name that the user knows it by.
pub(crate) fn check_files(
    inputs: &[(&str, Option<&Path>)],
    outputs: &[(&str, Option<&Path>)],
) -> anyhow::Result<()> {
    let mut seen: Vec<(PathBuf, &str)> = Vec::new();
    for (name, path) in inputs {
        if let Some(path) = path {
            seen.push((place(path), name));
        }
    }
    for (name, path) in outputs {
        let Some(path) = path else { continue };
        if path.is_dir() {
            bail!("{name} {} is a folder; name a file", path.display());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!(
                "{name} {}: there is no folder {}; make it first",
                path.display(),
                folder.display()
            );
        }
        let place = place(path);
        if let Some((_, other)) = seen.iter().find(|(known, _)| *known == place) {
            bail!("{name} {} is {other}, too; name another file", path.display());
        }
        seen.push((place, name));
    }
    Ok(())
}

/// The same for the same file, whether it exists or not.
fn place(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = || {
        let folder = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}
