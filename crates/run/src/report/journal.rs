//! Reading the games of a journal, whoever wrote it and whether or not it is complete.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use serde_json::Value;
use surakarta_arena::ArenaGame;

/// What a journal holds.
pub(super) struct Journal {
    pub(super) header: Header,
    /// In the tournament's own order, each once.
    pub(super) games: Vec<ArenaGame>,
    /// Whether the last line was not written to its end, as when the machine stopped.
    pub(super) cut: bool,
}

/// The first line, as far as a report shows it.
#[derive(Deserialize)]
pub(super) struct Header {
    #[serde(default)]
    pub(super) players: Vec<String>,
    #[serde(default)]
    pub(super) rules: String,
    #[serde(default)]
    pub(super) openings: String,
    #[serde(default)]
    pub(super) seed: Option<u64>,
}

const NO_JOURNAL: &str = "this is not the journal of a tournament; give a file that `surakarta match --journal` or `surakarta arena` has written, or the folder of a run";

/// Reads a journal. Lines about something else than a game, which have no `black`, are passed over.
///
/// # Errors
/// If the file cannot be read or is no journal, or a line is damaged or plays an illegal move; the
/// message names the line.
pub(super) fn read(path: &Path) -> Result<Journal> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let at = |line: usize, reason: &str| anyhow!("{}, line {line}: {reason}", path.display());
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let mut lines = bytes[..whole].split_inclusive(|&b| b == b'\n').zip(1..);
    let first = lines.next().and_then(|(line, _)| serde_json::from_slice::<Value>(line).ok());
    let header = first.filter(|first| first["journal"] == "surakarta-arena");
    let header = header.and_then(|header| serde_json::from_value(header).ok());
    let header: Header = header.ok_or_else(|| at(1, NO_JOURNAL))?;
    let mut games: Vec<ArenaGame> = Vec::new();
    let mut seen = HashSet::new();
    for (line, number) in lines {
        let game = parse(line)
            .map_err(|error| at(number, &format!("{error}; remove the line or mend it")))?;
        if let Some(game) = game
            && seen.insert(game.key)
        {
            games.push(game);
        }
    }
    games.sort_by_key(|game| game.key);
    Ok(Journal { header, games, cut: whole < bytes.len() })
}

fn parse(line: &[u8]) -> Result<Option<ArenaGame>> {
    let value: Value = serde_json::from_slice(line)?;
    if value.get("black").is_none() {
        return Ok(None);
    }
    let game: ArenaGame = serde_json::from_value(value)?;
    let mut position = game.opening.start;
    for mv in game.moves() {
        if !position.is_legal(mv) {
            bail!("{mv} is not a legal move in {position}");
        }
        position = position.after(mv);
    }
    Ok(Some(game))
}
