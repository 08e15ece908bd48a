//! A child process with everything that it starts: a process group, ended as a whole.

use std::io;
use std::process::{Child, Command, ExitStatus};

use system::Guard;

/// A child in a group of its own. The group is killed when this is dropped, and on Unix also when this
/// process ends, however that happens. What leaves the group has its end of input only.
pub(super) struct Group {
    child: Child,
    /// How the child ended, once it has been waited for.
    status: Option<ExitStatus>,
    guard: Guard,
}

impl Group {
    /// Starts a child.
    pub(super) fn start(mut command: Command) -> io::Result<Group> {
        // First, so that there is no moment in which nobody would kill the child.
        let guard = Guard::start()?;
        guard.take_in(&mut command);
        Ok(Group { child: command.spawn()?, status: None, guard })
    }

    /// The child, whose pipes can be taken.
    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether the child has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        self.status.is_some() || system::has_ended(&mut self.child)
    }

    /// Kills what is left of the group and says how the child ended.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.guard.kill_group();
        // It may have left the group.
        let _ = self.child.kill();
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!("cannot wait for an engine: {error}");
        }
    }
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    /// A shell that leads the group and waits for the end of its input, which only this process can
    /// write to: when we are gone, it kills the group, and itself with it. Signals that programs send
    /// to their own group to end their children do not end it.
    const SCRIPT: &str = "trap '' HUP INT QUIT TERM; read -r _; kill -KILL 0";

    pub(super) struct Guard(Child);

    impl Guard {
        pub(super) fn start() -> io::Result<Guard> {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", SCRIPT]).process_group(0);
            shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let named = |error| io::Error::other(format!("/bin/sh, its guard: {error}"));
            shell.spawn().map(Guard).map_err(named)
        }

        /// Lets a program start in the group.
        pub(super) fn take_in(&self, command: &mut Command) {
            command.process_group(Pid::from_child(&self.0).as_raw_nonzero().get());
        }

        pub(super) fn kill_group(&self) {
            // Until the shell is waited for, no other process can have its number, nor a group.
            let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            self.kill_group();
            if let Err(error) = self.0.wait() {
                tracing::warn!("cannot wait for an engine's guard: {error}");
            }
        }
    }

    pub(super) fn has_ended(child: &mut Child) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(Pid::from_child(child)), look), Ok(None))
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;
    use std::process::{Child, Command};

    pub(super) struct Guard;

    impl Guard {
        pub(super) fn start() -> io::Result<Guard> {
            Ok(Guard)
        }

        pub(super) fn take_in(&self, _: &mut Command) {}

        pub(super) fn kill_group(&self) {}
    }

    pub(super) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }
}
