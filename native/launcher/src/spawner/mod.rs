//! `spawner`: starts programs for the service, and reports their output and end. A fork of the service would
//! copy the page tables of all its memory and delay every call meanwhile; this process is small, and forks
//! quickly.
//!
//! Requests come on standard input and answers go to standard output, both as frames (`frame.rs`). Each program has a
//! process group of its own. Standard input ends with the service: this process then ends too, and programs continue.

mod child;
mod frame;
mod mounts;
mod netfilter;

use crate::failure::{Failure, Step};
use child::Child;
use frame::{Answer, Reader, Request};
use mounts::Mounts;
use netfilter::Netfilter;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{Write, stdin, stdout};
use std::os::fd::{AsFd, BorrowedFd};

/// Ends with standard input.
pub fn run() -> Result<(), Failure> {
    let input = stdin();
    let mounts = Mounts::make();
    let mut reader = Reader::default();
    let mut children: Vec<Child> = Vec::new();
    let mut netfilter = Netfilter::default();
    loop {
        let ready = wait(input.as_fd(), &children)?;
        for (child, readable) in children.iter_mut().zip(ready.children) {
            for answer in child.advance(readable) {
                send(&answer)?;
            }
        }
        children.retain(|child| !child.is_over());
        if ready.input {
            let Some(requests) = reader.read(&input).step("read a request")? else {
                return Ok(());
            };
            for request in requests {
                for answer in obey(request, &mut children, &mounts, &mut netfilter) {
                    send(&answer)?;
                }
            }
        }
    }
}

fn obey(
    request: Request,
    children: &mut Vec<Child>,
    mounts: &Mounts,
    netfilter: &mut Netfilter,
) -> Vec<Answer> {
    match request {
        Request::Start(program) => {
            let id = program.id;
            match Child::start(program, mounts) {
                Ok(child) => children.push(child),
                Err(error) => return vec![Answer::failed(id, &error)],
            }
        }
        Request::Kill { id } => {
            if let Some(child) = children.iter().find(|child| child.id == id) {
                child.kill();
            }
        }
        Request::Netfilter { id, messages } => {
            return match netfilter.exchange(&messages) {
                Ok(answers) if answers.is_empty() => vec![Answer::ended(id, Some(0), None)],
                Ok(answers) => vec![
                    Answer::stdout(id, &answers),
                    Answer::ended(id, Some(0), None),
                ],
                Err(error) => vec![Answer::failed(id, &error)],
            };
        }
    }
    Vec::new()
}

struct Ready {
    input: bool,
    /// True for standard output, standard error and the end of each child, in order.
    children: Vec<[bool; 3]>,
}

fn wait(input: BorrowedFd<'_>, children: &[Child]) -> Result<Ready, Failure> {
    let mut places = vec![PollFd::from_borrowed_fd(input, PollFlags::IN)];
    let mut watched = Vec::new();
    for child in children {
        watched.push(child.watched().map(|file| {
            file.map(|file| {
                places.push(PollFd::from_borrowed_fd(file, PollFlags::IN));
                places.len() - 1
            })
        }));
    }
    while let Err(error) = poll(&mut places, None) {
        if error != Errno::INTR {
            return Err(error).step("wait for programs");
        }
    }
    let is_ready = |place: usize| {
        places
            .get(place)
            .is_some_and(|place| !place.revents().is_empty())
    };
    Ok(Ready {
        input: is_ready(0),
        children: watched
            .into_iter()
            .map(|files| files.map(|place| place.is_some_and(is_ready)))
            .collect(),
    })
}

/// Waits while the service reads slowly.
fn send(answer: &Answer) -> Result<(), Failure> {
    let mut output = stdout().lock();
    output
        .write_all(&answer.bytes())
        .and_then(|()| output.flush())
        .step("answer")
}
