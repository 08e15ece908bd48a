//! The conversation with an engine, line by line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Who says a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// We, on the engine's standard input: `>`.
    Arena,
    /// The engine, on its standard output: `<`.
    Engine,
    /// The engine, on its standard error: `!`.
    Errors,
}

/// Where the lines go: a file if there is one, else the program's own messages. A line of the file is
/// the engine's process number, the seconds since its start, the direction and the text:
/// `4711 0.027 > go nodes 200`. Several engines may share a file.
pub(super) struct Log {
    file: Option<Mutex<File>>,
    process: u32,
    began: Instant,
}

impl Log {
    /// A log at the end of a file, which is made if it does not exist.
    pub(super) fn open(path: Option<&Path>) -> io::Result<Log> {
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        let file = path.map(open).transpose()?.map(Mutex::new);
        Ok(Log { file, process: 0, began: Instant::now() })
    }

    /// Takes down who the engine is.
    pub(super) fn begin(&mut self, process: u32, cmd: &str) {
        self.process = process;
        self.began = Instant::now();
        if self.file.is_some() {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let now = now.map_or(0, |time| time.as_secs());
            self.write(&format!("{process} 0.000 # {cmd}, at {now} s since 1970\n"));
        }
    }

    pub(super) fn line(&self, speaker: Speaker, text: &str) {
        let sign = match speaker {
            Speaker::Arena => '>',
            Speaker::Engine => '<',
            Speaker::Errors => '!',
        };
        let process = self.process;
        if self.file.is_some() {
            let seconds = self.began.elapsed().as_secs_f64();
            self.write(&format!("{process} {seconds:.3} {sign} {text}\n"));
        } else if speaker == Speaker::Errors {
            tracing::debug!("engine {process} {sign} {text}");
        } else {
            tracing::trace!("engine {process} {sign} {text}");
        }
    }

    /// One write a line: others may write to the same file.
    fn write(&self, line: &str) {
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = file.write_all(line.as_bytes()) {
                tracing::warn!("cannot write an engine's log: {error}");
            }
        }
    }
}
