//! What a person sees on stderr: bars, and messages that do not break them.

use std::io::{self, Write};

use indicatif::{MultiProgress, ProgressDrawTarget};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Begins to show messages of this level and above; returns where bars are drawn.
pub(crate) fn open(level: &str, quiet: bool) -> MultiProgress {
    let bars = MultiProgress::new();
    if quiet {
        bars.set_draw_target(ProgressDrawTarget::hidden());
    }
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_writer(Messages(bars.clone()))
        .with_ansi(console_is_colourful())
        .with_target(false)
        .without_time()
        // Where stderr takes no more, that is no reason to stop.
        .log_internal_errors(false)
        .compact()
        .init();
    bars
}

fn console_is_colourful() -> bool {
    io::IsTerminal::is_terminal(&io::stderr()) && std::env::var_os("NO_COLOR").is_none()
}

/// Writes to stderr while the bars step aside.
#[derive(Clone)]
struct Messages(MultiProgress);

impl<'a> MakeWriter<'a> for Messages {
    type Writer = Messages;

    fn make_writer(&'a self) -> Messages {
        self.clone()
    }
}

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
