//! The journal of a tournament: JSON Lines: first the tournament, then one finished game a line, and
//! where the players are not those of the last session, a line that says what they are.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adjudication::Adjudication;
use crate::error::ArenaError;
use crate::game::ArenaGame;
use crate::text::without_mark;

/// What the first line of a journal says that it is.
pub(crate) const JOURNAL: &str = "surakarta-arena";

/// The first line: what a tournament must share with the journal to go on from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Header<'a> {
    pub(crate) journal: &'static str,
    pub(crate) version: u32,
    pub(crate) players: &'a [String],
    pub(crate) pairings: &'a [[usize; 2]],
    /// Rounds of a Swiss tournament.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) swiss: Option<usize>,
    pub(crate) pairs: usize,
    pub(crate) variant: String,
    pub(crate) rules: String,
    pub(crate) seed: u64,
    pub(crate) openings: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) colors: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) adjudication: Option<&'a Adjudication>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from_start: Option<&'a [bool]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<String>,
}

/// A line that says who plays from here on: a stop and an upgrade may lie between two games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionLine {
    /// The version of this program.
    pub(crate) session: String,
    /// What each player is, in the order of the header: see [`Session::identities`](crate::Session).
    pub(crate) identities: Vec<String>,
}

/// How such a line begins.
const SESSION: &[u8] = b"{\"session\":";

/// What a journal holds beside its header.
#[derive(Default)]
pub(crate) struct Contents {
    /// Each game and its line.
    pub(crate) games: Vec<(usize, ArenaGame)>,
    pub(crate) sessions: Vec<SessionLine>,
}

/// An open journal; no other process can open it meanwhile.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    length: u64,
}

impl Journal {
    /// Opens or begins a journal, and reads the games that it holds. A last line that was cut, as
    /// when the machine stopped while it was written, is removed from the file.
    pub(crate) fn open(
        path: &Path,
        header: &Header<'_>,
    ) -> Result<(Journal, Contents), ArenaError> {
        let io = |source| ArenaError::Io { path: path.to_owned(), source };
        if path.exists() && !path.is_file() {
            return Err(ArenaError::NoFile(path.to_owned()));
        }
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
        if whole == 0 && !first.starts_with(without_mark(&bytes)) {
            // Not ours: whatever it is, it stays as it is.
            let reason = "this is not the journal of a tournament".to_owned();
            return Err(ArenaError::Journal { path: path.to_owned(), line: 1, reason });
        }
        let contents = read(path, &first, without_mark(&bytes[..whole]))?;
        file.set_len(whole as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut journal = Journal { path: path.to_owned(), file, length: whole as u64 };
        if whole == 0 {
            journal.write(&first)?;
        }
        Ok((journal, contents))
    }

    /// Appends a line, in one write: once this returns, the end of this process cannot lose it. Where
    /// it fails, as on a full disk, no part of the line is left.
    pub(crate) fn append(&mut self, line: &impl Serialize) -> Result<(), ArenaError> {
        let line = line_of(line).map_err(|source| self.io(source))?;
        self.write(&line)
    }

    fn write(&mut self, line: &[u8]) -> Result<(), ArenaError> {
        if let Err(source) = self.file.write_all(line) {
            // The next line must not stand behind a torn one; a cut last line is mended at opening.
            let whole = self.file.set_len(self.length);
            let _ = whole.and_then(|()| self.file.seek(SeekFrom::End(0)).map(drop));
            return Err(self.io(source));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Once this returns, the end of the machine cannot lose a game either.
    pub(crate) fn sync(&self) -> Result<(), ArenaError> {
        self.file.sync_data().map_err(|source| self.io(source))
    }

    fn io(&self, source: io::Error) -> ArenaError {
        ArenaError::Io { path: self.path.clone(), source }
    }
}

/// A value as one line of JSON.
pub(crate) fn line_of(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// The games of complete lines, once the first has been found to be ours.
fn read(path: &Path, ours: &[u8], bytes: &[u8]) -> Result<Contents, ArenaError> {
    let damaged =
        |line, reason: String| ArenaError::Journal { path: path.to_owned(), line, reason };
    let mut lines = bytes.split_inclusive(|&b| b == b'\n');
    let Some(first) = lines.next() else { return Ok(Contents::default()) };
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
    let mut contents = Contents::default();
    for (line, bytes) in (2..).zip(lines) {
        let bad = |error: serde_json::Error| damaged(line, error.to_string());
        if bytes.starts_with(SESSION) {
            contents.sessions.push(serde_json::from_slice(bytes).map_err(bad)?);
        } else {
            contents.games.push((line, serde_json::from_slice(bytes).map_err(bad)?));
        }
    }
    Ok(contents)
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
