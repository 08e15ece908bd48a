//! The loop: self-play, training, rating, again.
//!
//! The games of iteration *i* are played by the network after iteration *i* − 1, or *i* − 2 where
//! they are played while the network learns. So every file is a function of files of earlier
//! iterations, and a run that was killed goes on by making what is missing.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use indicatif::MultiProgress;
use surakarta_arena::{Standings, quantity};
use surakarta_net::{Inference, Weights};
use surakarta_record::Window;
use surakarta_record::shard::{list_shards, parse_shard_name};
use surakarta_search::NetRef;
use surakarta_tablebase::Tables;

use crate::beginnings::beginnings;
use crate::config::Config;
use crate::directory::{RunDirectory, weights_path};
use crate::learn;
use crate::players::Networks;
use crate::rating::rate_if_due;
use crate::selfplay::{Games, Surroundings, thread_pool};
use crate::selfplay_log::SelfplayLog;

/// What surrounds a run without an influence on what it makes.
pub struct Around<'a> {
    /// Once true, the run stops at the next point that it can go on from.
    pub stop: &'a AtomicBool,
    /// Where bars are drawn.
    pub bars: &'a MultiProgress,
    /// Called with the table of each rating.
    pub on_table: &'a (dyn Fn(u32, &Standings) -> Result<()> + Sync),
    /// The endgame tables of [`Config::tables`].
    pub tables: Option<Arc<Tables>>,
}

/// Whether a run can begin or go on in this folder, as far as that can be told before any game.
///
/// # Errors
/// If training cannot run here, weights are missing, damaged or of another shape or variant: those
/// that the run begins with, or an opponent's, or the file of openings cannot be used.
pub fn check(config: &Config, folder: &Path) -> Result<()> {
    let run = &config.run;
    beginnings(&config.selfplay, run.variant, run.rules, run.seed, &[])?;
    if let Some(init) = &run.init
        && !weights_path(folder, 0).exists()
    {
        Weights::load_to_train(init, &config.shape(), run.variant, run.seed)?;
    }
    for opponent in &config.rating.opponents {
        if let Some(net @ NetRef::Path(_)) = opponent.net() {
            Networks::of(&run.network_place(), run.variant).load(net)?;
        }
    }
    run.play_device.map_or(Ok(()), surakarta_train::check)?;
    learn::check_device(config)
}

/// Makes everything of a run that does not exist yet.
///
/// # Errors
/// If a stage fails. What was finished stays, and the same call goes on from there.
pub fn run(config: &Config, directory: &RunDirectory, around: &Around) -> Result<()> {
    learn::check_device(config)?;
    let pool = thread_pool(config.run.threads)?;
    let run = Run { config, directory, around, pool: &pool, loaded: Mutex::default() };
    run.begin()?;
    let mut games = learn::Recorded::holding_out(config.train.validation_share);
    let done = directory.learned()?;
    // Whatever was lost or damaged since is played again.
    for iteration in run.first_playable()?..=done {
        run.play(iteration, &|| run.stopped())?;
    }
    if done > 0 {
        tracing::info!("{} done: going on", quantity(done, "iteration"));
        run.rate(done)?;
    }
    for iteration in done + 1..=config.run.iterations {
        run.play(iteration, &|| run.stopped())?;
        if run.stopped() {
            break;
        }
        run.learn(iteration, &mut games)?;
        if run.stopped() {
            break;
        }
        run.rate(iteration)?;
        run.clean_up(iteration, &games.window)?;
    }
    Ok(())
}

struct Run<'a> {
    config: &'a Config,
    directory: &'a RunDirectory,
    around: &'a Around<'a>,
    pool: &'a rayon::ThreadPool,
    /// The network that played last, with its iteration: it is asked for twice.
    loaded: Mutex<Option<(u32, Arc<dyn Inference>)>>,
}

impl Run<'_> {
    fn stopped(&self) -> bool {
        self.around.stop.load(Relaxed)
    }

    /// Makes the network that the run begins with.
    fn begin(&self) -> Result<()> {
        let path = self.directory.weights(0);
        if path.exists() {
            return Ok(());
        }
        let run = &self.config.run;
        let weights = match &run.init {
            Some(init) => {
                Weights::load_to_train(init, &self.config.shape(), run.variant, run.seed)?
            }
            None => Weights::random(self.config.shape(), run.variant, run.seed),
        };
        Ok(weights.save(&path)?)
    }

    /// Plays the games of an iteration that are missing.
    fn play(&self, iteration: u32, stop: &(dyn Fn() -> bool + Sync)) -> Result<()> {
        let run = &self.config.run;
        let lag = if run.overlap { 2 } else { 1 };
        let network = self.network(iteration.saturating_sub(lag))?;
        let forks = self.forks(iteration)?;
        let beginnings =
            beginnings(&self.config.selfplay, run.variant, run.rules, run.seed, &forks)?;
        let games = Games {
            beginnings,
            variant: run.variant,
            rules: run.rules,
            seed: run.seed,
            iteration: u64::from(iteration),
            numbers: 0..u64::from(run.games),
            tables: self.around.tables.clone(),
        };
        let before = u64::from(iteration - 1) * u64::from(run.games);
        let log = SelfplayLog::open(self.directory.root(), games.iteration, before)?;
        let label = format!("self-play {iteration}/{}", run.iterations);
        let (bars, watch) = (self.around.bars, |progress: &_| log.add(progress));
        let around = Surroundings { pool: self.pool, stop, bars, label: &label, watch: &watch };
        let Config { selfplay, search, .. } = self.config;
        games.play_network(&*network, selfplay, search, &self.directory.shards(), around)?;
        Ok(())
    }

    /// The network of an iteration, ready to play.
    fn network(&self, iteration: u32) -> Result<Arc<dyn Inference>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((of, network)) = &*loaded
            && *of == iteration
        {
            return Ok(Arc::clone(network));
        }
        let run = &self.config.run;
        let weights = NetRef::Path(self.directory.weights(iteration));
        let network = Networks::of(&run.network_place(), run.variant).load(&weights)?;
        *loaded = Some((iteration, Arc::clone(&network)));
        Ok(network)
    }

    /// Trains the network on the games up to an iteration, and plays those of the next one meanwhile
    /// if the run overlaps the two.
    fn learn(&self, iteration: u32, games: &mut learn::Recorded) -> Result<()> {
        let failed = AtomicBool::new(false);
        let stop = || self.stopped() || failed.load(Relaxed);
        let ahead = self.config.run.overlap && iteration < self.config.run.iterations;
        std::thread::scope(|scope| {
            let playing = ahead.then(|| scope.spawn(|| self.play(iteration + 1, &stop)));
            let learned = learn::learn(self.config, self.directory, iteration, games, self.around);
            failed.store(learned.is_err(), Relaxed);
            let played = playing.map_or(Ok(()), |playing| {
                playing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            learned.and(played)
        })
    }

    fn rate(&self, iteration: u32) -> Result<()> {
        let Around { stop, on_table, .. } = *self.around;
        let table = rate_if_due(self.config, self.directory, iteration, self.pool, stop)?;
        table.map_or(Ok(()), |standings| on_table(iteration, &standings))
    }

    /// The shards that games of an iteration may fork off from: those of the one before, which are all
    /// there before any of its games begins.
    fn forks(&self, iteration: u32) -> Result<Vec<std::path::PathBuf>> {
        if !self.forking() {
            return Ok(Vec::new());
        }
        let of = |(of, path)| (of + 1 == iteration).then_some(path);
        Ok(self.shards()?.into_iter().filter_map(of).collect())
    }

    fn forking(&self) -> bool {
        self.config.selfplay.fork_share > 0.0
    }

    /// The oldest iteration whose games can still be played: with a shard, and one before it if they
    /// fork off from there; 1 without shards.
    fn first_playable(&self) -> Result<u32> {
        let oldest = self.shards()?.into_iter().map(|(iteration, _)| iteration).min();
        Ok(match oldest {
            Some(oldest) if oldest > 1 && self.forking() => oldest + 1,
            oldest => oldest.unwrap_or(1),
        })
    }

    /// Every shard with its iteration.
    fn shards(&self) -> Result<Vec<(u32, std::path::PathBuf)>> {
        let folder = self.directory.shards();
        let paths = list_shards(&folder)
            .with_context(|| format!("cannot read the folder {}", folder.display()))?;
        let iteration = |path: &std::path::Path| {
            parse_shard_name(path.file_name()?.to_str()?).map(|(iteration, _)| iteration as u32)
        };
        Ok(paths.into_iter().filter_map(|path| Some((iteration(&path)?, path))).collect())
    }

    /// Removes what nothing will read again: shards beyond the window and `keep`, and all
    /// checkpoints but the last two.
    fn clean_up(&self, iteration: u32, window: &Window) -> Result<()> {
        let remove = |path: &std::path::Path| {
            fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))
        };
        let keep = self.config.run.keep;
        let in_window: std::collections::HashSet<_> = window.shards().collect();
        let shards = self.shards()?;
        let needed = shards.iter().filter(|(_, path)| in_window.contains(path.as_path()));
        let oldest = needed.map(|(iteration, _)| *iteration).min().unwrap_or(iteration);
        // What the oldest fork off from stays too, so that they can be played again.
        let oldest = oldest - u32::from(self.forking());
        for (of, path) in &shards {
            if keep > 0 && *of + keep <= iteration && *of < oldest {
                remove(path)?;
            }
        }
        for old in (1..iteration.saturating_sub(1)).rev() {
            let path = self.directory.checkpoint(old);
            if !path.exists() {
                break;
            }
            remove(&path)?;
        }
        Ok(())
    }
}
