//! Counters that workers add to and a person watches.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use surakarta_game::{Ending, Outcome};
use surakarta_record::GameRecord;

use crate::SelfplayConfig;
use crate::resign::Resignations;

/// What has been done so far, by all workers together.
#[derive(Debug, Default)]
pub struct Counters {
    games: AtomicU64,
    plies: AtomicU64,
    simulations: AtomicU64,
    evaluations: AtomicU64,
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
    /// Descents from a root.
    pub simulations: u64,
    /// Positions that a network evaluated.
    pub evaluations: u64,
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

impl Counters {
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

    /// What has been counted.
    pub fn totals(&self) -> Totals {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        Totals {
            games: read(&self.games),
            plies: read(&self.plies),
            simulations: read(&self.simulations),
            evaluations: read(&self.evaluations),
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

    /// Share of the time of so many threads that they were at work: processor time / (time · threads). Less
    /// than 1 where threads have waited, for games, for a device or for a core. `None` where the system does
    /// not tell.
    pub fn busy(&self, elapsed: Duration, threads: usize) -> Option<f64> {
        let had = elapsed.as_secs_f64() * threads as f64;
        (had > 0.0 && !self.processor.is_zero()).then(|| self.processor.as_secs_f64() / had)
    }

    fn describe_rates(&self, elapsed: Duration) -> String {
        let rate = |n: u64| compact(n as f64 / elapsed.as_secs_f64().max(1e-3));
        format!(
            "{} games/s, {} simulations/s, {} new evaluations/s",
            rate(self.games),
            rate(self.simulations),
            rate(self.evaluations)
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

/// A live view of [`Counters`] on stderr: a bar on a terminal, else a line a minute.
pub(crate) struct View<'a> {
    counters: &'a Counters,
    bar: ProgressBar,
    label: String,
    started: Instant,
    last_line: Instant,
    last_game: (u64, Instant),
    total: u64,
    threads: usize,
}

impl<'a> View<'a> {
    /// `total` games are to be played by `threads`; `label` says for what.
    pub(crate) fn new(
        counters: &'a Counters,
        total: u64,
        threads: usize,
        label: &str,
        bars: &MultiProgress,
    ) -> View<'a> {
        let bar = bars.add(ProgressBar::new(total));
        let template = "{prefix} {bar:24} {pos}/{len} games, ETA {eta}: {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(label.to_owned());
        let now = Instant::now();
        View {
            counters,
            bar,
            label: label.to_owned(),
            started: now,
            last_line: now,
            last_game: (0, now),
            total,
            threads,
        }
    }

    /// Shows what is new. Call it a few times a second.
    pub(crate) fn refresh(&mut self) {
        let totals = self.counters.totals();
        let now = Instant::now();
        let elapsed = now - self.started;
        self.bar.set_position(totals.games);
        self.bar.set_message(format!(
            "{}; {}",
            totals.describe_rates(elapsed),
            totals.describe_endings()
        ));
        if self.bar.is_hidden() && now - self.last_line >= LINE_EVERY {
            self.last_line = now;
            let left = (self.total - totals.games.min(self.total)) as f64;
            let eta = left * elapsed.as_secs_f64() / totals.games.max(1) as f64;
            tracing::info!(
                "{}: {}/{} games, {}, ETA {eta:.0} s; {}",
                self.label,
                totals.games,
                self.total,
                totals.describe_rates(elapsed),
                totals.describe_endings()
            );
        }
        if totals.games > self.last_game.0 {
            self.last_game = (totals.games, now);
        } else if now - self.last_game.1 >= STALL {
            self.last_game.1 = now;
            tracing::warn!("{}: no game has ended for {} s", self.label, STALL.as_secs());
        }
    }

    /// Removes the bar and leaves one line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
        let totals = self.counters.totals();
        if totals.games > 0 {
            let elapsed = self.started.elapsed();
            let resignations = match totals.resignations {
                Resignations { given_up: 0, .. } => String::new(),
                resignations => format!("; {resignations}"),
            };
            let busy = totals.busy(elapsed, self.threads).map_or(String::new(), |share| {
                format!(", {:.0} % of {} busy", 100.0 * share, threads(self.threads))
            });
            tracing::info!(
                "{}: {} games in {:.1} s, {}{busy}; {}{resignations}",
                self.label,
                totals.games,
                elapsed.as_secs_f64(),
                totals.describe_rates(elapsed),
                totals.describe_endings()
            );
        }
    }
}
