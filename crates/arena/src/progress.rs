//! How far a tournament is, on stderr.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How far a tournament is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Games finished, those of the journal included.
    pub done: usize,
    /// Games of the whole tournament.
    pub total: usize,
    /// Games that the journal held at the beginning.
    pub resumed: usize,
    /// Time since the beginning, which took up at `resumed`.
    pub elapsed: Duration,
}

impl Progress {
    /// Games finished a second since the beginning; 0 before the first.
    pub fn games_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { (self.done - self.resumed) as f64 / seconds } else { 0.0 }
    }

    /// The time that the rest will take at this speed; `None` before the first game.
    pub fn remaining(&self) -> Option<Duration> {
        let seconds = (self.total - self.done) as f64 / self.games_per_second();
        Duration::try_from_secs_f64(seconds).ok()
    }

    fn speed(&self) -> String {
        let remaining = self.remaining().map_or("unknown".to_owned(), |t| {
            HumanDuration(Duration::from_secs(t.as_secs())).to_string()
        });
        format!("{:.2} games/s, remaining: {remaining}", self.games_per_second())
    }
}

/// A bar on a terminal, else a plain line every so often.
pub struct ProgressLine {
    bar: Option<ProgressBar>,
    every: Duration,
    last: Mutex<Instant>,
    /// Lines below the bar.
    below: Mutex<String>,
}

impl ProgressLine {
    /// On stderr.
    pub fn new() -> ProgressLine {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} games, {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(style)
        });
        ProgressLine {
            bar,
            every: Duration::from_secs(10),
            last: Mutex::new(Instant::now()),
            below: Mutex::default(),
        }
    }

    /// Whether it is a bar on a terminal.
    pub(crate) fn is_bar(&self) -> bool {
        self.bar.is_some()
    }

    /// Shows more: below the bar from now on, or as lines of its own, once.
    pub(crate) fn show_below(&self, lines: &str) {
        if self.bar.is_some() {
            lines.clone_into(&mut self.below.lock().unwrap_or_else(|p| p.into_inner()));
        } else if !lines.is_empty() {
            say(&format!("so far:{lines}"));
        }
    }

    /// Shows this. Of plain lines, the last one and one every ten seconds.
    pub fn show(&self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
            let below = self.below.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            bar.set_message(format!("{}{below}", progress.speed()));
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if last.elapsed() >= self.every || progress.done == progress.total {
            *last = Instant::now();
            say(&format!("{}/{} games, {}", progress.done, progress.total, progress.speed()));
        }
    }

    /// Leaves the bar as it stands, to print below it.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}

/// Unlike `eprintln!` this does not panic where stderr takes no more.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

impl Default for ProgressLine {
    fn default() -> Self {
        ProgressLine::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_counts_the_games_of_this_session_alone() {
        let progress =
            Progress { done: 30, total: 50, resumed: 20, elapsed: Duration::from_secs(5) };
        assert_eq!(progress.games_per_second(), 2.0);
        assert_eq!(progress.remaining(), Some(Duration::from_secs(10)));
        let begun = Progress { done: 20, ..progress };
        assert_eq!(begun.remaining(), None);
    }
}
