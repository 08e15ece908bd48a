//! A bar on a terminal, a line for every tenth elsewhere.

use std::io::IsTerminal;

use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress through a known number of bytes.
pub(crate) struct Progress {
    label: String,
    bar: ProgressBar,
    /// Tenths already reported by lines; `None` where the bar is drawn.
    tenths: Option<u64>,
}

impl Progress {
    /// Starts at zero of `total` bytes.
    pub(crate) fn new(label: &str, total: u64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(
            Some(total),
            if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
        );
        let style =
            "{msg} {bar:30} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(label.to_owned());
        Self { label: label.to_owned(), bar, tenths: (!terminal).then_some(0) }
    }

    /// Sets the bytes done so far.
    pub(crate) fn set(&mut self, done: u64) {
        let total = self.bar.length().unwrap_or(done).max(1);
        let done = done.min(total);
        self.bar.set_position(done);
        let tenth = done * 10 / total;
        if self.tenths.is_some_and(|reported| tenth > reported) {
            self.tenths = Some(tenth);
            eprintln!("{}: {} of {}", self.label, DecimalBytes(done), DecimalBytes(total));
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
