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
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

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
    /// Opens a file, to go on at its end, or a pipe, whose reader is waited for.
    ///
    /// # Errors
    /// If it cannot be opened, or `stop` turns true before a pipe has a reader.
    #[cfg_attr(not(unix), expect(unused_variables))]
    pub fn open(path: &Path, stop: &AtomicBool) -> Result<Events, ArenaError> {
        #[cfg(unix)]
        let file = if is_pipe(path) { open_pipe(path, stop) } else { open_file(path) };
        #[cfg(not(unix))]
        let file = open_file(path);
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

fn open_file(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).open(path)
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;

    path.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

/// Opening it in the usual way would wait for its reader whatever happens.
#[cfg(unix)]
fn open_pipe(path: &Path, stop: &AtomicBool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::Duration;

    use rustix::fs::{OFlags, fcntl_setfl};
    use rustix::io::Errno;

    /// The time between two looks whether there is a reader.
    const LOOK: Duration = Duration::from_millis(20);

    let mut options = File::options();
    options.write(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    loop {
        match options.open(path) {
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {}
            file => {
                let file = file?;
                // Writing waits for a slow reader again.
                fcntl_setfl(&file, OFlags::empty())?;
                return Ok(file);
            }
        }
        if stop.load(Relaxed) {
            return Err(io::Error::other("stopped before anybody read from this pipe"));
        }
        std::thread::sleep(LOOK);
    }
}
