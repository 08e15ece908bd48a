//! The journal of a tournament: JSON Lines, first the tournament, then one finished game a line.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::error::ArenaError;
use crate::game::ArenaGame;

/// The first line: what a tournament must share with the journal to go on from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Header<'a> {
    pub(crate) journal: &'static str,
    pub(crate) version: u32,
    pub(crate) players: &'a [String],
    pub(crate) pairings: &'a [[usize; 2]],
    pub(crate) pairs: usize,
    pub(crate) variant: String,
    pub(crate) rules: String,
    pub(crate) seed: u64,
    pub(crate) openings: &'a str,
}

/// An open journal; no other process can open it meanwhile.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens or begins a journal, and reads the games that it holds. A last line that was cut, as
    /// when the machine stopped while it was written, is removed from the file.
    pub(crate) fn open(
        path: &Path,
        header: &Header<'_>,
    ) -> Result<(Journal, Vec<ArenaGame>), ArenaError> {
        let io = |source| ArenaError::Io { path: path.to_owned(), source };
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(io)?;
        match fs4::FileExt::try_lock(&file) {
            Ok(()) => {}
            Err(fs4::TryLockError::WouldBlock) => return Err(ArenaError::InUse(path.to_owned())),
            Err(fs4::TryLockError::Error(error)) => return Err(io(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let first = line_of(header).map_err(io)?;
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        if whole == 0 && !first.starts_with(&bytes) {
            // Not ours: whatever it is, it stays as it is.
            let reason = "this is not the journal of a tournament".to_owned();
            return Err(ArenaError::Journal { path: path.to_owned(), line: 1, reason });
        }
        let games = read(path, &first, &bytes[..whole])?;
        file.set_len(whole as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        if whole == 0 {
            file.write_all(&first).map_err(io)?;
        }
        Ok((Journal { path: path.to_owned(), file }, games))
    }

    /// Appends a finished game, in one write: once this returns, the end of this process cannot
    /// lose it.
    pub(crate) fn append(&mut self, game: &ArenaGame) -> Result<(), ArenaError> {
        let written = line_of(game).and_then(|line| self.file.write_all(&line));
        written.map_err(|source| ArenaError::Io { path: self.path.clone(), source })
    }
}

fn line_of(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// The games of complete lines, once the first has been found to be ours.
fn read(path: &Path, ours: &[u8], bytes: &[u8]) -> Result<Vec<ArenaGame>, ArenaError> {
    let damaged =
        |line, reason: String| ArenaError::Journal { path: path.to_owned(), line, reason };
    let mut lines = bytes.split_inclusive(|&b| b == b'\n');
    let Some(first) = lines.next() else { return Ok(Vec::new()) };
    if first != ours {
        let theirs: Value =
            serde_json::from_slice(first).map_err(|error| damaged(1, error.to_string()))?;
        let ours: Value = serde_json::from_slice(ours).unwrap_or_default();
        if theirs["journal"] != ours["journal"] {
            return Err(damaged(1, "this is not the journal of a tournament".to_owned()));
        }
        if theirs != ours {
            let differences = differences(&theirs, &ours);
            return Err(ArenaError::OtherTournament { path: path.to_owned(), differences });
        }
    }
    let game =
        |(n, line)| serde_json::from_slice(line).map_err(|error| damaged(n + 2, error.to_string()));
    lines.enumerate().map(game).collect()
}

/// `pairs is 10 there and 20 here`, for every key that differs.
fn differences(theirs: &Value, ours: &Value) -> String {
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    let mut all = keys(ours);
    all.extend(keys(theirs).into_iter().filter(|key| ours.get(key).is_none()));
    all.retain(|key| theirs.get(key) != ours.get(key));
    let show = |value: Option<&Value>| value.map_or("missing".to_owned(), Value::to_string);
    let differs = all.iter().map(|key| {
        format!("{key} is {} there and {} here", show(theirs.get(key)), show(ours.get(key)))
    });
    differs.collect::<Vec<_>>().join("; ")
}
