//! One process: its output, its viewers, its input and its end.

use serde::Serialize;
use std::cell::{Cell, Ref, RefCell};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::io::unix::AsyncFd;
use tokio::sync::{Mutex, Notify};

use super::log::Log;
use crate::exec::terminal::{self, Size};
use crate::process::signals;
use crate::wire::fault::{Code, Fault};

pub struct Detached {
    pub pid: i32,
    pub tag: Option<String>,
    /// What the host shows in lists.
    pub label: String,
    pub started_ms: u64,
    /// Held by one caller at a time, so that the input of each stays whole; None once it is closed.
    pub input: Mutex<Option<AsyncFd<OwnedFd>>>,
    pub terminal: Option<Screen>,
    log: RefCell<Log>,
    viewers: RefCell<Vec<Rc<Viewer>>>,
    end: RefCell<Option<End>>,
    /// Notified when a caller asks for its end.
    pub ending: Notify,
    has_ended: Notify,
    /// Notified when a viewer has taken output, or has left.
    taken: Notify,
}

/// The agent's side of its terminal.
pub struct Screen {
    master: OwnedFd,
    size: Cell<Size>,
}

pub struct Viewer {
    pub position: Cell<u64>,
    /// Notified when there is new output, or the end.
    pub news: Notify,
}

#[derive(Clone, Serialize)]
pub struct End {
    #[serde(flatten)]
    pub program: signals::End,
    pub timed_out: bool,
    #[serde(skip)]
    pub ended_ms: u64,
}

pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as u64)
}

impl Screen {
    pub fn new(master: OwnedFd, size: Size) -> Self {
        let size = Cell::new(size);
        Self { master, size }
    }

    pub fn size(&self) -> Size {
        self.size.get()
    }

    pub fn resize(&self, size: Size) -> Result<(), Fault> {
        terminal::resize(&self.master, size)?;
        self.size.set(size);
        Ok(())
    }

    fn foreground(&self) -> Option<i32> {
        let group = rustix::termios::tcgetpgrp(&self.master).ok()?;
        Some(group.as_raw_nonzero().get())
    }
}

impl Detached {
    pub fn new(
        pid: i32,
        tag: Option<String>,
        label: String,
        input: AsyncFd<OwnedFd>,
        terminal: Option<Screen>,
    ) -> Self {
        Self {
            pid,
            tag,
            label,
            started_ms: now_ms(),
            input: Mutex::new(Some(input)),
            terminal,
            log: RefCell::default(),
            viewers: RefCell::default(),
            end: RefCell::default(),
            ending: Notify::new(),
            has_ended: Notify::new(),
            taken: Notify::new(),
        }
    }

    pub fn log(&self) -> Ref<'_, Log> {
        self.log.borrow()
    }

    pub fn end(&self) -> Option<End> {
        self.end.borrow().clone()
    }

    pub fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// Fails for a process that has ended.
    pub fn running(&self) -> Result<&Self, Fault> {
        match self.has_ended() {
            false => Ok(self),
            true => Err(Fault::new(
                Code::FailedPrecondition,
                format!("The process {} has ended.", self.pid),
            )),
        }
    }

    /// Resolves once it has ended.
    pub async fn ended(&self) {
        while !self.has_ended() {
            self.has_ended.notified().await;
        }
    }

    /// Resolves when no viewer would lose anything to the next piece.
    pub async fn room(&self) {
        while !self.has_room() {
            self.taken.notified().await;
        }
    }

    pub fn has_room(&self) -> bool {
        let log = self.log.borrow();
        let viewers = self.viewers.borrow();
        viewers
            .iter()
            .all(|viewer| log.has_room(viewer.position.get()))
    }

    pub fn print(&self, stream: usize, bytes: &[u8]) {
        self.log.borrow_mut().push(stream, bytes);
        self.tell();
    }

    pub fn finish(&self, end: End) {
        *self.end.borrow_mut() = Some(end);
        self.has_ended.notify_waiters();
        self.tell();
    }

    /// Sends a signal to the foreground group of its terminal, else to the group that it leads.
    pub fn signal(&self, number: i32) {
        let foreground = self.terminal.as_ref().and_then(Screen::foreground);
        // SAFETY: kill takes numbers and touches no memory.
        unsafe { libc::kill(-foreground.unwrap_or(self.pid), number) };
    }

    pub fn viewer_count(&self) -> usize {
        self.viewers.borrow().len()
    }

    /// The viewer begins at `from`, or at the oldest kept output.
    pub fn enter(&self, from: Option<u64>) -> Rc<Viewer> {
        let log = self.log.borrow();
        let position = from.unwrap_or(0).clamp(log.oldest(), log.end());
        let viewer = Rc::new(Viewer {
            position: Cell::new(position),
            news: Notify::new(),
        });
        self.viewers.borrow_mut().push(Rc::clone(&viewer));
        viewer
    }

    pub fn leave(&self, viewer: &Rc<Viewer>) {
        self.viewers
            .borrow_mut()
            .retain(|other| !Rc::ptr_eq(other, viewer));
        self.taken.notify_one();
    }

    pub fn took(&self, viewer: &Viewer, bytes: usize) {
        viewer.position.set(viewer.position.get() + bytes as u64);
        self.taken.notify_one();
    }

    fn tell(&self) {
        for viewer in self.viewers.borrow().iter() {
            viewer.news.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::readiness::writable;
    use rustix::pipe::{PipeFlags, pipe_with};

    fn process() -> Detached {
        let (_, input) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        Detached::new(1, None, String::new(), writable(input).unwrap(), None)
    }

    fn print(process: &Detached, bytes: usize) {
        process.print(0, &vec![b'x'; bytes]);
    }

    #[tokio::test]
    async fn without_viewers_there_is_always_room() {
        let process = process();
        for _ in 0..100 {
            print(&process, 65_536);
            assert!(process.has_room());
        }
    }

    #[tokio::test]
    async fn there_is_room_when_the_slowest_viewer_has_it() {
        let process = process();
        let (quick, slow) = (process.enter(None), process.enter(None));
        print(&process, 262_145);
        assert!(!process.has_room());
        process.took(&quick, 262_145);
        assert!(!process.has_room());
        process.took(&slow, 1);
        process.room().await;
        print(&process, 1);
        assert!(!process.has_room());
        process.leave(&slow);
        process.room().await;
    }

    #[tokio::test]
    async fn a_viewer_begins_at_the_position_that_it_wants_where_that_is_kept() {
        let process = process();
        print(&process, 300_000);
        let begins = |from| process.enter(from).position.get();
        assert_eq!(begins(None), 300_000 - 262_144);
        assert_eq!(begins(Some(5)), 300_000 - 262_144);
        assert_eq!(begins(Some(299_999)), 299_999);
        assert_eq!(begins(Some(400_000)), 300_000);
    }
}
