//! Ctrl-C: the first asks to finish what was begun, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static STOP: AtomicBool = AtomicBool::new(false);

/// Watches for Ctrl-C and termination; the flag turns true at the first.
pub(crate) fn watch() -> anyhow::Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Relaxed) {
            std::process::exit(130);
        }
        eprintln!(
            "\nstopping: what was begun is finished first (once more stops at once; nothing finished is lost)"
        );
    })?;
    Ok(&STOP)
}

/// Whether a stop was asked for.
pub(crate) fn asked() -> bool {
    STOP.load(Relaxed)
}
