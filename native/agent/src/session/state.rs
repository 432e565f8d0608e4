//! One session: its waiting commands, the running one, and recent ones.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::{Notify, watch};

use super::record::{Record, Status};
use super::terminal::Terminal;
use crate::exec::spawn::Channel;
use crate::wire::fault::{Code, Fault};

const MAX_QUEUED: usize = 64;
const MAX_REMEMBERED: usize = 100;
/// The status of `timeout`, `env` and similar programs when they could not run their command.
pub const NOT_RUN_EXIT_CODE: i32 = 125;

pub struct Session {
    pub id: String,
    pub created_ms: u64,
    /// None once the session is closed.
    terminal: RefCell<Option<Rc<Terminal>>>,
    closed: watch::Sender<bool>,
    /// None until the shell runs, and in a session that is closed.
    tree: RefCell<Option<Weak<Channel>>>,
    /// The session ends as soon as it has started.
    killed: Cell<bool>,
    running: RefCell<Option<Rc<Record>>>,
    queue: RefCell<VecDeque<Queued>>,
    /// Oldest first. Those that wait or run are the last of them.
    records: RefCell<VecDeque<Rc<Record>>>,
    wake: Notify,
}

pub struct Queued {
    pub record: Rc<Record>,
    pub text: String,
}

impl Session {
    pub fn new(id: &str, terminal: &Rc<Terminal>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            id: id.to_owned(),
            created_ms: now.map_or(0, |now| now.as_millis() as u64),
            terminal: RefCell::new(Some(Rc::clone(terminal))),
            closed: watch::Sender::new(false),
            tree: RefCell::default(),
            killed: Cell::new(false),
            running: RefCell::default(),
            queue: RefCell::default(),
            records: RefCell::default(),
            wake: Notify::new(),
        }
    }

    pub fn closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Resolves when the session is closed.
    pub async fn ended(&self) {
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// @param tree Of the shell and all that it starts.
    pub fn runs(&self, tree: &Rc<Channel>) {
        *self.tree.borrow_mut() = Some(Rc::downgrade(tree));
        if self.killed.get() {
            tree.kill();
        }
    }

    /// Kills the shell and all that it has started, which closes the session.
    pub fn kill(&self) {
        self.killed.set(true);
        if let Some(tree) = self.tree.borrow().as_ref().and_then(Weak::upgrade) {
            tree.kill();
        }
    }

    pub fn terminal(&self) -> Option<Rc<Terminal>> {
        self.terminal.borrow().clone()
    }

    /// True while a command waits or runs.
    pub fn busy(&self) -> bool {
        self.running.borrow().is_some() || !self.queue.borrow().is_empty()
    }

    pub fn find(&self, command_id: &str) -> Option<Rc<Record>> {
        let records = self.records.borrow();
        records
            .iter()
            .find(|record| record.id == command_id)
            .cloned()
    }

    /// Oldest first.
    pub fn records(&self) -> Vec<Rc<Record>> {
        self.records.borrow().iter().cloned().collect()
    }

    pub fn queued_bytes(&self) -> usize {
        self.queue.borrow().iter().map(|one| one.text.len()).sum()
    }

    /// The command counts as running at once when none is before it.
    pub fn enqueue(&self, command_id: &str, text: String) -> Result<Rc<Record>, Fault> {
        if self.queue.borrow().len() >= MAX_QUEUED {
            return Err(Fault::new(
                Code::ResourceExhausted,
                format!(
                    "{MAX_QUEUED} commands already wait in session '{}'.",
                    self.id
                ),
            )
            .hint("Wait until some have ended, or use another session."));
        }
        if self.find(command_id).is_some() {
            return Err(Fault::new(
                Code::AlreadyExists,
                format!(
                    "Session '{}' has a command '{command_id}' already.",
                    self.id
                ),
            ));
        }
        let status = if self.busy() {
            Status::Queued
        } else {
            Status::Running
        };
        let record = Rc::new(Record::new(command_id, &text, status));
        self.remember(&record);
        self.queue.borrow_mut().push_back(Queued {
            record: Rc::clone(&record),
            text,
        });
        self.wake.notify_one();
        Ok(record)
    }

    /// The next command, which runs from now on. May be dropped and called again.
    pub async fn next(&self) -> Queued {
        loop {
            let next = self.queue.borrow_mut().pop_front();
            if let Some(next) = next {
                next.record.begin();
                *self.running.borrow_mut() = Some(Rc::clone(&next.record));
                return next;
            }
            self.wake.notified().await;
        }
    }

    /// Ends the running command.
    pub fn complete(&self, exit_code: i32) {
        let running = self.running.borrow_mut().take();
        if let Some(record) = running {
            record.complete(exit_code);
        }
    }

    /// No command runs any more, and none will.
    pub fn close(&self) {
        self.closed.send_replace(true);
        *self.terminal.borrow_mut() = None;
        let queued = std::mem::take(&mut *self.queue.borrow_mut());
        for Queued { record, .. } in queued {
            record.print(1, b"The session was closed before this command ran.\n");
            record.complete(NOT_RUN_EXIT_CODE);
        }
    }

    fn remember(&self, record: &Rc<Record>) {
        let mut records = self.records.borrow_mut();
        records.push_back(Rc::clone(record));
        while records.len() > MAX_REMEMBERED {
            if let Some(oldest) = records.pop_front() {
                oldest.drop_log();
            }
        }
    }
}
