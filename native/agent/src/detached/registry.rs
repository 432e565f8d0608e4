//! All detached processes of the sandbox, and the bounds that they share.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::rc::Rc;

use super::state::{Detached, Viewer};
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

const MAX_RUNNING: usize = 128;
/// Processes that have ended, and can still be asked for their output and their end.
const MAX_ENDED: usize = 128;
/// Most output of all of them.
const MAX_ENDED_BYTES: usize = 16 << 20;
/// Most viewers of one process.
const MAX_VIEWERS: usize = 16;
/// Most viewers of all processes.
const MAX_ALL_VIEWERS: usize = 256;
const MAX_TAG_BYTES: usize = 64;

#[derive(Default)]
pub struct Registry {
    /// Oldest first.
    processes: RefCell<Vec<Rc<Detached>>>,
    /// Tags of processes that are being started.
    starting: RefCell<Vec<Option<String>>>,
}

/// Holds the place and the tag of a process that is being started.
pub struct Starting<'a> {
    registry: &'a Registry,
    tag: Option<String>,
}

/// The place of a viewer, which is freed when this is dropped.
pub struct Seat {
    pub process: Rc<Detached>,
    pub viewer: Rc<Viewer>,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        let mut starting = self.registry.starting.borrow_mut();
        if let Some(index) = starting.iter().position(|other| *other == self.tag) {
            starting.swap_remove(index);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.process.leave(&self.viewer);
    }
}

impl Registry {
    /// Oldest first.
    pub fn all(&self) -> Vec<Rc<Detached>> {
        self.processes.borrow().clone()
    }

    /// @param reference A process id or a tag. Of several the one that runs counts, else the newest.
    pub fn find(&self, reference: &str) -> Result<Rc<Detached>, Fault> {
        let pid = reference.parse::<i32>().ok();
        let is_named = |one: &&Rc<Detached>| match pid {
            Some(pid) => one.pid == pid,
            None => one.tag.as_deref() == Some(reference),
        };
        self.processes
            .borrow()
            .iter()
            .rev()
            .filter(is_named)
            .min_by_key(|one| one.has_ended())
            .cloned()
            .ok_or_else(|| {
                Fault::not_found(
                    Resource::Process,
                    format!("There is no detached process '{reference}'."),
                )
                .parameter("process")
                .hint("List the processes: those that ended long ago are forgotten.")
            })
    }

    /// Fails unless one more process may be started under this tag.
    pub fn begin(&self, tag: Option<String>) -> Result<Starting<'_>, Fault> {
        let processes = self.processes.borrow();
        let mut starting = self.starting.borrow_mut();
        let running = || processes.iter().filter(|one| !one.has_ended());
        if let Some(tag) = &tag {
            check_tag(tag)?;
            if running().any(|one| one.tag.as_ref() == Some(tag))
                || starting.iter().any(|other| other.as_ref() == Some(tag))
            {
                return Err(Fault::new(
                    Code::AlreadyExists,
                    format!("A process with the tag '{tag}' runs already."),
                )
                .parameter("tag")
                .hint("Choose another tag, or end that process."));
            }
        }
        if running().count() + starting.len() >= MAX_RUNNING {
            return Err(Fault::new(
                Code::ResourceExhausted,
                format!("{MAX_RUNNING} detached processes run in the sandbox."),
            )
            .hint("End one that is not needed."));
        }
        starting.push(tag.clone());
        Ok(Starting {
            registry: self,
            tag,
        })
    }

    pub fn add(&self, process: &Rc<Detached>) {
        self.processes.borrow_mut().push(Rc::clone(process));
    }

    pub fn remove(&self, process: &Rc<Detached>) {
        self.processes
            .borrow_mut()
            .retain(|other| !Rc::ptr_eq(other, process));
    }

    /// Forgets those that ended the longest ago, beyond the bounds.
    pub fn forget_oldest(&self) {
        let mut processes = self.processes.borrow_mut();
        let mut ended: Vec<_> = processes
            .iter()
            .rev()
            .filter_map(|one| Some((one.end()?.ended_ms, Rc::clone(one))))
            .collect();
        ended.sort_by_key(|(ended_ms, _)| Reverse(*ended_ms));
        let (mut count, mut bytes) = (0, 0);
        ended.retain(|(_, one)| {
            count += 1;
            bytes += one.log().kept();
            count > MAX_ENDED || bytes > MAX_ENDED_BYTES
        });
        processes.retain(|one| !ended.iter().any(|(_, other)| Rc::ptr_eq(one, other)));
    }

    pub fn enter(&self, process: Rc<Detached>, from: Option<u64>) -> Result<Seat, Fault> {
        let processes = self.processes.borrow();
        let all: usize = processes.iter().map(|one| one.viewer_count()).sum();
        if all >= MAX_ALL_VIEWERS {
            return Err(no_seat(all, "the sandbox's processes"));
        }
        if process.viewer_count() >= MAX_VIEWERS {
            return Err(no_seat(MAX_VIEWERS, "the process"));
        }
        let viewer = process.enter(from);
        Ok(Seat { process, viewer })
    }

    /// True while one of them runs.
    pub fn busy(&self) -> bool {
        self.processes.borrow().iter().any(|one| !one.has_ended())
    }
}

fn check_tag(tag: &str) -> Result<(), Fault> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let begins = tag.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    match begins && tag.len() <= MAX_TAG_BYTES && tag.bytes().all(is_plain) {
        true => Ok(()),
        false => Err(Fault::invalid(
            "tag",
            format!(
                "A tag has up to {MAX_TAG_BYTES} letters, digits, _ and -, and begins with a letter."
            ),
        )),
    }
}

fn no_seat(viewers: usize, what: &str) -> Fault {
    Fault::new(
        Code::ResourceExhausted,
        format!("{viewers} viewers follow {what}."),
    )
    .hint("End one of them, then try again.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detached::state::End;
    use crate::init::readiness::writable;
    use crate::process::signals;
    use rustix::pipe::{PipeFlags, pipe_with};

    fn add(registry: &Registry, pid: i32, tag: Option<&str>) -> Rc<Detached> {
        let (_, input) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let tag = tag.map(str::to_owned);
        let input = writable(input).unwrap();
        let made = Rc::new(Detached::new(pid, tag, String::new(), input, None));
        registry.add(&made);
        made
    }

    fn finish(registry: &Registry, process: &Detached, ended_ms: u64) {
        process.finish(End {
            program: signals::End::of(0),
            timed_out: false,
            ended_ms,
        });
        registry.forget_oldest();
    }

    fn code<T>(result: Result<T, Fault>) -> Code {
        result.err().unwrap().code
    }

    #[tokio::test]
    async fn processes_are_bounded_those_included_that_are_being_started() {
        let registry = Registry::default();
        for pid in 1..128 {
            add(&registry, pid, None);
        }
        let starting = registry.begin(None);
        assert!(starting.is_ok());
        assert_eq!(code(registry.begin(None)), Code::ResourceExhausted);
        drop(starting);
        assert!(registry.begin(None).is_ok());
    }

    #[tokio::test]
    async fn a_tag_belongs_to_one_that_runs() {
        let registry = Registry::default();
        let tag = || Some("server".to_owned());
        let starting = registry.begin(tag());
        assert_eq!(code(registry.begin(tag())), Code::AlreadyExists);
        drop(starting);
        let first = add(&registry, 5, Some("server"));
        assert_eq!(code(registry.begin(tag())), Code::AlreadyExists);
        finish(&registry, &first, 1_000);
        assert!(registry.begin(tag()).is_ok());
        let second = add(&registry, 6, Some("server"));
        assert!(Rc::ptr_eq(&registry.find("server").unwrap(), &second));
        assert!(Rc::ptr_eq(&registry.find("5").unwrap(), &first));
        for tag in ["", "5", "a b", &"x".repeat(65)] {
            assert_eq!(
                code(registry.begin(Some(tag.to_owned()))),
                Code::InvalidArgument
            );
        }
    }

    fn pids(registry: &Registry) -> Vec<i32> {
        registry.all().iter().map(|one| one.pid).collect()
    }

    #[tokio::test]
    async fn those_that_ended_the_longest_ago_are_forgotten() {
        let registry = Registry::default();
        add(&registry, 1, None);
        let first = add(&registry, 2, None);
        for pid in 3..133 {
            let process = add(&registry, pid, None);
            finish(&registry, &process, 1_000);
        }
        assert_eq!(
            pids(&registry),
            [[1, 2].as_slice(), &Vec::from_iter(5..133)].concat()
        );
        finish(&registry, &first, 2_000);
        assert_eq!(
            pids(&registry),
            [[1, 2].as_slice(), &Vec::from_iter(6..133)].concat()
        );
        assert!(registry.busy());
        assert_eq!(code(registry.find("3")), Code::NotFound);
    }

    #[tokio::test]
    async fn the_output_of_those_that_have_ended_is_bounded() {
        let registry = Registry::default();
        for pid in 1..=60 {
            let process = add(&registry, pid, None);
            process.print(0, &[b'x'; 300_000]);
            finish(&registry, &process, 1_000 + pid as u64);
        }
        assert_eq!(pids(&registry), Vec::from_iter(6..=60));
    }

    #[tokio::test]
    async fn viewers_are_bounded_and_leave_room_when_they_leave() {
        let registry = Registry::default();
        let mut seats = Vec::new();
        for pid in 1..=16 {
            let process = add(&registry, pid, None);
            for _ in 0..16 {
                seats.push(registry.enter(Rc::clone(&process), None).ok().unwrap());
            }
            assert!(registry.enter(process, None).is_err());
        }
        let other = add(&registry, 99, None);
        assert_eq!(
            code(registry.enter(Rc::clone(&other), None)),
            Code::ResourceExhausted
        );
        seats.pop();
        assert!(registry.enter(other, None).is_ok());
    }
}
