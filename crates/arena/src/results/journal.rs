//! Reading the journal of a tournament, whoever wrote it and whether or not it is complete. Going on
//! with one: [`crate::journal`].

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{Results, ResultsError, check_names};
use crate::error::ArenaError;
use crate::game::ArenaGame;
use crate::journal::{JOURNAL, SessionLine};
use crate::text::without_mark;

const NO_JOURNAL: &str = "this is not the journal of a tournament; give a file that `surakarta match --journal` or `surakarta arena` has written";

/// The journal of a tournament, finished or not.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalFile {
    /// The file.
    pub path: PathBuf,
    /// The tournament.
    pub header: JournalHeader,
    /// What each player is, in the order of the header, session by session.
    pub identities: Vec<Vec<String>>,
    /// Finished games in the order of the schedule; of one that stands there twice, the first.
    pub games: Vec<ArenaGame>,
    /// Whether the last line was not written to its end, and is left out.
    pub cut: bool,
}

/// The first line of a journal, as far as a reader needs it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct JournalHeader {
    /// What the file is.
    journal: String,
    /// Names of the players.
    #[serde(default)]
    pub players: Vec<String>,
    /// The variant.
    #[serde(default)]
    pub variant: String,
    /// The rules.
    #[serde(default)]
    pub rules: String,
    /// Where the openings come from, in words.
    #[serde(default)]
    pub openings: String,
    /// The seed of all games.
    #[serde(default)]
    pub seed: Option<u64>,
}

impl JournalFile {
    /// Reads a journal. Lines about something else than a game or a session are passed over.
    ///
    /// # Errors
    /// If the file cannot be read or is no journal, or a line is damaged or plays an illegal move: one
    /// sentence with the file, the line, what is wrong and what to do.
    pub fn read(path: &Path) -> Result<JournalFile, ResultsError> {
        let bytes = std::fs::read(path)
            .map_err(|source| ResultsError::Io { path: path.to_owned(), source })?;
        JournalFile::parse(path, without_mark(&bytes))
    }

    /// The same of a file that has been read, without its mark.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<JournalFile, ResultsError> {
        let wrong = |line, reason| ResultsError::Line { path: path.to_owned(), line, reason };
        // A line counts once it has its end: the session that goes on drops it, too.
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let mut lines = bytes[..whole].split(|&b| b == b'\n').zip(1..);
        let first = lines.next().and_then(|(line, _)| serde_json::from_slice(line).ok());
        let header = first.filter(|header: &JournalHeader| header.journal == JOURNAL);
        let header = header.ok_or_else(|| wrong(1, NO_JOURNAL.to_owned()))?;
        let (mut games, mut identities): (Vec<ArenaGame>, _) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
            match Line::parse(line).map_err(|reason| wrong(number, reason))? {
                Line::Game(game) if seen.insert(game.key) => games.push(*game),
                Line::Session(session) => identities.push(session.identities),
                Line::Game(_) | Line::Other => {}
            }
        }
        games.sort_by_key(|game| game.key);
        let cut = whole < bytes.len();
        Ok(JournalFile { path: path.to_owned(), header, identities, games, cut })
    }
}

/// A line below the header.
enum Line {
    Game(Box<ArenaGame>),
    Session(SessionLine),
    Other,
}

impl Line {
    fn parse(line: &[u8]) -> Result<Line, String> {
        let damaged = |error| format!("not a line of a journal ({error}); mend it or take it out");
        let game: ArenaGame = match serde_json::from_slice(line) {
            Ok(game) => game,
            // Nearly all lines are games: what else it may be is asked only now.
            Err(error) => {
                let value: Value = serde_json::from_slice(line).map_err(damaged)?;
                return match value.as_object() {
                    Some(object) if object.contains_key("journal") => {
                        Err("another journal begins here; give each in a file of its own"
                            .to_owned())
                    }
                    Some(object) if object.contains_key("session") => {
                        serde_json::from_value(value).map(Line::Session).map_err(damaged)
                    }
                    Some(object) if !object.contains_key("black") => Ok(Line::Other),
                    _ => Err(damaged(error)),
                };
            }
        };
        check_names(&game.black, &game.white)?;
        let mut position = game.opening.start;
        for mv in game.moves() {
            if !position.is_legal(mv) {
                return Err(format!(
                    "{mv} is not a legal move in {position}; mend the line or take it out"
                ));
            }
            position = position.after(mv);
        }
        Ok(Line::Game(Box::new(game)))
    }
}

impl Results {
    /// Adds the games of a journal, and what its players were.
    ///
    /// # Errors
    /// If a game names a player that may not occur.
    pub fn add_journal(&mut self, journal: &JournalFile) -> Result<(), ArenaError> {
        let source = journal.path.display().to_string();
        self.add_from(&journal.games, &source)?;
        for identities in &journal.identities {
            for (name, identity) in journal.header.players.iter().zip(identities) {
                self.identities.entry(name.clone()).or_default().insert(identity.clone());
            }
        }
        let JournalHeader { variant, rules, .. } = &journal.header;
        let new = self.games_played.insert(format!("{variant}, {rules}"));
        if new && self.games_played.len() > 1 {
            self.notes.push(format!(
                "{source}: played as {variant}, {rules}, and other files are not: strength under one says little about the other; rate them apart"
            ));
        }
        if journal.cut {
            self.notes.push(format!(
                "{source}: the last line was not written to its end and is left out: the tournament was stopped, or still goes on"
            ));
        }
        Ok(())
    }
}
