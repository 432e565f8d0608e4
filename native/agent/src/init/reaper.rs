//! Duties of PID 1: it reaps every process that ends, and ends all of them on the host's SIGTERM.

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, waitid};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::sync::{Notify, oneshot};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};

use super::grace::GRACE;
use super::readiness::readable;

pub struct Reaper {
    /// Watchers of processes, by process id.
    watched: RefCell<HashMap<i32, oneshot::Sender<i32>>>,
    end: Notify,
    is_ending: Cell<bool>,
}

/// The exit status of a process, if it ends as a child of this one.
pub struct WatchedExit {
    reaper: Rc<Reaper>,
    pid: i32,
    receiver: oneshot::Receiver<i32>,
}

impl WatchedExit {
    /// The wait status.
    pub async fn status(&mut self) -> Option<i32> {
        (&mut self.receiver).await.ok()
    }
}

impl Drop for WatchedExit {
    fn drop(&mut self) {
        self.reaper.watched.borrow_mut().remove(&self.pid);
    }
}

impl Reaper {
    pub fn start() -> io::Result<Rc<Self>> {
        let signals = readable(signal_descriptor()?)?;
        let reaper = Rc::new(Self {
            watched: RefCell::default(),
            end: Notify::new(),
            is_ending: Cell::new(false),
        });
        let own = Rc::clone(&reaper);
        spawn_local(async move { own.run(signals).await });
        Ok(reaper)
    }

    /// Resolves when the host has sent SIGTERM.
    pub async fn asked_to_end(&self) {
        self.end.notified().await;
    }

    /// True from the host's SIGTERM on: processes end with the sandbox then.
    pub fn is_ending(&self) -> bool {
        self.is_ending.get()
    }

    /// Watches the process until the returned value is dropped.
    pub fn watch(self: &Rc<Self>, pid: i32) -> WatchedExit {
        let (sender, receiver) = oneshot::channel();
        self.watched.borrow_mut().insert(pid, sender);
        WatchedExit {
            reaper: Rc::clone(self),
            pid,
            receiver,
        }
    }

    /// SIGTERM to all, a grace, SIGKILL to all.
    pub async fn end_everything(&self) {
        if !others_live() {
            return;
        }
        signal_all(libc::SIGTERM);
        let deadline = Instant::now() + GRACE;
        while others_live() && Instant::now() < deadline {
            sleep(Duration::from_millis(10)).await;
        }
        signal_all(libc::SIGKILL);
        self.reap();
    }

    async fn run(&self, signals: AsyncFd<OwnedFd>) {
        loop {
            let Ok(mut ready) = signals.readable().await else {
                return;
            };
            let mut received = false;
            while let Some(signal) = read_signal(signals.get_ref()) {
                received = true;
                if from_host(&signal, libc::SIGTERM) {
                    self.is_ending.set(true);
                    self.end.notify_one();
                }
            }
            if !received {
                ready.clear_ready();
            }
            self.reap();
        }
    }

    fn reap(&self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if let Some(sender) = self.watched.borrow_mut().remove(&Pid::as_raw(Some(pid))) {
                let _ = sender.send(status.as_raw());
            }
        }
    }
}

/// A sender outside the sandbox has no process id here, and no process inside can forge si_code SI_USER.
fn from_host(signal: &libc::signalfd_siginfo, number: i32) -> bool {
    signal.ssi_signo == number as u32 && signal.ssi_pid == 0 && signal.ssi_code == libc::SI_USER
}

fn signal_descriptor() -> io::Result<OwnedFd> {
    // SAFETY: sigemptyset fills the set before anything reads it. The descriptor is new, and nobody else owns it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

fn read_signal(fd: &OwnedFd) -> Option<libc::signalfd_siginfo> {
    // SAFETY: a siginfo of zeroes is a valid one, and the kernel writes at most its size.
    unsafe {
        let mut info: libc::signalfd_siginfo = std::mem::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        let read = libc::read(fd.as_raw_fd(), (&raw mut info).cast(), size);
        (read == size as isize).then_some(info)
    }
}

/// This process is PID 1 of the sandbox, so −1 is exactly every other process inside. The kernel goes through
/// all processes of the host for it.
fn signal_all(signal: i32) {
    // SAFETY: kill takes numbers and touches no memory.
    unsafe { libc::kill(-1, signal) };
}

/// True while another process is in the sandbox: orphans become children of this process, so without a child
/// it is alone.
pub fn others_live() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}
