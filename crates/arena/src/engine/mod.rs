//! Other programs as players, over two protocols.
//!
//! Whatever a program does, its game ends by `crash`, `time` or `illegal-move` at worst, it is killed
//! with everything that it has started, and the next game begins with a new process.

mod contest;
mod group;
mod log;
mod process;
mod ugi;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use surakarta_game::{Color, Ending, Game, RuleSet, Variant};
use surakarta_search::{Choice, EngineSpec, Limits, Player, PlayerError, Protocol};

pub use contest::{contest_move, contest_text};
pub use ugi::{centipieces, value_of_centipieces};

use contest::Contest;
use ugi::Ugi;

/// The longest wait for a move, whatever the limits: the system's clock has an end.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The time between two looks whether a start is to be given up.
const LOOK: Duration = Duration::from_millis(20);

/// A program cannot be used as a player.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It does not start.
    #[error("cannot start the engine `{cmd}`: {source}; check the command line")]
    Start {
        /// Its command line.
        cmd: String,
        /// What the system said.
        source: io::Error,
    },
    /// The folder that it is to run in does not exist.
    #[error("the engine `{cmd}` is to run in {dir}, which is not a folder; correct dir")]
    NoFolder {
        /// Its command line.
        cmd: String,
        /// The folder.
        dir: PathBuf,
    },
    /// The log cannot be written.
    #[error("cannot write the engine's log {path}: {source}")]
    Log {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It starts, and does not answer as the protocol asks.
    #[error("the engine `{cmd}` does not answer by the {protocol} protocol: {reason}")]
    Protocol {
        /// Its command line.
        cmd: String,
        /// The protocol's name.
        protocol: &'static str,
        /// What it does instead.
        reason: String,
    },
    /// It has no such option.
    #[error("the engine `{cmd}` has no option `{option}`; its options are {options}")]
    Option {
        /// Its command line.
        cmd: String,
        /// The option's name.
        option: String,
        /// What there is, separated by commas.
        options: String,
    },
    /// Its start was given up.
    #[error("stopped before the engine `{cmd}` had started")]
    Stopped {
        /// Its command line.
        cmd: String,
    },
}

/// What an engine has lost its game by.
#[derive(Debug)]
struct Fault {
    ending: Ending,
    reason: String,
}

/// How long a move may take until the engine counts as lost, and the limits that it is told.
#[derive(Clone, Copy)]
struct Patience {
    limits: Limits,
    wait: Duration,
}

/// A program that plays. It is started for the first game.
pub struct Engine {
    spec: EngineSpec,
    variant: Variant,
    rules: RuleSet,
    talk: Option<Talk>,
    /// What went wrong before the first move of the game.
    fault: Option<Fault>,
}

/// A running program.
enum Talk {
    Ugi(Ugi),
    Contest(Contest),
}

impl Engine {
    /// The player of a variant under these rules; nothing is started yet.
    pub fn new(spec: EngineSpec, variant: Variant, rules: RuleSet) -> Engine {
        Engine { spec, variant, rules, talk: None, fault: None }
    }

    /// Starts the program and ends it again; what it objects to is logged. Returns its identity: the
    /// name that it gives itself and the XXH3 hashes of those words of its command line that are
    /// files, the program first.
    ///
    /// # Errors
    /// If it does not start, does not speak the protocol, or `stop` turns true first.
    pub fn probe(
        spec: &EngineSpec,
        variant: Variant,
        rules: RuleSet,
        stop: &AtomicBool,
    ) -> Result<String, EngineError> {
        let (report, started) = channel();
        let own = spec.clone();
        // A start that is given up goes on there, at most for the time that it may take.
        std::thread::spawn(move || {
            let _ = report.send(Talk::start(&own, variant, rules));
        });
        let talk = loop {
            match started.recv_timeout(LOOK) {
                Ok(talk) => break talk?,
                Err(RecvTimeoutError::Timeout) if !stop.load(Relaxed) => {}
                Err(_) => return Err(EngineError::Stopped { cmd: spec.cmd.clone() }),
            }
        };
        let mut identity = talk.name().to_owned();
        for said in talk.complaints() {
            tracing::warn!("the engine `{}` says: {said}", spec.cmd);
        }
        talk.quit();
        for (n, word) in spec.words().iter().enumerate() {
            let path = spec.dir.as_deref().unwrap_or(Path::new("")).join(word);
            let found = if n == 0 && !word.contains('/') { on_path(word) } else { Some(path) };
            if let Some(path) = found.filter(|path| path.is_file())
                && let Ok(hash) = hash(&path)
            {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                identity += &format!(", {name} {hash:016x}");
            }
        }
        Ok(identity)
    }

    /// The limits of a choice: those asked for, else the engine's own.
    fn patience(&self, asked: &Limits, color: Color) -> Patience {
        let applies = match self.spec.protocol {
            Protocol::Ugi => *asked != Limits::default(),
            Protocol::Contest => asked.time.is_some() || asked.clock.is_some(),
        };
        let limits = if applies { *asked } else { self.spec.limits };
        let clock = limits.clock.map(|clock| clock.remaining[color as usize]);
        let time = [limits.time, clock].into_iter().flatten().min();
        let wait = time.map_or(self.spec.hang, |time| time.saturating_add(self.spec.margin));
        let wait = wait.min(LONGEST_WAIT);
        Patience { limits, wait }
    }

    fn try_choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, Fault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let patience = self.patience(limits, game.side_to_move());
        // Until it has answered well, a drop would end it.
        let mut talk = match self.talk.take() {
            Some(talk) => talk,
            None => Talk::start(&self.spec, self.variant, self.rules).map_err(Fault::from)?,
        };
        let choice = match &mut talk {
            Talk::Ugi(ugi) => ugi.choose(game, &patience),
            Talk::Contest(contest) => contest.choose(game, &patience),
        }?;
        self.talk = Some(talk);
        Ok(choice)
    }
}

impl Player for Engine {
    fn new_game(&mut self, seed: u64) {
        let begin = |talk: Option<Talk>| {
            let mut talk = match talk {
                Some(talk) => talk,
                None => Talk::start(&self.spec, self.variant, self.rules)?,
            };
            match &mut talk {
                Talk::Ugi(ugi) => ugi.new_game(seed)?,
                Talk::Contest(contest) => contest.new_game(),
            }
            Ok(talk)
        };
        match begin(self.talk.take()) {
            Ok(talk) => (self.talk, self.fault) = (Some(talk), None),
            Err(fault) => self.fault = Some(fault),
        }
    }

    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError> {
        if game.result().is_some() {
            return Err(PlayerError::GameOver);
        }
        self.try_choose(game, limits).map_err(|Fault { ending, reason }| {
            let cmd = &self.spec.cmd;
            PlayerError::Engine { ending, reason: format!("the engine `{cmd}`: {reason}") }
        })
    }

    fn end_game(&mut self, game: &Game) {
        if let Some(Talk::Contest(contest)) = &mut self.talk {
            contest.end_game(game);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(talk) = self.talk.take() {
            talk.quit();
        }
    }
}

impl Talk {
    fn start(spec: &EngineSpec, variant: Variant, rules: RuleSet) -> Result<Talk, EngineError> {
        match spec.protocol {
            Protocol::Ugi => Ugi::start(spec, variant, rules).map(Talk::Ugi),
            Protocol::Contest => Contest::start(spec).map(Talk::Contest),
        }
    }

    fn name(&self) -> &str {
        match self {
            Talk::Ugi(ugi) => ugi.name(),
            Talk::Contest(contest) => contest.name(),
        }
    }

    /// What it has said against what it was told; the contest protocol has no words for that.
    fn complaints(&self) -> &[String] {
        match self {
            Talk::Ugi(ugi) => ugi.complaints(),
            Talk::Contest(_) => &[],
        }
    }

    fn quit(self) {
        match self {
            Talk::Ugi(ugi) => ugi.quit(),
            Talk::Contest(contest) => contest.quit(),
        }
    }
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Fault {
        let reason = match error {
            EngineError::Protocol { reason, .. } => reason,
            error => error.to_string(),
        };
        Fault { ending: Ending::Crash, reason }
    }
}

impl Fault {
    /// The engine has not answered to this for so long.
    fn silence(question: &str, wait: Duration) -> Fault {
        let reason = format!("no answer to `{question}` within {} ms", wait.as_millis());
        Fault { ending: Ending::Time, reason }
    }

    fn no_move(line: &str) -> Fault {
        Fault { ending: Ending::IllegalMove, reason: format!("`{line}` is not a legal move here") }
    }

    /// The same, before any game.
    fn at_start(self, spec: &EngineSpec) -> EngineError {
        let (cmd, protocol) = (spec.cmd.clone(), spec.protocol.name());
        EngineError::Protocol { cmd, protocol, reason: self.reason }
    }
}

/// The program that the system finds by this name.
fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn hash(path: &Path) -> io::Result<u64> {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok(hasher.digest());
        }
        hasher.update(piece);
        let length = piece.len();
        file.consume(length);
    }
}
