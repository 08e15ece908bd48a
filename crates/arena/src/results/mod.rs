//! Results of games, from wherever they come: tournaments, journals, tables, PGN.

mod csv;
mod identity;
mod journal;
mod pgn;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use surakarta_game::Ending;

use crate::error::ArenaError;
use crate::game::ArenaGame;
use crate::number::quantity;
use crate::text::without_mark;
pub(crate) use identity::moves_key;
use identity::opening_key;
pub use journal::{JournalFile, JournalHeader};

/// One game as standings see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultRow {
    /// The player who moved first, by its place among the players.
    pub first: usize,
    /// The other one.
    pub second: usize,
    /// Points of the one who moved first: 1, ½ or 0.
    pub score: f64,
    /// The pair of games with colours swapped that it belongs to, numbered in their order; none where
    /// the game stands alone.
    pub pair: Option<u64>,
    /// The position after the opening, the same for positions that a symmetry turns into each other.
    pub opening: Option<u128>,
    /// The start position and all moves, the same for games that a symmetry of the board turns into
    /// each other.
    pub moves: Option<u128>,
    /// Why it ended.
    pub ending: Option<Ending>,
}

/// Results cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something in the file is wrong.
    #[error("{path}, line {line}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, 1 the first.
        line: usize,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The file as a whole is of no use.
    #[error("{path} {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
}

/// Games of any number of files or tournaments. A name is the same player wherever it occurs; pairs
/// of different files are different.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Names, in the order in which they appear.
    pub players: Vec<String>,
    /// Games, in the order in which they appear.
    pub games: Vec<ResultRow>,
    /// What each player was beside its name, where journals tell: more than one means that it changed.
    pub identities: BTreeMap<String, BTreeSet<String>>,
    /// What has been left out or looks odd, a sentence each.
    pub notes: Vec<String>,
    /// Variants and rules, where journals tell.
    games_played: BTreeSet<String>,
    number: HashMap<String, usize>,
    /// No other players may occur.
    closed: bool,
    pairs: u64,
    files: Vec<PathBuf>,
}

/// A place in the order of pairs: `2.13` is the thirteenth of the second pairing.
type Label = [u64; 3];

/// A game before its pair has a number.
struct Labelled {
    row: ResultRow,
    label: Option<Label>,
}

impl Results {
    /// No games of these players; no others may occur.
    pub fn of_players(names: &[String]) -> Results {
        let number = names.iter().cloned().zip(0..).collect();
        Results { players: names.to_vec(), number, closed: true, ..Results::default() }
    }

    /// The number of a player.
    ///
    /// # Errors
    /// If nobody has that name.
    pub fn find(&self, name: &str) -> Result<usize, ArenaError> {
        let unknown = || ArenaError::UnknownPlayer(name.to_owned(), self.players.join(", "));
        self.number.get(name).copied().ok_or_else(unknown)
    }

    /// Adds the games of one tournament.
    ///
    /// # Errors
    /// If a game names a player that may not occur.
    pub fn add(&mut self, games: &[ArenaGame]) -> Result<(), ArenaError> {
        self.add_from(games, "the tournament")
    }

    fn add_from(&mut self, games: &[ArenaGame], source: &str) -> Result<(), ArenaError> {
        let mut rows = Vec::with_capacity(games.len());
        for game in games {
            let row = self.row(game)?;
            let label = Some([u64::from(game.key.pairing), u64::from(game.key.pair), 0]);
            rows.push(Labelled { row, label });
        }
        self.append(rows, source);
        Ok(())
    }

    /// A game without its pair.
    pub(crate) fn row(&mut self, game: &ArenaGame) -> Result<ResultRow, ArenaError> {
        let (first, second) = (self.player(&game.black)?, self.player(&game.white)?);
        Ok(ResultRow {
            first,
            second,
            score: game.score(),
            pair: None,
            opening: Some(opening_key(&game.opening.position())),
            moves: moves_key(game),
            ending: Some(game.ending),
        })
    }

    /// Reads a file: the journal of a tournament, a table of results (CSV), or PGN, whichever it is.
    ///
    /// A table has a header with the columns `first`, `second` and `result`, which is seen from the
    /// first player; games with the same `pair` belong together; other columns are left alone. In PGN
    /// the tags `First` and `Second` name the players, and otherwise `White` is the one who moves
    /// first, as other tools have it; `Result` is seen from that player, `Pair` (else `Round`) says
    /// which games belong together. A game without moves may be any: it repeats no other.
    ///
    /// # Errors
    /// One sentence with the file, the line, what is wrong and what to do.
    pub fn read(&mut self, path: &Path) -> Result<(), ResultsError> {
        let file =
            |reason: &str| ResultsError::File { path: path.to_owned(), reason: reason.to_owned() };
        let same = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.files.contains(&same) {
            return Err(file("is named twice; its games would count double: name it once"));
        }
        let bytes = std::fs::read(path)
            .map_err(|source| ResultsError::Io { path: path.to_owned(), source })?;
        let bytes = without_mark(&bytes);
        let before = self.games.len();
        if bytes.trim_ascii_start().starts_with(b"{") {
            // The end of its last line may be missing, even amid a letter.
            let journal = JournalFile::parse(path, bytes)?;
            self.add_journal(&journal).map_err(|error| file(&format!("is of no use: {error}")))?;
        } else {
            self.read_text(path, bytes)?;
        }
        if self.games.len() == before {
            return Err(file("holds no finished game; there is nothing to rate"));
        }
        self.files.push(same);
        Ok(())
    }

    /// Reads a table or PGN.
    fn read_text(&mut self, path: &Path, bytes: &[u8]) -> Result<(), ResultsError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
            let reason = "this is not text in UTF-8; give a journal, a CSV table or PGN".to_owned();
            ResultsError::Line { path: path.to_owned(), line, reason }
        })?;
        let source = Source { path, text };
        match text.trim_start().chars().next() {
            None => {
                let reason = "is empty; give a journal, a CSV table or PGN".to_owned();
                Err(ResultsError::File { path: path.to_owned(), reason })
            }
            Some('[') => pgn::read(&source, self),
            Some(_) => csv::read(&source, self),
        }
    }

    /// The number of a player who may be new.
    fn player(&mut self, name: &str) -> Result<usize, ArenaError> {
        if let Some(&number) = self.number.get(name) {
            return Ok(number);
        }
        if self.closed {
            self.find(name)?;
        }
        self.players.push(name.to_owned());
        self.number.insert(name.to_owned(), self.players.len() - 1);
        Ok(self.players.len() - 1)
    }

    /// The numbers of two players of one game.
    fn players_of(&mut self, first: &str, second: &str) -> Result<[usize; 2], String> {
        check_names(first, second)?;
        let mut number = |name| self.player(name).map_err(|error| error.to_string());
        Ok([number(first)?, number(second)?])
    }

    /// Adds the games of one source, with numbers for their pairs: those with the same label and
    /// players belong together.
    fn append(&mut self, games: Vec<Labelled>, source: &str) {
        let key = |game: &Labelled| {
            let ResultRow { first, second, .. } = game.row;
            game.label.map(|label| (label, first.min(second), first.max(second)))
        };
        let mut keys: Vec<_> = games.iter().filter_map(key).collect();
        keys.sort_unstable();
        let larger = keys.chunk_by(|a, b| a == b).filter(|pair| pair.len() > 2).count();
        if larger > 0 {
            self.notes.push(format!(
                "{source}: more than two games of the same players in {}: these games are taken as dependent, and left out of the counts of pairs",
                quantity(larger, "pair")
            ));
        }
        keys.dedup();
        for game in games {
            let place = key(&game).and_then(|key| keys.binary_search(&key).ok());
            let pair = place.map(|place| self.pairs + place as u64);
            self.games.push(ResultRow { pair, ..game.row });
        }
        self.pairs += keys.len() as u64;
    }
}

/// Whether two players of one game can be told apart.
fn check_names(first: &str, second: &str) -> Result<(), String> {
    if first.is_empty() || second.is_empty() {
        return Err("a player has no name; name both".to_owned());
    }
    if first == second {
        return Err(format!(
            "`{first}` plays against itself; give the two players different names"
        ));
    }
    Ok(())
}

/// A file as text.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn wrong(&self, line: usize, reason: impl Into<String>) -> ResultsError {
        ResultsError::Line { path: self.path.to_owned(), line, reason: reason.into() }
    }
}

/// Points of the one who moved first; none for a game without a result.
fn points(result: &str) -> Result<Option<f64>, String> {
    match result {
        "1-0" => Ok(Some(1.0)),
        "0-1" => Ok(Some(0.0)),
        "1/2-1/2" => Ok(Some(0.5)),
        "*" => Ok(None),
        other => Err(format!(
            "`{other}` is not a result; results are 1-0, 0-1 and 1/2-1/2, seen from the first player, and * for a game without one"
        )),
    }
}

/// Places in the order of pairs from their names: by number where all are numbers (`7`, `2.13`), else
/// in the order in which they appear.
fn labels(names: &[Option<String>]) -> Vec<Option<Label>> {
    let number = |name: &String| -> Option<Label> {
        let mut label = [0; 3];
        for (k, part) in name.split('.').enumerate() {
            // A missing part comes before the first.
            *label.get_mut(k)? = part.parse::<u64>().ok()?.checked_add(1)?;
        }
        Some(label)
    };
    let numbered: Vec<Option<Option<Label>>> =
        names.iter().map(|name| name.as_ref().map(number)).collect();
    if numbered.iter().flatten().all(Option::is_some) {
        return numbered.into_iter().map(Option::flatten).collect();
    }
    let mut seen = HashMap::new();
    let mut place = |name: &String| {
        let next = seen.len() as u64;
        [*seen.entry(name.clone()).or_insert(next), 0, 0]
    };
    names.iter().map(|name| name.as_ref().map(&mut place)).collect()
}
