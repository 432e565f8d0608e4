//! All terminals of the sandbox, and the bounds that they share.

use std::cell::RefCell;
use std::rc::Rc;
use tokio::sync::Notify;

use super::state::{Terminal, Viewer};
use crate::exec::terminal::Size;
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

const MAX_TERMINALS: usize = 32;
/// Most viewers of one terminal.
const MAX_VIEWERS: usize = 16;
/// Most viewers of all terminals.
const MAX_ALL_VIEWERS: usize = 64;
const MAX_ID_BYTES: usize = 64;

#[derive(Default)]
pub struct Registry {
    /// Oldest first.
    terminals: RefCell<Vec<Rc<Terminal>>>,
    /// Ids of terminals whose shell is being started.
    starting: RefCell<Vec<String>>,
    started: Notify,
}

/// Holds the id of a terminal that is being started.
pub struct Starting<'a> {
    registry: &'a Registry,
    id: &'a str,
}

/// The place of a viewer, which is freed when this is dropped.
pub struct Seat {
    pub terminal: Rc<Terminal>,
    pub viewer: Rc<Viewer>,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        let mut starting = self.registry.starting.borrow_mut();
        starting.retain(|other| other != self.id);
        drop(starting);
        self.registry.started.notify_waiters();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.terminal.leave(&self.viewer);
    }
}

impl Registry {
    /// Oldest first.
    pub fn all(&self) -> Vec<Rc<Terminal>> {
        self.terminals.borrow().clone()
    }

    pub fn find(&self, id: &str) -> Option<Rc<Terminal>> {
        let terminals = self.terminals.borrow();
        terminals.iter().find(|one| one.id == id).cloned()
    }

    pub fn not_found(id: &str) -> Fault {
        Fault::not_found(Resource::Terminal, format!("There is no terminal '{id}'."))
            .parameter("terminal")
            .hint("List the terminals, or open it with create=true.")
    }

    /// Waits for a start of the same id.
    pub async fn settled(&self, id: &str) {
        while self.starting.borrow().iter().any(|other| other == id) {
            self.started.notified().await;
        }
    }

    /// Fails unless one more terminal may be made.
    pub fn begin<'a>(&'a self, id: &'a str) -> Result<Starting<'a>, Fault> {
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            return Err(Fault::invalid(
                "terminal",
                format!("The id of a terminal has 1 to {MAX_ID_BYTES} bytes."),
            ));
        }
        let mut starting = self.starting.borrow_mut();
        if self.terminals.borrow().len() + starting.len() >= MAX_TERMINALS {
            return Err(Fault::new(
                Code::ResourceExhausted,
                format!("{MAX_TERMINALS} terminals are open in the sandbox."),
            )
            .hint("End one that is not needed, or use an existing one."));
        }
        starting.push(id.to_owned());
        Ok(Starting { registry: self, id })
    }

    pub fn add(&self, terminal: &Rc<Terminal>) {
        self.terminals.borrow_mut().push(Rc::clone(terminal));
    }

    pub fn remove(&self, terminal: &Rc<Terminal>) {
        let mut terminals = self.terminals.borrow_mut();
        terminals.retain(|other| !Rc::ptr_eq(other, terminal));
    }

    /// Fails unless one more viewer is allowed.
    pub fn check_seats(&self) -> Result<(), Fault> {
        let terminals = self.terminals.borrow();
        let viewers: usize = terminals.iter().map(|one| one.viewer_count()).sum();
        match viewers < MAX_ALL_VIEWERS {
            true => Ok(()),
            false => Err(no_seat(viewers, "the sandbox's terminals")),
        }
    }

    pub fn enter(&self, terminal: Rc<Terminal>, size: Option<Size>) -> Result<Seat, Fault> {
        self.check_seats()?;
        if terminal.viewer_count() >= MAX_VIEWERS {
            return Err(no_seat(MAX_VIEWERS, "the terminal"));
        }
        let viewer = terminal.enter(size);
        Ok(Seat { terminal, viewer })
    }

    pub fn busy(&self) -> bool {
        self.terminals.borrow().iter().any(|one| one.busy())
    }

    /// Milliseconds since the last work in a terminal; None when there was none.
    pub fn idle_ms(&self) -> Option<u64> {
        let terminals = self.terminals.borrow();
        let last = terminals.iter().filter_map(|one| one.last_work()).max()?;
        Some(last.elapsed().as_millis() as u64)
    }
}

fn no_seat(viewers: usize, what: &str) -> Fault {
    Fault::new(
        Code::ResourceExhausted,
        format!("{viewers} viewers have {what} open."),
    )
    .hint("Detach one of them, then try again.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::terminal;

    const SIZE: Size = Size {
        columns: 80,
        rows: 24,
    };

    fn add(registry: &Registry, id: &str) -> Rc<Terminal> {
        let master = terminal::open(SIZE).unwrap().master;
        let made = Rc::new(Terminal::new(id, 1, master, SIZE));
        registry.add(&made);
        made
    }

    fn refused<T>(result: Result<T, Fault>) -> Code {
        result.err().unwrap().code
    }

    #[test]
    fn terminals_are_bounded_those_included_that_are_being_started() {
        let registry = Registry::default();
        for index in 0..31 {
            add(&registry, &format!("t{index}"));
        }
        let starting = registry.begin("last");
        assert!(starting.is_ok());
        assert_eq!(refused(registry.begin("more")), Code::ResourceExhausted);
        drop(starting);
        assert!(registry.begin("more").is_ok());
        assert_eq!(refused(registry.begin("")), Code::InvalidArgument);
        assert_eq!(
            refused(registry.begin(&"x".repeat(65))),
            Code::InvalidArgument
        );
    }

    #[test]
    fn viewers_are_bounded_and_leave_room_when_they_leave() {
        let registry = Registry::default();
        let mut seats = Vec::new();
        for index in 0..4 {
            let terminal = add(&registry, &format!("t{index}"));
            for _ in 0..16 {
                seats.push(registry.enter(Rc::clone(&terminal), None).ok().unwrap());
            }
            assert!(registry.enter(terminal, None).is_err());
        }
        let other = add(&registry, "other");
        assert_eq!(
            refused(registry.enter(Rc::clone(&other), None)),
            Code::ResourceExhausted
        );
        seats.pop();
        assert!(registry.enter(other, None).is_ok());
    }

    #[test]
    fn a_terminal_that_has_ended_is_there_no_more() {
        let registry = Registry::default();
        let terminal = add(&registry, "main");
        assert!(registry.find("main").is_some());
        registry.remove(&terminal);
        assert!(registry.find("main").is_none() && registry.all().is_empty());
    }
}
