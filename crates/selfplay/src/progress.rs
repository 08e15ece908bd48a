//! Counters that workers add to and a person watches.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use surakarta_game::{Ending, Outcome};
use surakarta_record::{GameRecord, SearchKind};

use crate::resign::Resignations;
use crate::{SelfplayConfig, Surroundings};

/// What has been done so far, by all workers together.
#[derive(Debug)]
pub(crate) struct Counters {
    began: Instant,
    threads: usize,
    /// Games of the batch that were there before.
    had: u64,
    /// Games that one worker plays at once.
    seats: u64,
    games: AtomicU64,
    plies: AtomicU64,
    full_searches: AtomicU64,
    simulations: AtomicU64,
    evaluations: AtomicU64,
    batches: AtomicU64,
    /// Positions in them.
    batched: AtomicU64,
    /// Processor time of the threads that play, in nanoseconds.
    processor: AtomicU64,
    endings: [AtomicU64; Ending::ALL.len()],
    /// Wins of Black, draws, wins of White.
    results: [AtomicU64; 3],
    resignations: Mutex<Resignations>,
}

const NO_PANIC: &str = "no worker panics while it counts";

/// The counters at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Finished games.
    pub games: u64,
    /// Plies of finished games.
    pub plies: u64,
    /// Those of them that a full search was made for.
    pub full_searches: u64,
    /// Descents from a root.
    pub simulations: u64,
    /// Positions that a network evaluated.
    pub evaluations: u64,
    /// Mean share of a worker's games in flight that had a position in its batch; `None` where there are no
    /// batches.
    pub batch_fill: Option<f64>,
    /// Processor time of the threads that play, which is known once they have ended; 0 where the system does
    /// not tell.
    pub processor: Duration,
    /// Finished games by ending, in the order of [`Ending::ALL`].
    pub endings: [u64; Ending::ALL.len()],
    /// Wins of Black, draws, wins of White.
    pub results: [u64; 3],
    /// Finished games that a side gave up.
    pub resignations: Resignations,
}

/// How far a batch is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What was done until now.
    pub totals: Totals,
    /// In how much time.
    pub elapsed: Duration,
    /// By how many threads.
    pub threads: usize,
    /// Games of the batch that were there before.
    pub had: u64,
}

impl Counters {
    /// Nothing yet, by so many threads with so many games in flight each, in a batch of which so many games
    /// were there before.
    pub(crate) fn new(seats: u32, threads: usize, had: u64) -> Counters {
        Counters {
            began: Instant::now(),
            threads,
            had,
            seats: u64::from(seats),
            games: AtomicU64::default(),
            plies: AtomicU64::default(),
            full_searches: AtomicU64::default(),
            simulations: AtomicU64::default(),
            evaluations: AtomicU64::default(),
            batches: AtomicU64::default(),
            batched: AtomicU64::default(),
            processor: AtomicU64::default(),
            endings: Default::default(),
            results: Default::default(),
            resignations: Mutex::default(),
        }
    }

    /// Adds a batch of so many positions.
    pub(crate) fn batched(&self, positions: usize) {
        self.batches.fetch_add(1, Relaxed);
        self.batched.fetch_add(positions as u64, Relaxed);
    }

    /// Adds the cost of searching.
    pub(crate) fn searched(&self, simulations: u64, evaluations: u64) {
        self.simulations.fetch_add(simulations, Relaxed);
        self.evaluations.fetch_add(evaluations, Relaxed);
    }

    /// Adds the processor time that this thread has taken since an earlier moment of it.
    pub(crate) fn worked(&self, since: Duration) {
        let spent = thread_time().saturating_sub(since);
        self.processor.fetch_add(spent.as_nanos() as u64, Relaxed);
    }

    /// Adds a finished game.
    pub(crate) fn finished(&self, game: &GameRecord, config: &SelfplayConfig) {
        self.games.fetch_add(1, Relaxed);
        self.plies.fetch_add(game.plies.len() as u64, Relaxed);
        let full = game.plies.iter().filter(|ply| ply.search == SearchKind::Full).count();
        self.full_searches.fetch_add(full as u64, Relaxed);
        self.endings[game.result.ending as usize].fetch_add(1, Relaxed);
        let result = match game.result.outcome {
            Outcome::Win(color) => 2 * color as usize,
            Outcome::Draw => 1,
        };
        self.results[result].fetch_add(1, Relaxed);
        if let Some(rule) = &config.resign {
            self.resignations.lock().expect(NO_PANIC).add(rule, game);
        }
    }

    /// How far it is now.
    pub(crate) fn progress(&self) -> Progress {
        let elapsed = self.began.elapsed();
        Progress { totals: self.totals(), elapsed, threads: self.threads, had: self.had }
    }

    /// What has been counted.
    fn totals(&self) -> Totals {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let seats = read(&self.batches) * self.seats;
        Totals {
            games: read(&self.games),
            plies: read(&self.plies),
            full_searches: read(&self.full_searches),
            simulations: read(&self.simulations),
            evaluations: read(&self.evaluations),
            batch_fill: (seats > 0).then(|| read(&self.batched) as f64 / seats as f64),
            processor: Duration::from_nanos(read(&self.processor)),
            endings: std::array::from_fn(|i| read(&self.endings[i])),
            results: std::array::from_fn(|i| read(&self.results[i])),
            resignations: *self.resignations.lock().expect(NO_PANIC),
        }
    }
}

impl Totals {
    /// The endings that occurred, most frequent first, as `captured-all 81 %, repetition 18 %`.
    pub fn describe_endings(&self) -> String {
        let mut endings: Vec<_> =
            Ending::ALL.iter().zip(self.endings).filter(|(_, n)| *n > 0).collect();
        endings.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let share = |n: u64| 100.0 * n as f64 / self.games.max(1) as f64;
        let texts: Vec<_> =
            endings.iter().map(|(ending, n)| format!("{ending} {:.0} %", share(*n))).collect();
        texts.join(", ")
    }

    /// Share of the simulations that a network had to evaluate nothing for: they ended in a position that was
    /// over or proven, or that had been reached before. `None` without simulations.
    pub fn saved(&self) -> Option<f64> {
        let share = self.evaluations as f64 / self.simulations as f64;
        (self.simulations > 0).then(|| (1.0 - share).max(0.0))
    }
}

impl Progress {
    /// Share of the threads' time that they were at work: processor time / (time · threads). Less than 1
    /// where threads have waited, for games, for a device or for a core. `None` before the end, and where the
    /// system does not tell.
    pub fn busy(&self) -> Option<f64> {
        let (had, spent) =
            (self.elapsed.as_secs_f64() * self.threads as f64, self.totals.processor);
        (had > 0.0 && !spent.is_zero()).then(|| spent.as_secs_f64() / had)
    }

    fn rates(&self) -> String {
        let totals = &self.totals;
        let rate = |n: u64| compact(n as f64 / self.elapsed.as_secs_f64().max(1e-3));
        let fill = totals
            .batch_fill
            .map_or(String::new(), |share| format!(", batches {:.0} % full", 100.0 * share));
        format!(
            "{} games/s, {} positions/s, {} simulations/s, {} new evaluations/s{fill}",
            rate(totals.games),
            rate(totals.plies),
            rate(totals.simulations),
            rate(totals.evaluations),
        )
    }
}

/// Processor time of this thread so far; 0 where the system does not tell.
pub(crate) fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

/// 1234567 as `1.2M`.
fn compact(x: f64) -> String {
    match x {
        x if x >= 1e6 => format!("{:.1}M", x / 1e6),
        x if x >= 1e4 => format!("{:.0}k", x / 1e3),
        x if x >= 100.0 => format!("{x:.0}"),
        x => format!("{x:.1}"),
    }
}

fn threads(n: usize) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}

/// How often a line is printed where there is no terminal to draw a bar on.
const LINE_EVERY: Duration = Duration::from_secs(60);
/// How long no game may end before it is said aloud.
const STALL: Duration = Duration::from_secs(120);

/// How often a batch's watcher is told.
const WATCH_EVERY: Duration = Duration::from_secs(10);

/// A live view of [`Counters`] on stderr: a bar on a terminal, else a line a minute.
pub(crate) struct View<'a> {
    counters: &'a Counters,
    around: Surroundings<'a>,
    bar: ProgressBar,
    last_line: Instant,
    last_watch: Instant,
    last_game: (u64, Instant),
    total: u64,
}

impl<'a> View<'a> {
    /// `total` games are to be played.
    pub(crate) fn new(counters: &'a Counters, total: u64, around: Surroundings<'a>) -> View<'a> {
        let bar = around.bars.add(ProgressBar::new(total));
        let template = "{prefix} {bar:24} {pos}/{len} games, ETA {eta}: {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(around.label.to_owned());
        let now = Instant::now();
        let (last_line, last_watch, last_game) = (now, now, (0, now));
        View { counters, around, bar, last_line, last_watch, last_game, total }
    }

    /// Shows what is new. Call it a few times a second.
    pub(crate) fn refresh(&mut self) {
        let progress = self.counters.progress();
        let (totals, now) = (&progress.totals, Instant::now());
        let label = self.around.label;
        self.bar.set_position(totals.games);
        self.bar.set_message(format!("{}; {}", progress.rates(), totals.describe_endings()));
        if self.bar.is_hidden() && now - self.last_line >= LINE_EVERY {
            self.last_line = now;
            let left = (self.total - totals.games.min(self.total)) as f64;
            let eta = left * progress.elapsed.as_secs_f64() / totals.games.max(1) as f64;
            tracing::info!(
                "{label}: {}/{} games, {}, ETA {eta:.0} s; {}",
                totals.games,
                self.total,
                progress.rates(),
                totals.describe_endings()
            );
        }
        if now - self.last_watch >= WATCH_EVERY {
            self.last_watch = now;
            (self.around.watch)(&progress);
        }
        if totals.games > self.last_game.0 {
            self.last_game = (totals.games, now);
        } else if now - self.last_game.1 >= STALL {
            self.last_game.1 = now;
            tracing::warn!("{label}: no game has ended for {} s", STALL.as_secs());
        }
    }

    /// Removes the bar and leaves one line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
        let progress = self.counters.progress();
        let totals = &progress.totals;
        if totals.games > 0 {
            let resignations = match totals.resignations {
                Resignations { given_up: 0, .. } => String::new(),
                resignations => format!("; {resignations}"),
            };
            let busy = progress.busy().map_or(String::new(), |share| {
                format!(", {:.0} % of {} busy", 100.0 * share, threads(progress.threads))
            });
            tracing::info!(
                "{}: {} games in {:.1} s, {}{busy}; {}{resignations}",
                self.around.label,
                totals.games,
                progress.elapsed.as_secs_f64(),
                progress.rates(),
                totals.describe_endings()
            );
        }
    }
}
