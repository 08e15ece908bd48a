//! A report: one HTML file about runs and tournaments that opens anywhere and fetches nothing.
//!
//! Charts and tables are made here and need no program in the page; the board that replays games has
//! one, `board.js`, which reads the games from an element of the page. The same inputs give the same
//! bytes.

mod board;
mod chart;
mod estimate;
mod learning;
mod openings;
mod page;
mod ratings;
mod replay;
mod results;
mod route;
mod rows;
mod source;
mod viewer;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::directory::write_file;

/// Games that a page can replay unless more or fewer are asked for.
pub const DEFAULT_GAMES: usize = 2000;

/// Writes the report on the folders of runs and the journals of tournaments, several of them compared
/// in the same charts. At most `games` games can be replayed, evenly chosen.
///
/// # Errors
/// If an input is missing, damaged or neither, or the file cannot be written; the message names it.
pub fn write(inputs: &[PathBuf], out: &Path, games: usize) -> Result<()> {
    if inputs.iter().any(|input| {
        input.canonicalize().ok().is_some_and(|real| out.canonicalize().ok() == Some(real))
    }) {
        bail!("{} is what the report is about; give another file with --out", out.display());
    }
    if out.is_dir() {
        bail!("{} is a folder; give a file with --out", out.display());
    }
    let sources = source::read_all(inputs)?;
    let page = page::page(&sources, games)?;
    write_file(out, page.as_bytes())
}

/// Where a report goes unless told otherwise: into the folder of the run, beside the journal, or for
/// several inputs into the working directory.
pub fn default_path(inputs: &[PathBuf]) -> PathBuf {
    match inputs {
        [folder] if folder.is_dir() => folder.join("report.html"),
        [journal] => journal.with_extension("html"),
        _ => PathBuf::from("report.html"),
    }
}
