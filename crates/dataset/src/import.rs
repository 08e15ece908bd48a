//! A table of games becomes shards.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use csv::StringRecord;
use surakarta_game::{Color, Ending, GameResult, Move, Outcome, Position, RuleSet, Variant};
use surakarta_record::{GameRecord, PlyRecord, Policy, SearchKind, ShardHeader};

use crate::collect::Collector;
use crate::error::DatasetError;
use crate::folder::NewFolder;

/// What an import has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Shards written.
    pub shards: u64,
    /// Games in them.
    pub games: u64,
}

/// Columns that a table must have.
const NEEDED: [&str; 3] = ["moves", "ending", "outcome"];

/// Writes the games of a CSV table into the shards of a new folder, in their order.
///
/// The table has the columns of `games.csv` of an [export](crate::export), in any order. It must have
/// `moves`, `ending` and `outcome`; without the others, or where they are empty, games are of the variant
/// `standard` under `olympiad`, begin with the first position, and belong to seed 0 and iteration 0. Further
/// columns are passed over. Every game is replayed under its rules. What a search found is not in such a
/// table: moves come back as `opening` moves, without values and policies, and nothing is learned from them.
///
/// # Errors
/// If the table cannot be read or a row is no game (the line is named), or the folder is not empty or cannot
/// be written.
pub fn import(table: &Path, out: &Path) -> Result<Imported, DatasetError> {
    let wrong =
        |line: u64, reason: String| DatasetError::Row { path: table.to_owned(), line, reason };
    let file = std::fs::File::open(table).map_err(DatasetError::io(table, "open the table"))?;
    let mut rows = csv::Reader::from_reader(file);
    let unreadable = |error: csv::Error| {
        let line = error.position().map_or(1, |place| place.line());
        wrong(line, format!("it is no row of a table ({error})"))
    };
    let columns = rows.headers().map_err(unreadable)?.clone();
    if let Some(missing) = NEEDED.iter().find(|name| !columns.iter().any(|column| column == **name))
    {
        return Err(wrong(1, format!("there is no column `{missing}`")));
    }
    let folder = NewFolder::create(out)?;
    let mut collector = Collector::into_folder(folder.partial().to_owned());
    for (number, row) in (0..).zip(rows.records()) {
        let row = row.map_err(unreadable)?;
        let (making, game) =
            game(Row { columns: &columns, fields: &row }, number).map_err(|reason| {
                line_of(table, &row).map_or_else(|e| e, |line| wrong(line, reason))
            })?;
        collector.push(&making, game.number, game)?;
    }
    let collector = collector.finish()?;
    folder.finish()?;
    Ok(Imported { shards: collector.shards, games: collector.count })
}

struct Row<'a> {
    columns: &'a StringRecord,
    fields: &'a StringRecord,
}

impl Row<'_> {
    /// The text of a column, empty where there is none.
    fn text(&self, name: &str) -> &str {
        let place = self.columns.iter().position(|column| column == name);
        place.and_then(|place| self.fields.get(place)).unwrap_or("").trim()
    }

    /// What stands in a column, or else the default.
    fn value<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
        default: T,
    ) -> Result<T, String> {
        match self.text(name) {
            "" => Ok(default),
            text => text.parse().map_err(|error| format!("in the column `{name}`, {error}")),
        }
    }
}

/// The game of a row with its maker.
fn game(row: Row<'_>, number: u64) -> Result<(ShardHeader, GameRecord), String> {
    let variant = row.value("variant", Variant::Standard)?;
    let rules: RuleSet = row.value("rules", surakarta_game::OLYMPIAD)?;
    let start = match row.text("start") {
        "" => Position::start(variant),
        text => Position::parse(text, variant).map_err(|error| error.to_string())?,
    };
    let outcome = match row.text("outcome") {
        "draw" => Outcome::Draw,
        "black" => Outcome::Win(Color::Black),
        "white" => Outcome::Win(Color::White),
        text => {
            return Err(format!("`{text}` is no outcome; the outcomes are black, white and draw"));
        }
    };
    let ending: Ending = row.text("ending").parse().map_err(|error| format!("{error}"))?;
    let ply = |text: &str| {
        let mv: Move = text.parse().map_err(|error| format!("{error}"))?;
        Ok(PlyRecord::new(mv, SearchKind::Opening, 0, None, Policy::None))
    };
    let plies = row.text("moves").split_whitespace().map(ply).collect::<Result<_, String>>()?;
    let number = row.value("game", number)?;
    let game = GameRecord { number, start, plies, result: GameResult { ending, outcome } };
    game.replay(rules).map_err(|error| error.to_string())?;
    let weights = row.text("weights");
    let making = ShardHeader {
        variant,
        rules,
        player: row.text("player").to_owned(),
        weights: (!weights.is_empty()).then(|| weights.to_owned()),
        program: concat!("surakarta ", env!("CARGO_PKG_VERSION")).to_owned(),
        seed: row.value("seed", 0)?,
        iteration: row.value("iteration", 0)?,
        settings: [("imported".to_owned(), "moves and endings".to_owned())].into(),
        ..ShardHeader::default()
    };
    Ok((making, game))
}

/// The line on which a row begins, 1 the first. The reader's own count is one behind where lines end with a carriage
/// return and a line feed: a row then begins with the line feed of the one before.
fn line_of(table: &Path, row: &StringRecord) -> Result<u64, DatasetError> {
    let Some(place) = row.position() else { return Ok(0) };
    let read = || {
        let mut file = std::fs::File::open(table)?;
        file.seek(SeekFrom::Start(place.byte()))?;
        let mut first = [0];
        file.read_exact(&mut first)?;
        Ok(first)
    };
    let first = read().map_err(DatasetError::io(table, "read the table"))?;
    Ok(place.line() + u64::from(first == *b"\n"))
}
