//! Ctrl-C and termination: the first asks to finish what was begun, the second ends the process, and
//! so does a time of grace: whoever sends one signal only must not wait for a search without end.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::output;

/// How long what was begun may take. What it cuts off is made again by the same command.
const GRACE: Duration = Duration::from_secs(10);

static STOP: AtomicBool = AtomicBool::new(false);

/// Watches for Ctrl-C and termination; the flag turns true at the first.
pub(crate) fn watch() -> anyhow::Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Relaxed) {
            leave();
        }
        output::say(format_args!(
            "\nstopping: what was begun is finished first, within {} s (once more stops at once; nothing finished is lost)",
            GRACE.as_secs()
        ));
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            output::say(
                "stopped before what was begun was finished; the same command makes it again",
            );
            leave();
        });
    })?;
    Ok(&STOP)
}

/// Ends the process on the spot. Its destructors must not run: those of libtorch would take away what
/// other threads still compute with, and what they then say would be taken for games.
fn leave() -> ! {
    // SAFETY: it takes any number, and nothing of this process runs afterwards.
    #[cfg(unix)]
    unsafe {
        libc::_exit(130)
    }
    #[cfg(not(unix))]
    std::process::exit(130)
}

/// Whether a stop was asked for.
pub(crate) fn asked() -> bool {
    STOP.load(Relaxed)
}
