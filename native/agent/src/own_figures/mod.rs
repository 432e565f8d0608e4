//! Files in which programs inside read the sandbox's memory and processors. They cover those of /proc and
//! /sys that would show the host's. The launcher has made them, and this process updates them when a request
//! begins and while programs run. `docs/internals/limits-inside.md` says why they are files, and what is not
//! in them.
//!
//! They belong to the sandbox, and root inside may write into them: that deceives only its own programs.

pub mod cgroup;
mod cpuinfo;
mod figures;
mod meminfo;
mod stat;
mod version;

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};

use crate::init::reaper::others_live;
use cgroup::Cgroup;
use figures::Limits;

/// Requests in quick succession find the current limits, and figures of use that are at most this old.
const FRESH: Duration = Duration::from_millis(100);
/// Pauses between two updates while programs run. The longest is reached while they use no processor time:
/// memory does not change then.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(4);
/// Processor time between two updates that counts as none.
const IDLE: Duration = Duration::from_millis(10);

/// Type of a tmpfs in `statfs`.
const TMPFS_MAGIC: rustix::fs::FsWord = 0x0102_1994;

pub struct OwnFigures {
    written: RefCell<Written>,
    /// A request has come, and may have started a program.
    request: Notify,
}

struct Written {
    cgroup: Cgroup,
    files: Files,
    /// The launcher's content: the host's first processor.
    processor: String,
    at: Option<Instant>,
    limits: Limits,
    used: Duration,
}

struct Files {
    meminfo: File,
    stat: File,
    cpuinfo: File,
    /// Bound over `possible` too.
    online: File,
}

impl OwnFigures {
    /// None without files to write, or without a cgroup to read: programs then see the files as they are.
    pub fn start() -> Option<Rc<Self>> {
        let files = Files::open()?;
        let figures = Rc::new(Self {
            written: RefCell::new(Written {
                cgroup: Cgroup::find()?,
                processor: std::fs::read_to_string("/proc/cpuinfo").ok()?,
                files,
                at: None,
                limits: Limits::default(),
                used: Duration::ZERO,
            }),
            request: Notify::new(),
        });
        figures.written.borrow_mut().renew();
        let own = Rc::clone(&figures);
        spawn_local(async move { own.keep_true().await });
        Some(figures)
    }

    /// Before a request is answered.
    pub fn on_request(&self) {
        let mut written = self.written.borrow_mut();
        if !written.is_fresh() {
            written.renew();
        }
        self.request.notify_one();
    }

    /// Sleeps while no other process is in the sandbox. A request may take a moment to start its program, so
    /// updates after it go on until the longest pause.
    async fn keep_true(&self) {
        loop {
            self.request.notified().await;
            let mut pause = SHORTEST;
            while pause < LONGEST || others_live() {
                tokio::select! {
                    () = self.request.notified() => pause = SHORTEST,
                    () = sleep(pause) => {
                        let idle = self.written.borrow_mut().renew() < IDLE;
                        pause = if idle { (pause * 2).min(LONGEST) } else { SHORTEST };
                    }
                }
            }
        }
    }
}

impl Written {
    fn is_fresh(&self) -> bool {
        self.at.is_some_and(|at| at.elapsed() < FRESH) && self.cgroup.limits() == Some(self.limits)
    }

    /// Returns the processor time that the sandbox has used since the last update. A file that cannot be written
    /// stays as it is.
    fn renew(&mut self) -> Duration {
        self.at = Some(Instant::now());
        let Some(figures) = self.cgroup.figures() else {
            return Duration::ZERO;
        };
        let total = figures.limits.memory_bytes;
        put(&self.files.meminfo, &meminfo::text(total, &figures.memory));
        put(
            &self.files.stat,
            &stat::text(&figures, &stat::Clocks::now()),
        );
        if figures.limits.cpus != self.limits.cpus {
            self.renew_processors(figures.limits.cpus);
        }
        self.limits = figures.limits;
        let before = std::mem::replace(&mut self.used, figures.used());
        self.used.saturating_sub(before)
    }

    fn renew_processors(&self, cpus: u64) {
        put(&self.files.cpuinfo, &cpuinfo::text(&self.processor, cpus));
        put(&self.files.online, &cpuinfo::list(cpus));
    }
}

impl Files {
    fn open() -> Option<Self> {
        Some(Self {
            meminfo: own_file("/proc/meminfo")?,
            stat: own_file("/proc/stat")?,
            cpuinfo: own_file("/proc/cpuinfo")?,
            online: own_file("/sys/devices/system/cpu/online")?,
        })
    }
}

/// None unless it is the launcher's file: one of /proc or /sys itself cannot be truncated.
fn own_file(path: &str) -> Option<File> {
    let file = File::options().write(true).open(path).ok()?;
    let kind = rustix::fs::fstatfs(&file).ok()?.f_type;
    (kind == TMPFS_MAGIC).then_some(file)
}

/// A reader may meanwhile see some lines of before and some of now.
fn put(file: &File, text: &str) {
    if file.write_all_at(text.as_bytes(), 0).is_ok() {
        let _ = file.set_len(text.len() as u64);
    }
}
