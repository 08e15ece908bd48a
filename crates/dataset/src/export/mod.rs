//! Games and positions as tables and arrays that anyone can open.
//!
//! An export is a folder of files, each whole or not there. Beside the data lie `README.md`, the data card,
//! which explains every column, and `manifest.json`, written last, which names the files with their sizes and
//! checksums, the shards that they come from and the program.

mod arrays;
mod card;
mod circuit;
mod column;
mod csv;
mod file;
mod manifest;
mod parquet;
mod rows;

use std::fs;
use std::path::{Path, PathBuf};

use surakarta_record::ShardError;
use surakarta_selfplay::Manner;

use arrays::{ArrayFiles, Example};
use csv::CsvTable;
pub use file::Exported;
pub use manifest::{Manifest, ManifestSource};
use parquet::ParquetTable;
use rows::{GameRow, Named, PositionRow};

use crate::error::DatasetError;
use crate::part::Shares;
use crate::read::{Games, Sources};

/// A form of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// `games.csv` and `positions.csv`.
    Csv,
    /// `train-0000.npz`, …: arrays for numpy, of positions to learn from alone.
    Npz,
    /// `games.parquet` and `positions.parquet`.
    Parquet,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 3] = [Format::Csv, Format::Npz, Format::Parquet];

    /// `csv`, `npz` or `parquet`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Npz => "npz",
            Format::Parquet => "parquet",
        }
    }
}

/// The text names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format; the formats are csv, npz and parquet")]
pub struct UnknownFormat(String);

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        let found = Format::ALL.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// Writes the games of these shards, in their order, into a folder in these formats. Files that stand there
/// under the same names are replaced, one after another.
///
/// # Errors
/// If no shard is whole, arrays are wanted of more than one variant, or the files cannot be written.
pub fn export(
    paths: &[PathBuf],
    out: &Path,
    formats: &[Format],
    shares: &Shares,
) -> Result<(Manifest, Vec<ShardError>), DatasetError> {
    let sources = Sources::open(paths)?;
    if formats.contains(&Format::Npz) {
        require_one_variant(&sources)?;
    }
    fs::create_dir_all(out).map_err(DatasetError::io(out, "make the folder"))?;
    let manifest = out.join(manifest::NAME);
    match fs::remove_file(&manifest) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(DatasetError::io(&manifest, "replace the file")(error));
        }
        // Until everything is there again it would not be true.
        _ => {}
    }
    let mut writers = Writers::create(out, formats)?;
    let wanted = writers.wanted();
    let rows = |games: Games<'_>| Rows::of(games, shares, wanted);
    sources.each_block(rows, |rows| writers.push(rows))?;
    let mut files = writers.finish()?;
    let moves: Vec<_> = sources.shards.iter().map(|source| source.header.variant).collect();
    files.push(card::write_moves(out, &moves)?);
    let manifest = Manifest::of(&sources, shares, files);
    card::write(out, formats, &manifest)?;
    manifest.write(out)?;
    Ok((manifest, sources.left_out))
}

fn require_one_variant(sources: &Sources) -> Result<(), DatasetError> {
    let Some(first) = sources.shards.first() else { return Ok(()) };
    let expected = first.header.variant;
    match sources.shards.iter().find(|source| source.header.variant != expected) {
        None => Ok(()),
        Some(other) => Err(DatasetError::Mixed {
            path: other.path.clone(),
            found: other.header.variant.to_string(),
            expected: expected.to_string(),
        }),
    }
}

/// Which of its forms a game is wanted in.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    rows: bool,
    examples: bool,
}

/// What a block of games becomes.
struct Rows {
    games: Vec<GameRow>,
    positions: Vec<PositionRow>,
    examples: Vec<(surakarta_game::Variant, crate::Part, Vec<Example>)>,
}

impl Rows {
    fn of(games: Games<'_>, shares: &Shares, wanted: Wanted) -> Rows {
        let mut rows = Rows { games: Vec::new(), positions: Vec::new(), examples: Vec::new() };
        let manner = Manner::of(games.header);
        for (game_id, game) in (games.first..).zip(&games.games) {
            let (number, split) = (games.numbers.original(game.number), shares.part(game));
            let named =
                Named { header: games.header, manner: manner.as_ref(), game_id, number, split };
            if wanted.rows {
                rows.games.push(GameRow::of(named, game));
                rows.positions.extend(PositionRow::of(named, game));
            }
            if wanted.examples {
                let variant = games.header.variant;
                rows.examples.push((variant, split, Example::of(named, game)));
            }
        }
        rows
    }
}

#[derive(Default)]
struct Writers {
    csv: Option<[CsvTable; 2]>,
    parquet: Option<[ParquetTable; 2]>,
    arrays: Option<ArrayFiles>,
}

impl Writers {
    fn create(out: &Path, formats: &[Format]) -> Result<Writers, DatasetError> {
        let mut writers = Writers::default();
        if formats.contains(&Format::Csv) {
            let games = CsvTable::create::<GameRow>(out, "games.csv")?;
            let positions = CsvTable::create::<PositionRow>(out, "positions.csv")?;
            writers.csv = Some([games, positions]);
        }
        if formats.contains(&Format::Parquet) {
            let games = ParquetTable::create::<GameRow>(out, "games.parquet")?;
            let positions = ParquetTable::create::<PositionRow>(out, "positions.parquet")?;
            writers.parquet = Some([games, positions]);
        }
        if formats.contains(&Format::Npz) {
            writers.arrays = Some(ArrayFiles::create(out));
        }
        Ok(writers)
    }

    fn wanted(&self) -> Wanted {
        let rows = self.csv.is_some() || self.parquet.is_some();
        Wanted { rows, examples: self.arrays.is_some() }
    }

    fn push(&mut self, rows: Rows) -> Result<(), DatasetError> {
        if let Some([games, positions]) = &mut self.csv {
            rows.games.iter().try_for_each(|row| games.push(row))?;
            rows.positions.iter().try_for_each(|row| positions.push(row))?;
        }
        if let Some([games, positions]) = &mut self.parquet {
            rows.games.iter().try_for_each(|row| games.push(row))?;
            rows.positions.iter().try_for_each(|row| positions.push(row))?;
        }
        if let Some(arrays) = &mut self.arrays {
            for (variant, part, examples) in rows.examples {
                arrays.push(variant, part, examples)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<Exported>, DatasetError> {
        let mut files = Vec::new();
        for table in self.csv.into_iter().flatten() {
            files.push(table.finish()?);
        }
        for table in self.parquet.into_iter().flatten() {
            files.push(table.finish()?);
        }
        if let Some(arrays) = self.arrays {
            files.extend(arrays.finish()?);
        }
        Ok(files)
    }
}
