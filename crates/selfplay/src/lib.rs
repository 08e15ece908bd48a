//! Self-play: many games at once with batched leaves, written to shards.
//!
//! A batch of games is a range of game numbers. Each game draws its random numbers from a stream
//! keyed by (run seed, iteration, number), so the shards are the same bytes whatever the number of
//! threads and however often the work was interrupted: shards that exist are kept, the others are
//! played again from their first game.
//!
//! # How a game begins
//! With the moves of an opening or of an earlier game up to some ply ([`Beginnings`]), then random
//! moves, then moves drawn from the network's policy; each part may be missing, and all of them are kept
//! in the record as plies of kind `opening`, so that it replays from its start.
//!
//! # How a game ends
//! By the rules; by endgame tables; or because a side gives it up ([`Resign`]), after a move whose search was
//! the last of several to find the position lost. Some games are played on all the same, which tells how
//! often giving up is wrong.

mod collector;
mod conduct;
mod config;
mod exchange;
mod inline;
mod lockstep;
mod opening;
mod progress;
mod resign;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use indicatif::MultiProgress;
use surakarta_net::{Evaluator, EvaluatorError};
use surakarta_record::{ShardError, ShardHeader, ShardReader};
use surakarta_search::{Limits, Player, PlayerError, SearchConfig};
use surakarta_tablebase::Tables;

use collector::Collector;
pub use conduct::{Conduct, Manner};
pub use config::SelfplayConfig;
use exchange::Exchange;
use lockstep::Setting;
use opening::Openings;
pub use opening::{Beginnings, Line, Lines};
use progress::{Counters, View};
pub use progress::{Progress, Totals};
pub use resign::{GivenUp, Resign, Resignations};

/// A batch of self-play games.
pub struct Batch<'a> {
    /// What every shard's header says; its `first_game` and `games` are filled in for each.
    pub header: &'a ShardHeader,
    /// How the games are played.
    pub config: &'a SelfplayConfig,
    /// The numbers of the games.
    pub games: Range<u64>,
    /// The folder for the shards; it must exist.
    pub folder: &'a Path,
    /// Endgame tables, if games are to [end by them](SelfplayConfig::end_by_tables).
    pub tables: Option<&'a Tables>,
    /// What games may begin with.
    pub beginnings: &'a Beginnings,
}

/// Who plays.
pub enum Source<'a> {
    /// A tree search over a network: one evaluator for each worker.
    Search {
        /// The constants of the search.
        search: SearchConfig,
        /// Makes a worker's evaluator.
        evaluator: &'a (dyn Fn() -> Result<Box<dyn Evaluator>, EvaluatorError> + Sync),
    },
    /// Any other player: one for each worker.
    Player {
        /// What it may spend on a move.
        limits: Limits,
        /// Makes a worker's player.
        player: &'a (dyn Fn() -> Result<Box<dyn Player>, PlayerError> + Sync),
    },
}

/// What surrounds a batch without an influence on its games.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The threads that play.
    pub pool: &'a rayon::ThreadPool,
    /// Once it says true, no shard is begun.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Where bars are drawn.
    pub bars: &'a MultiProgress,
    /// What the batch is called there.
    pub label: &'a str,
    /// Is told every ten seconds, and at the end, how far it is.
    pub watch: &'a (dyn Fn(&Progress) + Sync),
}

/// Ends the view when the workers have ended, by a panic too: the view would be waited for else.
struct Done<'a>(&'a AtomicBool, &'a std::thread::Thread);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
        self.1.unpark();
    }
}

/// What came of a batch.
#[derive(Debug)]
pub struct Played {
    /// The shards of the whole batch that exist now, in order.
    pub shards: Vec<PathBuf>,
    /// Whether that is all of them; not so after a stop.
    pub complete: bool,
    /// What was played this time.
    pub progress: Progress,
}

/// Self-play failed. Finished shards stay.
#[derive(Debug, thiserror::Error)]
pub enum SelfplayError {
    /// A shard could not be written or read.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The network failed.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    /// A player failed.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// A shard in the folder was made otherwise.
    #[error(
        "{path} was made with another {what} ({found}; here {wanted}): use another folder or move it away"
    )]
    OtherShard {
        /// The shard.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// What it says.
        found: String,
        /// What this batch says.
        wanted: String,
    },
    /// A shard in the folder is damaged and was set aside.
    #[error("a damaged shard could not be set aside: {0}")]
    SetAside(String),
}

impl Batch<'_> {
    /// Plays all games whose shard is not in the folder yet.
    ///
    /// After a stop the shards that were begun are finished. A damaged shard is renamed to end in `.damaged` and
    /// played again.
    ///
    /// # Errors
    /// If a player or its network fails, or a shard cannot be written or contradicts the header.
    pub fn play(&self, source: &Source, around: Surroundings) -> Result<Played, SelfplayError> {
        let Surroundings { pool, stop, .. } = around;
        let all = collector::shards(self.games.clone(), self.config.games_per_shard);
        let mut missing = Vec::new();
        for &(first, games) in &all {
            if !self.have(first, games)? {
                missing.push((first, games));
            }
        }
        let threads = pool.current_num_threads();
        let wanted: u64 = missing.iter().map(|&(_, games)| u64::from(games)).sum();
        let had = self.games.end - self.games.start - wanted;
        let counters = Counters::new(self.config.games_in_flight, threads, had);
        let setting = Setting {
            openings: Openings {
                variant: self.header.variant,
                rules: self.header.rules,
                config: self.config,
                beginnings: self.beginnings,
                seed: self.header.seed,
                iteration: self.header.iteration,
            },
            config: self.config,
            search: match source {
                Source::Search { search, .. } => search.clone(),
                Source::Player { .. } => SearchConfig::default(),
            },
            tables: self.tables.filter(|_| self.config.end_by_tables),
        };
        // A worker that fails stops the others too.
        let failed = AtomicBool::new(false);
        let halt = AtomicBool::new(stop());
        let collector = Collector::new(self.header, self.folder, missing, &halt);
        let exchange = Exchange::new(threads);
        let failure = Mutex::new(None);
        let done = AtomicBool::new(wanted == 0);
        if wanted > 0 {
            std::thread::scope(|scope| {
                let viewer = scope.spawn(|| {
                    let mut view = View::new(&counters, wanted, around);
                    while !done.load(Relaxed) {
                        halt.fetch_or(stop() || failed.load(Relaxed), Relaxed);
                        view.refresh();
                        std::thread::park_timeout(Duration::from_millis(100));
                    }
                    view.finish();
                });
                let _done = Done(&done, viewer.thread());
                pool.broadcast(|_| {
                    let seat = exchange.seat();
                    let before = progress::thread_time();
                    let worked = match source {
                        Source::Search { evaluator, .. } => {
                            evaluator().map_err(SelfplayError::from).and_then(|mut evaluator| {
                                let evaluator = &mut *evaluator;
                                lockstep::work(&setting, evaluator, &collector, &counters, seat)
                            })
                        }
                        Source::Player { limits, player } => {
                            player().map_err(SelfplayError::from).and_then(|mut player| {
                                inline::work(&setting, &mut *player, limits, &collector, &counters)
                            })
                        }
                    };
                    counters.worked(before);
                    if let Err(error) = worked {
                        failed.store(true, Relaxed);
                        failure.lock().expect("workers do not panic here").get_or_insert(error);
                    }
                });
            });
        }
        if let Some(error) = failure.into_inner().expect("workers do not panic here") {
            return Err(error);
        }
        let shards: Vec<_> = all
            .iter()
            .map(|&(first, _)| collector::shard_path(self.folder, self.header.iteration, first))
            .filter(|path| path.exists())
            .collect();
        let complete = shards.len() == all.len();
        let progress = counters.progress();
        if wanted > 0 {
            (around.watch)(&progress);
        }
        Ok(Played { shards, complete, progress })
    }

    /// Whether the shard of these games exists, whole and made alike.
    fn have(&self, first: u64, games: u32) -> Result<bool, SelfplayError> {
        let path = collector::shard_path(self.folder, self.header.iteration, first);
        if !path.exists() {
            return Ok(false);
        }
        let reader = match ShardReader::open(&path) {
            Ok(reader) => reader,
            Err(error) => {
                let aside = path.with_extension("shard.damaged");
                std::fs::rename(&path, &aside)
                    .map_err(|e| SelfplayError::SetAside(format!("{}: {e}", path.display())))?;
                tracing::warn!("{error}; set aside as {}, played again", aside.display());
                return Ok(false);
            }
        };
        let found = ShardHeader { first_game: 0, games: 0, ..reader.header().clone() };
        let wanted = ShardHeader { first_game: 0, games: 0, ..self.header.clone() };
        let other = |what, found: &dyn std::fmt::Debug, wanted: &dyn std::fmt::Debug| {
            Err(SelfplayError::OtherShard {
                path: path.clone(),
                what,
                found: format!("{found:?}"),
                wanted: format!("{wanted:?}"),
            })
        };
        let header = reader.header();
        if (header.first_game, header.games) != (first, u64::from(games)) {
            return other("range of games", &header.games, &games);
        }
        if found.variant != wanted.variant {
            return other("variant", &found.variant.name(), &wanted.variant.name());
        }
        if found.player != wanted.player {
            return other("player", &found.player, &wanted.player);
        }
        if found.weights != wanted.weights {
            return other("network", &found.weights, &wanted.weights);
        }
        if found.rules != wanted.rules {
            return other("rule set", &found.rules.to_string(), &wanted.rules.to_string());
        }
        if (found.seed, found.iteration) != (wanted.seed, wanted.iteration) {
            let found = (found.seed, found.iteration);
            return other("seed and iteration", &found, &(wanted.seed, wanted.iteration));
        }
        if found.kernel != wanted.kernel {
            return other("kernel", &found.kernel, &wanted.kernel);
        }
        if found.program != wanted.program {
            return other("program", &found.program, &wanted.program);
        }
        if found.settings != wanted.settings {
            // Those alone that differ.
            let but = |of: &BTreeMap<String, String>, than: &BTreeMap<String, String>| {
                let differs = |(key, value): &(&String, &String)| than.get(*key) != Some(*value);
                let texts =
                    of.iter().filter(differs).map(|(key, value)| format!("{key} = {value}"));
                texts.collect::<Vec<_>>().join(", ")
            };
            let (found, wanted) = (&found.settings, &wanted.settings);
            return other("configuration", &but(found, wanted), &but(wanted, found));
        }
        if found != wanted {
            return other("header", &found, &wanted);
        }
        Ok(true)
    }
}
