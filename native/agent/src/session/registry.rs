//! All sessions of the sandbox, and the bounds that they share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tokio::time::Instant;

use super::record::{Record, Status};
use super::state::Session;
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

const MAX_ACTIVE: usize = 32;
/// Closed sessions that are kept, so that their logs can be read.
const MAX_CLOSED: usize = 32;
/// Most bytes of all logs together.
const MAX_LOG_BYTES: usize = 24 << 20;
/// Bytes that a stream of a running command keeps in any case.
const MIN_STREAM_BYTES: usize = 64 << 10;
/// Most bytes of the texts of all waiting commands.
const MAX_QUEUED_BYTES: usize = 8 << 20;
/// Ended commands whose background children are still read; further pipes are closed.
const MAX_LINGERING: usize = 256;

#[derive(Default)]
pub struct Registry {
    /// Oldest first.
    sessions: RefCell<Vec<Rc<Session>>>,
    lingering: Rc<()>,
    /// Time at which a command ended last.
    last_end: Cell<Option<Instant>>,
}

impl Registry {
    /// A closed session of the same id is replaced.
    pub fn add(&self, session: &Rc<Session>) {
        let mut sessions = self.sessions.borrow_mut();
        sessions.retain(|other| other.id != session.id);
        sessions.push(Rc::clone(session));
    }

    pub fn remove(&self, session: &Rc<Session>) {
        let mut sessions = self.sessions.borrow_mut();
        sessions.retain(|other| !Rc::ptr_eq(other, session));
    }

    /// Fails unless a session of this id may be made.
    pub fn check_room(&self, id: &str) -> Result<(), Fault> {
        let active = self.active();
        if active.iter().any(|session| session.id == id) {
            return Err(Fault::new(
                Code::AlreadyExists,
                format!("There is an active session '{id}' already."),
            )
            .parameter("session_id")
            .hint("Use it, choose another session_id, or leave session_id out."));
        }
        if active.len() >= MAX_ACTIVE {
            return Err(Fault::new(
                Code::ResourceExhausted,
                format!("{MAX_ACTIVE} sessions are active in the sandbox."),
            )
            .hint("End one by running the command 'exit' in it, or use an existing one."));
        }
        Ok(())
    }

    pub fn find(&self, id: &str) -> Result<Rc<Session>, Fault> {
        let sessions = self.sessions.borrow();
        let found = sessions.iter().find(|session| session.id == id);
        found.cloned().ok_or_else(|| {
            Fault::not_found(Resource::Session, format!("There is no session '{id}'."))
                .parameter("session_id")
                .hint("Call Sandbox.ListSessions, or make one with Sandbox.CreateSession.")
        })
    }

    /// Oldest first.
    pub fn active(&self) -> Vec<Rc<Session>> {
        let sessions = self.sessions.borrow();
        let active = sessions.iter().filter(|session| !session.closed());
        active.cloned().collect()
    }

    pub fn busy(&self) -> bool {
        self.sessions.borrow().iter().any(|session| session.busy())
    }

    /// Milliseconds since the last end of a command; None when no command has ended yet.
    pub fn idle_ms(&self) -> Option<u64> {
        let last = self.last_end.get()?;
        Some(last.elapsed().as_millis() as u64)
    }

    pub fn note_end(&self) {
        self.last_end.set(Some(Instant::now()));
    }

    pub fn check_queue(&self, more: usize) -> Result<(), Fault> {
        let sessions = self.sessions.borrow();
        let queued: usize = sessions.iter().map(|session| session.queued_bytes()).sum();
        if queued + more <= MAX_QUEUED_BYTES {
            return Ok(());
        }
        Err(Fault::new(
            Code::ResourceExhausted,
            format!("The commands that wait in all sessions are over {MAX_QUEUED_BYTES} bytes."),
        )
        .hint("Wait until some have ended, or put long scripts into files."))
    }

    /// Called when a session has closed: the oldest ones are forgotten.
    pub fn forget_closed(&self) {
        let mut sessions = self.sessions.borrow_mut();
        let closed = sessions.iter().filter(|session| session.closed()).count();
        let mut excess = closed.saturating_sub(MAX_CLOSED);
        sessions.retain(|session| {
            let forget = excess > 0 && session.closed();
            if forget {
                excess -= 1;
                session
                    .records()
                    .iter()
                    .for_each(|record| record.drop_log());
            }
            !forget
        });
    }

    /// Trims all logs together to their bound. Ended commands lose theirs, the one that ended first before
    /// the others; then the running command with the largest log keeps less.
    pub fn trim(&self) {
        let sessions = self.sessions.borrow();
        let mut records: Vec<_> = sessions.iter().flat_map(|one| one.records()).collect();
        let mut kept: usize = records.iter().map(|record| record.kept()).sum();
        if kept <= MAX_LOG_BYTES {
            return;
        }
        records.sort_by_key(|record| record.ended());
        for record in records.iter().filter(|record| is_completed(record)) {
            kept -= record.kept();
            record.drop_log();
            if kept <= MAX_LOG_BYTES {
                return;
            }
        }
        while kept > MAX_LOG_BYTES {
            let running = records.iter().filter(|record| !is_completed(record));
            let Some(largest) = running
                .filter(|record| record.stream_bytes() > MIN_STREAM_BYTES)
                .max_by_key(|record| record.kept())
            else {
                return;
            };
            kept -= largest.kept();
            largest.shrink(largest.stream_bytes() / 2);
            kept += largest.kept();
        }
    }

    /// A place for reading the background children of one more command, free again when it is dropped; none where all are taken.
    pub fn enter_lingering(&self) -> Option<Rc<()>> {
        let taken = Rc::strong_count(&self.lingering) - 1;
        (taken < MAX_LINGERING).then(|| Rc::clone(&self.lingering))
    }
}

fn is_completed(record: &Record) -> bool {
    matches!(record.status(), Status::Completed(_))
}
