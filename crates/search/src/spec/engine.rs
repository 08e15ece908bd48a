//! Programs that play: how one is started, what it is told and how long it is waited for.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::keys::{self, Key};
use super::pairs::Quoted;
use super::{PlayerSpecError, read as read_pairs, show as show_pairs};
use crate::Limits;

/// The language that a program speaks on its standard input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// The Universal Game Interface.
    Ugi,
    /// The text protocol of the Chinese contest platform.
    Contest,
}

impl Protocol {
    /// `ugi` or `contest`: the kind of player that it makes.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Ugi => "ugi",
            Protocol::Contest => "contest",
        }
    }

    const fn keys(self) -> &'static [Key<EngineSpec>] {
        match self {
            Protocol::Ugi => keys::UGI,
            Protocol::Contest => keys::CONTEST,
        }
    }
}

/// A program that plays.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSpec {
    /// What it speaks.
    pub protocol: Protocol,
    /// The program and its arguments, quoted as for a shell; no shell runs.
    pub cmd: String,
    /// What tables call it; the whole string if not given.
    pub name: Option<String>,
    /// The folder that it runs in; a relative path of the program begins there.
    pub dir: Option<PathBuf>,
    /// The limits that hold when a choice comes without any. UGI passes them on, simulations as nodes;
    /// of the contest protocol they are the time that a move may take.
    pub limits: Limits,
    /// How long it may take to start, and to be ready for a game.
    pub start: Duration,
    /// How long a move may take where nothing limits the time.
    pub hang: Duration,
    /// What a move may take beyond a limit of time before the program is stopped.
    pub margin: Duration,
    /// Whether it can be given an opening: always by UGI, else if it knows the extensions of the
    /// contest protocol.
    pub openings: bool,
    /// A file to which every line of the conversation is added.
    pub log: Option<PathBuf>,
    /// Options and their values, set in this order (UGI).
    pub options: Vec<(String, String)>,
}

/// What the name of a key begins with that sets an option of the program.
const OPTION: &str = "option.";

impl EngineSpec {
    /// A program by its command line, everything else as usual.
    pub fn new(protocol: Protocol, cmd: &str) -> EngineSpec {
        EngineSpec {
            protocol,
            cmd: cmd.to_owned(),
            name: None,
            dir: None,
            limits: Limits::default(),
            start: Duration::from_secs(10),
            hang: Duration::from_secs(60),
            margin: Duration::from_millis(100),
            openings: protocol == Protocol::Ugi,
            log: None,
            options: Vec::new(),
        }
    }

    /// The program and its arguments; empty if the command line is no such thing.
    pub fn words(&self) -> Vec<String> {
        shell_words::split(&self.cmd).unwrap_or_default()
    }
}

/// Reads the pairs of a player's string.
pub(super) fn read(
    protocol: Protocol,
    pairs: Vec<(String, String)>,
) -> Result<EngineSpec, PlayerSpecError> {
    let mut spec = EngineSpec::new(protocol, "");
    let is_option = |key: &str| protocol == Protocol::Ugi && key.starts_with(OPTION);
    let (options, pairs): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| is_option(key));
    if let Some((_, cmd)) = pairs.iter().find(|(key, _)| key == "cmd")
        && shell_words::split(cmd).is_err()
    {
        return Err(PlayerSpecError::OpenQuote(cmd.clone()));
    }
    read_pairs(protocol.name(), &pairs, &mut spec, protocol.keys())?;
    if spec.cmd.is_empty() {
        return Err(PlayerSpecError::NoCommand(protocol.name()));
    }
    for (key, value) in options {
        let name = key[OPTION.len()..].trim().to_owned();
        if name.is_empty() || keys::line(&name).is_none() {
            return Err(PlayerSpecError::OptionName(key));
        }
        let same = |other: &str| other.eq_ignore_ascii_case(&name);
        if spec.options.iter().any(|(earlier, _)| same(earlier)) {
            return Err(PlayerSpecError::Twice(key));
        }
        let value = keys::line(&value).ok_or_else(|| PlayerSpecError::Value {
            key: "option.NAME",
            value: value.clone(),
            accepts: "one line",
        })?;
        spec.options.push((name, value));
    }
    Ok(spec)
}

/// Writes what follows the name of the protocol.
pub(super) fn show(f: &mut fmt::Formatter<'_>, spec: &EngineSpec) -> fmt::Result {
    show_pairs(f, spec, &EngineSpec::new(spec.protocol, ""), spec.protocol.keys())?;
    spec.options.iter().try_for_each(|(name, value)| write!(f, ",{OPTION}{name}={}", Quoted(value)))
}
