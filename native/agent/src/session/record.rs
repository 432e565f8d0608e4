//! One command of a session: its status and its output.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::exec::pipes::Captures;

/// Bytes kept of each stream, and of both interleaved. Of more, the beginning and the end are kept.
pub const STREAM_BYTES: usize = 1 << 20;
/// Characters kept of the command's text.
const EXCERPT_CHARS: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Queued,
    Running,
    /// With the exit code.
    Completed(i32),
}

pub struct Record {
    pub id: String,
    pub excerpt: String,
    status: watch::Sender<Status>,
    /// Shared with the reader of the command's outputs.
    captures: Rc<RefCell<Captures>>,
    /// Bytes kept of each stream; lowered while the sandbox's logs are too large.
    stream_bytes: Cell<usize>,
    dropped: Cell<bool>,
    ended: Cell<Option<Instant>>,
}

impl Record {
    pub fn new(id: &str, text: &str, status: Status) -> Self {
        Self {
            id: id.to_owned(),
            excerpt: text.chars().take(EXCERPT_CHARS).collect(),
            status: watch::Sender::new(status),
            captures: Rc::new(RefCell::new(Captures::new(STREAM_BYTES))),
            stream_bytes: Cell::new(STREAM_BYTES),
            dropped: Cell::new(false),
            ended: Cell::new(None),
        }
    }

    pub fn status(&self) -> Status {
        *self.status.borrow()
    }

    pub fn begin(&self) {
        self.status.send_replace(Status::Running);
    }

    pub fn complete(&self, exit_code: i32) {
        self.ended.set(Some(Instant::now()));
        self.status.send_replace(Status::Completed(exit_code));
    }

    /// Resolves when the command has left its queue.
    pub async fn begun(&self) {
        let mut status = self.status.subscribe();
        let _ = status.wait_for(|status| *status != Status::Queued).await;
    }

    pub async fn completed(&self) {
        let mut status = self.status.subscribe();
        let _ = status
            .wait_for(|status| matches!(status, Status::Completed(_)))
            .await;
    }

    pub fn captures(&self) -> &Rc<RefCell<Captures>> {
        &self.captures
    }

    /// Adds output that did not come by the pipes of stdout (0) and stderr (1).
    pub fn print(&self, stream: usize, bytes: &[u8]) {
        self.captures.borrow_mut().push(stream, bytes);
    }

    pub fn kept(&self) -> usize {
        self.captures.borrow().kept()
    }

    pub fn ended(&self) -> Option<Instant> {
        self.ended.get()
    }

    pub fn stream_bytes(&self) -> usize {
        self.stream_bytes.get()
    }

    pub fn shrink(&self, stream_bytes: usize) {
        self.stream_bytes.set(stream_bytes);
        self.captures.borrow_mut().shrink(stream_bytes);
    }

    /// Drops the log, and discards all further output.
    pub fn drop_log(&self) {
        self.dropped.set(true);
        self.shrink(0);
    }

    pub fn has_log(&self) -> bool {
        !self.dropped.get()
    }
}
