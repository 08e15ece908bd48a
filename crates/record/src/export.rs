//! Games and positions as CSV tables, one row after another in bounded memory.
//!
//! Each table is documented at its row: [`GameRow`] and [`PositionRow`] name the columns in order.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use surakarta_game::{Color, Outcome, Position};

use crate::game::{GameRecord, PlyRecord};
use crate::sample::{margin, pieces_ahead};
use crate::shard::{ShardError, ShardHeader, ShardReader};

/// A row of the table of games.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GameRow {
    /// The run's seed.
    pub seed: u64,
    /// The iteration of the run.
    pub iteration: u64,
    /// The game's number in the iteration.
    pub game: u64,
    /// The variant, as `standard` or `sepur`.
    pub variant: String,
    /// The rules, as `olympiad` or `olympiad,no-capture=60`.
    pub rules: String,
    /// The position that it began with, in its one-line notation.
    pub start: String,
    /// The moves from there, as `b2b3 e5e4 …`.
    pub moves: String,
    /// Why it ended, as `captured-all` or `repetition`.
    pub ending: String,
    /// `black` or `white` has won, or `draw`.
    pub outcome: String,
    /// How many moves there are.
    pub plies: usize,
    /// Pieces that Black has left.
    pub black_pieces: u32,
    /// Pieces that White has left.
    pub white_pieces: u32,
}

/// A row of the table of positions: one for each ply.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PositionRow {
    /// The run's seed.
    pub seed: u64,
    /// The iteration of the run.
    pub iteration: u64,
    /// The game's number in the iteration.
    pub game: u64,
    /// The ply in the game, 0 the first.
    pub ply: usize,
    /// The position before the ply, in its one-line notation, which names any variant but standard.
    pub position: String,
    /// The side to move, `black` or `white`; the columns from `value` on are seen by it.
    pub side: String,
    /// The move that was played.
    #[serde(rename = "move")]
    pub mv: String,
    /// How it was chosen: `opening`, `fast` or `full`.
    pub kind: String,
    /// Visits of the root; 0 without a tree.
    pub sims: u32,
    /// Value of the root in [−1, 1]; empty without one.
    pub value: Option<f32>,
    /// How the game ended: 1 won, 0 drawn, −1 lost.
    pub outcome: i8,
    /// Pieces at the end of the game: own − enemy, as a part of all that a side starts with.
    pub margin: f32,
    /// The search's policy as `move:probability` with blanks between, moves without any left out;
    /// empty where none was kept.
    pub policy: String,
}

/// A table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A shard is damaged.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The rows cannot be written.
    #[error("the table cannot be written: {0}; check the disk and the path, then export again")]
    Table(#[from] csv::Error),
}

impl GameRow {
    /// The row of a game.
    pub fn of(header: &ShardHeader, game: &GameRecord) -> GameRow {
        let last = game.last_position();
        GameRow {
            seed: header.seed,
            iteration: header.iteration,
            game: game.number,
            variant: header.variant.to_string(),
            rules: header.rules.to_string(),
            start: game.start.to_string(),
            moves: joined(&game.plies, |ply, out| write!(out, "{}", ply.mv)),
            ending: game.result.ending.to_string(),
            outcome: match game.result.outcome {
                Outcome::Win(color) => color.name(),
                Outcome::Draw => "draw",
            }
            .to_owned(),
            plies: game.plies.len(),
            black_pieces: last.count(Color::Black),
            white_pieces: last.count(Color::White),
        }
    }
}

impl PositionRow {
    /// The rows of a game.
    pub fn of<'a>(
        header: &'a ShardHeader,
        game: &'a GameRecord,
    ) -> impl Iterator<Item = PositionRow> + 'a {
        let last = game.last_position();
        let row = move |(number, (position, ply)): (usize, (Position, &PlyRecord))| {
            let mover = position.side_to_move();
            PositionRow {
                seed: header.seed,
                iteration: header.iteration,
                game: game.number,
                ply: number,
                position: position.to_string(),
                side: mover.name().to_owned(),
                mv: ply.mv.to_string(),
                kind: ply.search.name().to_owned(),
                sims: ply.simulations,
                value: ply.value,
                outcome: game.result.outcome.value_for(mover),
                margin: margin(header.variant, pieces_ahead(&last, mover)),
                policy: joined(&ply.policy.shares(), |(mv, share), out| {
                    write!(out, "{mv}:{share}")
                }),
            }
        };
        game.positions().zip(&game.plies).enumerate().map(row)
    }
}

/// Writes the table of the games of these shards, in their order. Returns the number of rows.
///
/// # Errors
/// At the first shard that is damaged, or if the rows cannot be written; the rows before stand.
pub fn export_games<P: AsRef<Path>>(
    shards: impl IntoIterator<Item = P>,
    out: impl io::Write,
) -> Result<u64, ExportError> {
    export(shards, out, |header, game, out| {
        out.serialize(GameRow::of(header, game))?;
        Ok(1)
    })
}

/// Writes the table of the positions of these shards, in their order. Returns the number of rows.
///
/// # Errors
/// As [`export_games`].
pub fn export_positions<P: AsRef<Path>>(
    shards: impl IntoIterator<Item = P>,
    out: impl io::Write,
) -> Result<u64, ExportError> {
    export(shards, out, |header, game, out| {
        for row in PositionRow::of(header, game) {
            out.serialize(row)?;
        }
        Ok(game.plies.len() as u64)
    })
}

fn export<P: AsRef<Path>, W: io::Write>(
    shards: impl IntoIterator<Item = P>,
    out: W,
    mut write: impl FnMut(&ShardHeader, &GameRecord, &mut csv::Writer<W>) -> csv::Result<u64>,
) -> Result<u64, ExportError> {
    let mut out = csv::Writer::from_writer(out);
    let mut rows = 0;
    for path in shards {
        let mut reader = ShardReader::open(path.as_ref())?;
        let header = reader.header().clone();
        for game in reader.games() {
            rows += write(&header, &game?, &mut out)?;
        }
    }
    out.flush().map_err(csv::Error::from)?;
    Ok(rows)
}

fn joined<T>(items: &[T], mut write: impl FnMut(&T, &mut String) -> std::fmt::Result) -> String {
    let mut out = String::new();
    for item in items {
        if !out.is_empty() {
            out.push(' ');
        }
        write(item, &mut out).expect("strings grow");
    }
    out
}
