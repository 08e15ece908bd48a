//! What commands print on stdout.

use std::io::{self, Write};

use anyhow::Context;

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

/// Whether the error says that nobody reads our output any more.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Makes the folder that results go to.
pub(crate) fn make_folder(path: &std::path::Path) -> anyhow::Result<()> {
    if path.exists() && !path.is_dir() {
        anyhow::bail!("{} is not a folder; name a folder for the results", path.display());
    }
    std::fs::create_dir_all(path)
        .with_context(|| format!("cannot make the folder {}", path.display()))
}
