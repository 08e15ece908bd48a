//! A program that is spoken to by lines.

use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use surakarta_game::Ending;
use surakarta_search::EngineSpec;

use super::group::Group;
use super::log::{Log, Speaker};
use super::{EngineError, Fault};

/// Bytes that an engine may write to answer one question.
const FLOOD: u64 = 16 << 20;

/// Lines of output that wait to be read; then the engine has to.
const WAITING: usize = 256;

/// Bytes of standard error that are logged; what follows is read and dropped.
const COMPLAINTS: u64 = 1 << 20;

/// How long an engine that was asked to quit may take.
const FAREWELL: Duration = Duration::from_millis(500);

/// The time between two looks whether the engine still lives.
const LOOK: Duration = Duration::from_millis(50);

/// How long the reason of an end is waited for.
const INQUEST: Duration = Duration::from_millis(200);

/// What comes from an engine.
enum Heard {
    Line(String),
    Flood,
}

/// A running engine. It is killed, with whatever it has started, when this is dropped.
pub(super) struct Process {
    group: Group,
    /// Lines to be written. Writing has a thread of its own: an engine may not read.
    input: Option<Sender<String>>,
    output: Receiver<Heard>,
    /// Bytes of output since the last question.
    written: Arc<AtomicU64>,
    /// The last line of standard error, and the thread that reads it.
    complaint: Arc<Mutex<String>>,
    errors: JoinHandle<()>,
    log: Arc<Log>,
}

impl Process {
    /// Starts the program. Longer lines than `longest` bytes are no lines of the protocol: they are
    /// dropped.
    pub(super) fn start(spec: &EngineSpec, longest: usize) -> Result<Process, EngineError> {
        let words = spec.words();
        let (program, arguments) = words.split_first().ok_or_else(|| EngineError::Start {
            cmd: spec.cmd.clone(),
            source: io::ErrorKind::InvalidInput.into(),
        })?;
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &spec.dir {
            if !dir.is_dir() {
                let (cmd, dir) = (spec.cmd.clone(), dir.clone());
                return Err(EngineError::NoFolder { cmd, dir });
            }
            command.current_dir(dir);
        }
        let mut log = Log::open(spec.log.as_deref()).map_err(|source| EngineError::Log {
            path: spec.log.clone().unwrap_or_default(),
            source,
        })?;
        let failed = |source| EngineError::Start { cmd: spec.cmd.clone(), source };
        let mut group = Group::start(command).map_err(failed)?;
        let child = group.child();
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(io::Error::other("it has no standard input and output")));
        };
        log.begin(child.id(), &spec.cmd);
        let log = Arc::new(log);
        let (input, lines) = channel();
        std::thread::spawn(move || write_lines(stdin, &lines));
        let (heard, output) = sync_channel(WAITING);
        let written = Arc::new(AtomicU64::new(0));
        let complaint = Arc::new(Mutex::new(String::new()));
        std::thread::spawn({
            let (log, written) = (log.clone(), written.clone());
            move || read_answers(stdout, longest, &written, &log, &heard)
        });
        let errors = std::thread::spawn({
            let (log, complaint) = (log.clone(), complaint.clone());
            move || read_complaints(stderr, &complaint, &log)
        });
        Ok(Process { group, input: Some(input), output, written, complaint, errors, log })
    }

    /// Says a line. Whether it arrives shows in the answer.
    pub(super) fn say(&mut self, line: &str) {
        self.log.line(Speaker::Arena, line);
        self.written.store(0, Relaxed);
        if let Some(input) = &self.input {
            let _ = input.send(format!("{line}\n"));
        }
    }

    /// The next line that the engine says, or `None` if there is none until then.
    pub(super) fn hear(&mut self, until: Instant) -> Result<Option<String>, Fault> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // Looked at first: what it has said before its end arrives nevertheless.
            let ended = self.group.has_ended();
            match self.output.recv_timeout(left.min(LOOK)) {
                Ok(Heard::Line(line)) => return Ok(Some(line)),
                Ok(Heard::Flood) => {
                    return Err(Fault {
                        ending: Ending::IllegalMove,
                        reason: format!("it wrote more than {} MiB, not an answer", FLOOD >> 20),
                    });
                }
                // Its children may keep its output open.
                Err(RecvTimeoutError::Timeout) if ended => return Err(self.crash()),
                Err(RecvTimeoutError::Timeout) if left <= LOOK => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.crash()),
            }
        }
    }

    fn crash(&mut self) -> Fault {
        Fault { ending: Ending::Crash, reason: self.inquest() }
    }

    /// Leaves what the engine has said unheard.
    pub(super) fn drain(&mut self) -> Result<(), Fault> {
        while self.hear(Instant::now())?.is_some() {}
        Ok(())
    }

    /// Why there is no more output.
    fn inquest(&mut self) -> String {
        let end = if self.ends_within(INQUEST) {
            self.group.end().map_or_else(|error| error.to_string(), describe)
        } else {
            "it closed its standard output".to_owned()
        };
        let until = Instant::now() + INQUEST;
        while !self.errors.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        if complaint.is_empty() { end } else { format!("{end}; its last words: {complaint}") }
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            if self.group.has_ended() {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Says goodbye, and kills what does not go.
    pub(super) fn quit(mut self) {
        self.say("quit");
        self.input = None;
        self.ends_within(FAREWELL);
    }
}

fn describe(status: ExitStatus) -> String {
    if status.success() {
        "it has ended by itself".to_owned()
    } else {
        format!("it has ended by itself ({status})")
    }
}

fn write_lines(mut to: impl Write, lines: &Receiver<String>) {
    for line in lines {
        // An engine that has gone shows by its output.
        if to.write_all(line.as_bytes()).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn read_answers(
    from: impl Read,
    longest: usize,
    written: &AtomicU64,
    log: &Log,
    heard: &SyncSender<Heard>,
) {
    let done = read_lines(from, longest, |bytes, line| {
        if let Some(line) = line {
            log.line(Speaker::Engine, line);
            return heard.send(Heard::Line(line.to_owned())).is_ok();
        }
        if written.fetch_add(bytes, Relaxed) + bytes > FLOOD {
            log.line(Speaker::Engine, "(more than anybody reads)");
            let _ = heard.send(Heard::Flood);
            return false;
        }
        true
    });
    if let Err(error) = done {
        log.line(Speaker::Engine, &format!("({error})"));
    }
}

fn read_complaints(from: impl Read, last: &Mutex<String>, log: &Log) {
    let mut total = 0;
    // What a program that has ended leaves unread is lost to nobody.
    let _ = read_lines(from, 1000, |bytes, line| {
        total += bytes;
        if let Some(line) = line
            && total <= COMPLAINTS
        {
            log.line(Speaker::Errors, line);
            if !line.trim().is_empty() {
                line.trim().clone_into(&mut last.lock().unwrap_or_else(PoisonError::into_inner));
            }
        }
        true
    });
}

/// Reads to the end, or until `take` has enough. It gets the size of every piece that arrives, then
/// each line that it completes, without its end; lines of more than `longest` bytes are left out, and
/// so is what follows the last end of a line. No more than one line is kept.
fn read_lines(
    mut from: impl Read,
    longest: usize,
    mut take: impl FnMut(u64, Option<&str>) -> bool,
) -> io::Result<()> {
    let mut piece = [0; 4096];
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let length = match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if !take(length as u64, None) {
            return Ok(());
        }
        for &byte in &piece[..length] {
            if byte != b'\n' {
                too_long = too_long || line.len() == longest;
                if !too_long {
                    line.push(byte);
                }
                continue;
            }
            let text = String::from_utf8_lossy(&line);
            if !too_long && !take(0, Some(text.trim_end_matches('\r'))) {
                return Ok(());
            }
            line.clear();
            too_long = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], longest: usize) -> (Vec<String>, u64) {
        let (mut lines, mut total) = (Vec::new(), 0);
        read_lines(bytes, longest, |bytes, line| {
            total += bytes;
            lines.extend(line.map(str::to_owned));
            true
        })
        .unwrap();
        (lines, total)
    }

    #[test]
    fn lines_have_ends_and_a_greatest_length() {
        let (found, total) = lines(b"one\r\n\nthree\nfour4\n\xff\nhalf", 5);
        assert_eq!(found, ["one", "", "three", "four4", "\u{fffd}"]);
        assert_eq!(total, 24);
        let (found, _) = lines(&[&[b'x'; 10_000], b"\nshort\n".as_slice()].concat(), 255);
        assert_eq!(found, ["short"]);
        assert_eq!(lines(b"123456\n12345\n", 5).0, ["12345"]);
    }
}
