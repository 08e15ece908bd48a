//! The event stream: JSON Lines that another program can follow live.
//!
//! Each line is an object with the key `event`:
//!
//! | event | keys |
//! |---|---|
//! | `begin` | `players`, `games` (scheduled), `resumed` (finished before) |
//! | `game` | `game` (pair, pairing, swapped), `black`, `white`, `opening` (start, moves) |
//! | `ply` | `game`, `ply` (0 the first after the opening), `move`, `us`, and what the player said: `value` (seen by the mover), `simulations`, `nodes`, `evaluations` |
//! | `result` | `game`, `black`, `white`, `result` (as seen by Black), `ending`, `fault`, `done`, `total` |
//! | `finish` | `complete`, `verdict` |

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;

use crate::error::ArenaError;
use crate::game::{ArenaGame, ArenaPly, GameKey};
use crate::opening::Opening;
use crate::progress::Progress;

/// Something that happened.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event<'a> {
    Begin {
        players: &'a [String],
        games: usize,
        resumed: usize,
    },
    Game {
        game: GameKey,
        black: &'a str,
        white: &'a str,
        opening: &'a Opening,
    },
    Ply {
        game: GameKey,
        ply: usize,
        #[serde(flatten)]
        made: &'a ArenaPly,
    },
    Result {
        game: GameKey,
        black: &'a str,
        white: &'a str,
        result: &'static str,
        ending: &'a str,
        fault: Option<&'a str>,
        done: usize,
        total: usize,
    },
    Finish {
        complete: bool,
        verdict: Option<&'a str>,
    },
}

impl<'a> Event<'a> {
    pub(crate) fn result(game: &'a ArenaGame, progress: &Progress) -> Event<'a> {
        Event::Result {
            game: game.key,
            black: &game.black,
            white: &game.white,
            result: crate::text::outcome::name(game.outcome),
            ending: game.ending.name(),
            fault: game.fault.as_deref(),
            done: progress.done,
            total: progress.total,
        }
    }
}

/// A file or a pipe that events are written to, each as it happens.
pub struct Events {
    path: PathBuf,
    to: Mutex<File>,
}

impl Events {
    /// Opens a file, to go on at its end, or a pipe.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Events, ArenaError> {
        let file = File::options().append(true).create(true).open(path);
        let to = file.map_err(|source| ArenaError::Io { path: path.to_owned(), source })?;
        Ok(Events { path: path.to_owned(), to: Mutex::new(to) })
    }

    /// Writes one line.
    pub(crate) fn send(&self, event: &Event<'_>) -> Result<(), ArenaError> {
        let mut file = self.to.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let line = crate::journal::line_of(event);
        line.and_then(|line| file.write_all(&line))
            .map_err(|source| ArenaError::Io { path: self.path.clone(), source })
    }
}
