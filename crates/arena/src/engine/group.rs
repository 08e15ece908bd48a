//! A child process with everything that it starts: a process group, ended as a whole.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

/// A child that leads a group of its own. The group is killed when this is dropped.
pub(super) struct Group {
    child: Child,
    /// How the child ended, once it has been waited for.
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts a child. On Linux it dies with this process, however that ends; elsewhere, and for what
    /// the child has started itself, the end of its standard input has to do.
    pub(super) fn start(mut command: Command) -> io::Result<Group> {
        system::prepare(&mut command);
        Ok(Group { child: spawn(command)?, status: None })
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
        // Until it is waited for, no other process can have the child's number, nor a group.
        system::kill(&mut self.child);
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

type Order = (Command, Sender<io::Result<Child>>);

/// Starts a child from a thread that never ends: Linux lets a child die with the thread that has
/// started it, not with the process.
fn spawn(command: Command) -> io::Result<Child> {
    static STARTER: OnceLock<Sender<Order>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (orders, inbox) = channel::<Order>();
        std::thread::spawn(move || {
            for (mut command, answer) in inbox {
                // Whoever asked waits for the answer.
                let _ = answer.send(command.spawn());
            }
        });
        orders
    });
    let gone = || io::Error::other("the thread that starts programs is gone");
    let (answer, started) = channel();
    starter.send((command, answer)).map_err(|_| gone())?;
    started.recv().map_err(|_| gone())?
}

#[cfg(unix)]
mod system {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    pub(super) fn prepare(command: &mut Command) {
        command.process_group(0);
        #[cfg(target_os = "linux")]
        die_with_us(command);
    }

    #[cfg(target_os = "linux")]
    fn die_with_us(command: &mut Command) {
        use rustix::process::{getpid, getppid, set_parent_process_death_signal};

        let parent = getpid();
        let ask = move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have died before that.
            if getppid() == Some(parent) {
                Ok(())
            } else {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
        };
        // SAFETY: between fork and exec it makes two system calls and nothing else: it neither
        // allocates nor takes a lock. There is no safe way to ask for this on behalf of a child.
        unsafe {
            command.pre_exec(ask);
        }
    }

    pub(super) fn has_ended(child: &mut Child) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(Pid::from_child(child)), look), Ok(None))
    }

    pub(super) fn kill(child: &mut Child) {
        // The group is empty if all have ended.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

#[cfg(not(unix))]
mod system {
    use std::process::{Child, Command};

    pub(super) fn prepare(_: &mut Command) {}

    pub(super) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    pub(super) fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}
