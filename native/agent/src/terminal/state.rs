//! One terminal: its size, its output and its viewers.

use rustix::termios::tcgetpgrp;
use std::cell::{Cell, Ref, RefCell};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::ring::Ring;
use crate::exec::terminal::{self, Size};

pub struct Terminal {
    pub id: String,
    pub created_ms: u64,
    /// Process id of its shell.
    pub pid: i32,
    master: OwnedFd,
    ring: RefCell<Ring>,
    size: Cell<Size>,
    /// In the order of their last input: the most recent comes last.
    viewers: RefCell<Vec<Rc<Viewer>>>,
    /// The wait status of the shell, once it and its output have ended.
    end: Cell<Option<i32>>,
    has_ended: Notify,
    /// Notified when a caller asks for its end.
    pub closing: Notify,
    /// True when a program other than the shell had the terminal at the last check, and nothing was printed since.
    was_busy: Cell<bool>,
    last_work: Cell<Option<Instant>>,
}

/// A viewer of a terminal.
#[derive(Default)]
pub struct Viewer {
    /// None: the viewer shows the terminal in whatever size it has.
    size: Cell<Option<Size>>,
    /// Notified when there is new output, or another size.
    pub news: Notify,
}

impl Terminal {
    pub fn new(id: &str, pid: i32, master: OwnedFd, size: Size) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            id: id.to_owned(),
            created_ms: now.map_or(0, |now| now.as_millis() as u64),
            pid,
            master,
            ring: RefCell::default(),
            size: Cell::new(size),
            viewers: RefCell::default(),
            end: Cell::new(None),
            has_ended: Notify::new(),
            closing: Notify::new(),
            was_busy: Cell::new(false),
            last_work: Cell::new(None),
        }
    }

    pub fn ring(&self) -> Ref<'_, Ring> {
        self.ring.borrow()
    }

    pub fn size(&self) -> Size {
        self.size.get()
    }

    pub fn end(&self) -> Option<i32> {
        self.end.get()
    }

    /// Resolves once it has ended.
    pub async fn ended(&self) {
        while self.end.get().is_none() {
            self.has_ended.notified().await;
        }
    }

    /// Returns a descriptor for typed input, which the caller owns.
    pub fn input(&self) -> io::Result<OwnedFd> {
        self.master.try_clone()
    }

    /// Takes output of the terminal.
    pub fn print(&self, bytes: &[u8]) {
        self.ring.borrow_mut().push(bytes);
        let was_busy = self.was_busy.take();
        // The prompt after a program ends that program's work. Output of background jobs is no work.
        if !self.busy() && was_busy {
            self.last_work.set(Some(Instant::now()));
        }
        self.tell();
    }

    pub fn finish(&self, status: i32) {
        self.end.set(Some(status));
        self.has_ended.notify_waiters();
        self.tell();
    }

    /// True while a program other than the shell has the terminal. A call that finds such a program counts as
    /// work: the shell may print its prompt long after the program's end.
    pub fn busy(&self) -> bool {
        let other = |group| group != self.pid;
        let busy = self.end.get().is_none() && self.foreground().is_some_and(other);
        if busy {
            self.was_busy.set(true);
            self.last_work.set(Some(Instant::now()));
        }
        busy
    }

    /// Returns the process group that gets typed input.
    pub fn foreground(&self) -> Option<i32> {
        let group = tcgetpgrp(&self.master).ok()?;
        Some(group.as_raw_nonzero().get())
    }

    /// Returns the kernel's name of the program that has the terminal.
    pub fn program(&self) -> String {
        let pid = self.foreground().unwrap_or(self.pid);
        let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        String::from_utf8_lossy(&name).trim_end().to_owned()
    }

    /// The last time of work: something typed, a program in the foreground.
    pub fn last_work(&self) -> Option<Instant> {
        self.last_work.get()
    }

    pub fn viewer_count(&self) -> usize {
        self.viewers.borrow().len()
    }

    pub fn enter(&self, size: Option<Size>) -> Rc<Viewer> {
        let viewer = Rc::new(Viewer::default());
        viewer.size.set(size);
        self.viewers.borrow_mut().push(Rc::clone(&viewer));
        self.adopt_size();
        viewer
    }

    pub fn leave(&self, viewer: &Rc<Viewer>) {
        self.viewers
            .borrow_mut()
            .retain(|other| !Rc::ptr_eq(other, viewer));
        self.adopt_size();
        // A program that prints nothing may end before the next check.
        self.busy();
    }

    pub fn resized(&self, viewer: &Rc<Viewer>, size: Size) {
        viewer.size.set(Some(size));
        self.at_work(viewer);
    }

    pub fn typed(&self, viewer: &Rc<Viewer>) {
        self.last_work.set(Some(Instant::now()));
        self.at_work(viewer);
    }

    /// Makes the program redraw its whole screen: the terminal has one row less for a moment, since the same
    /// size is no change.
    pub async fn repaint(&self, pause: std::time::Duration) {
        let Size { columns, rows } = self.size.get();
        if rows < 2 {
            return;
        }
        let less = Size {
            columns,
            rows: rows - 1,
        };
        let _ = terminal::resize(&self.master, less);
        tokio::time::sleep(pause).await;
        let _ = terminal::resize(&self.master, self.size.get());
    }

    fn at_work(&self, viewer: &Rc<Viewer>) {
        let mut viewers = self.viewers.borrow_mut();
        if let Some(index) = viewers.iter().position(|other| Rc::ptr_eq(other, viewer)) {
            let moved = viewers.remove(index);
            viewers.push(moved);
        }
        drop(viewers);
        self.adopt_size();
    }

    /// The size is that of the viewer with the latest input. With the smallest of all sizes, a forgotten
    /// window would cramp the others.
    fn adopt_size(&self) {
        let size = {
            let viewers = self.viewers.borrow();
            viewers.iter().rev().find_map(|viewer| viewer.size.get())
        };
        let Some(size) = size.filter(|size| *size != self.size.get()) else {
            return;
        };
        self.size.set(size);
        let _ = terminal::resize(&self.master, size);
        self.tell();
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
    use rustix::termios::tcgetwinsize;

    const fn size(columns: u16, rows: u16) -> Size {
        Size { columns, rows }
    }

    /// With its slave, through which a program sees it.
    fn opened() -> (Terminal, OwnedFd) {
        let opened = terminal::open(size(80, 24)).unwrap();
        let made = Terminal::new("main", 1, opened.master, size(80, 24));
        (made, opened.slave)
    }

    fn seen(slave: &OwnedFd) -> (u16, u16) {
        let size = tcgetwinsize(slave).unwrap();
        (size.ws_col, size.ws_row)
    }

    #[test]
    fn the_size_is_that_of_the_viewer_who_was_last_at_work() {
        let (terminal, slave) = opened();
        let first = terminal.enter(Some(size(100, 30)));
        assert_eq!(seen(&slave), (100, 30));
        let second = terminal.enter(Some(size(60, 20)));
        assert_eq!(seen(&slave), (60, 20));
        terminal.typed(&first);
        assert_eq!(seen(&slave), (100, 30));
        terminal.resized(&second, size(61, 21));
        assert_eq!(seen(&slave), (61, 21));
        terminal.leave(&second);
        assert_eq!(seen(&slave), (100, 30));
        terminal.leave(&first);
        assert_eq!(seen(&slave), (100, 30));
    }

    #[test]
    fn a_viewer_without_a_size_changes_none() {
        let (terminal, slave) = opened();
        let watcher = terminal.enter(None);
        terminal.typed(&watcher);
        assert_eq!(seen(&slave), (80, 24));
        terminal.enter(Some(size(90, 25)));
        terminal.typed(&watcher);
        assert_eq!(seen(&slave), (90, 25));
    }

    #[test]
    fn what_is_typed_is_work_and_what_background_jobs_print_is_none() {
        let (terminal, _slave) = opened();
        terminal.print(b"from a job");
        assert!(terminal.last_work().is_none() && !terminal.busy());
        let viewer = terminal.enter(None);
        assert!(terminal.last_work().is_none());
        terminal.typed(&viewer);
        assert!(terminal.last_work().is_some());
    }
}
