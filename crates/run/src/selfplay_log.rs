//! `selfplay.csv`: what self-play was like while it ran, a row every ten seconds and one at the end of a batch;
//! the same as events for TensorBoard.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use surakarta_game::Ending;
use surakarta_selfplay::{Progress, Totals};
use surakarta_train::{EventLog, Log, Row};

/// A row of `selfplay.csv`. Counts are those of one call on one iteration's batch, since it began; rates are those
/// since the row before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelfplayRow {
    /// The iteration; 0 outside a run.
    pub iteration: u64,
    /// Wall time since the call began.
    pub seconds: f64,
    /// Finished games.
    pub games: u64,
    /// Their positions, a ply each.
    pub positions: u64,
    /// Those that a full search was made for.
    pub full_searches: u64,
    /// Descents from a root.
    pub simulations: u64,
    /// Positions that a network evaluated.
    pub evaluations: u64,
    /// Games a second; the next three likewise.
    pub games_per_second: f64,
    /// Positions of finished games.
    pub positions_per_second: f64,
    /// Simulations.
    pub simulations_per_second: f64,
    /// Evaluations.
    pub evaluations_per_second: f64,
    /// See [`Totals::batch_fill`].
    pub batch_fill: Option<f64>,
    /// See [`Totals::saved`].
    pub saved_share: Option<f64>,
    /// See [`Progress::busy`]; known in the last row of a batch alone.
    pub busy: Option<f64>,
    /// Games that Black won.
    pub black_wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that White won.
    pub white_wins: u64,
    /// Games by how they ended, here and below.
    pub captured_all: u64,
    /// [`Ending::NoCaptureLeft`].
    pub no_capture_left: u64,
    /// [`Ending::Repetition`].
    pub repetition: u64,
    /// [`Ending::NoProgress`].
    pub no_progress: u64,
    /// [`Ending::NoMoves`].
    pub no_moves: u64,
    /// [`Ending::PlyCap`].
    pub ply_cap: u64,
    /// [`Ending::Resignation`].
    pub resignation: u64,
    /// [`Ending::Adjudicated`]: by endgame tables.
    pub adjudicated: u64,
}

impl Row for SelfplayRow {
    fn iteration(&self) -> u64 {
        self.iteration
    }
}

impl SelfplayRow {
    /// The row of an iteration's batch, after another moment of it.
    fn of(iteration: u64, now: &Progress, before: &(Totals, Duration)) -> SelfplayRow {
        let (totals, earlier) = (&now.totals, &before.0);
        let seconds = (now.elapsed.saturating_sub(before.1)).as_secs_f64().max(1e-3);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let [black_wins, draws, white_wins] = totals.results;
        let ended = |ending: Ending| totals.endings[ending as usize];
        SelfplayRow {
            iteration,
            seconds: now.elapsed.as_secs_f64(),
            games: totals.games,
            positions: totals.plies,
            full_searches: totals.full_searches,
            simulations: totals.simulations,
            evaluations: totals.evaluations,
            games_per_second: rate(totals.games, earlier.games),
            positions_per_second: rate(totals.plies, earlier.plies),
            simulations_per_second: rate(totals.simulations, earlier.simulations),
            evaluations_per_second: rate(totals.evaluations, earlier.evaluations),
            batch_fill: totals.batch_fill,
            saved_share: totals.saved(),
            busy: now.busy(),
            black_wins,
            draws,
            white_wins,
            captured_all: ended(Ending::CapturedAll),
            no_capture_left: ended(Ending::NoCaptureLeft),
            repetition: ended(Ending::Repetition),
            no_progress: ended(Ending::NoProgress),
            no_moves: ended(Ending::NoMoves),
            ply_cap: ended(Ending::PlyCap),
            resignation: ended(Ending::Resignation),
            adjudicated: ended(Ending::Adjudicated),
        }
    }

    /// Every number by its name, as TensorBoard shows it.
    fn scalars(&self) -> Vec<(String, f32)> {
        let columns = match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(columns)) => columns,
            _ => unreachable!("a row of numbers"),
        };
        let named = columns.iter().filter(|(name, _)| *name != "iteration");
        named
            .filter_map(|(name, n)| Some((format!("selfplay/{name}"), n.as_f64()? as f32)))
            .collect()
    }
}

/// The log of the batches in a folder.
pub struct SelfplayLog {
    rows: Log<SelfplayRow>,
    events: EventLog,
    /// The iteration.
    iteration: u64,
    /// Games of the batches before this one.
    games_before: u64,
    /// What the last row said.
    last: Mutex<(Totals, Duration)>,
}

impl SelfplayLog {
    /// Opens the log in a folder to add the rows of one batch; the games of those before it come first on
    /// TensorBoard's axis.
    ///
    /// # Errors
    /// If the files that are there cannot be read, or `selfplay.csv` is something else.
    pub fn open(folder: &Path, iteration: u64, games_before: u64) -> Result<SelfplayLog> {
        Ok(SelfplayLog {
            // What has been played is played, whatever is played again.
            rows: Log::open(&folder.join("selfplay.csv"), u64::MAX)?,
            events: EventLog::open(&folder.join("tensorboard").join("selfplay"), u64::MAX)?,
            iteration,
            games_before,
            last: Mutex::default(),
        })
    }

    /// Adds a row. That it cannot be written is a warning: the games are worth more than their log.
    pub fn add(&self, progress: &Progress) {
        let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let row = SelfplayRow::of(self.iteration, progress, &last);
        *last = (progress.totals.clone(), progress.elapsed);
        let games = self.games_before + progress.had + row.games;
        let written = self.rows.append(std::slice::from_ref(&row));
        if let Err(error) = written.and_then(|()| self.events.append(games, &row.scalars())) {
            tracing::warn!("{error}; self-play goes on without this row of its log");
        }
    }
}
