//! Reads a command's two outputs in the order in which they were written.
//!
//! Each pipe is in packet mode and begins with room for one packet, so a second write to it waits until the
//! first is read; and an edge-triggered epoll reports pipes in the order in which they became readable.
//! Together they give the true order across both pipes, one packet at a time. That costs a switch of context
//! a write, so a command that writes much gets large pipes, and from then on the order is approximate.

use rustix::event::epoll;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use super::background;
use super::capture::{Capture, Captured, Parts};
use super::live::Live;
use super::turns::Turns;
use crate::init::readiness::readable;

/// A pipe's size, and a packet's, while the order is exact.
pub const EXACT_ORDER_BYTES: usize = 4096;
const MAX_EXACT_BYTES: usize = 256 << 10;
const MAX_EXACT_PACKETS: usize = 4_000;
/// Index of a descriptor beside the two pipes.
const OTHER: usize = 2;
const BULK_PIPE_BYTES: usize = 256 << 10;
/// Reads in the order of the writes at the end of a command: enough for pipes that the command has not enlarged.
const MAX_ORDERED_READS: usize = 2 * BULK_PIPE_BYTES / EXACT_ORDER_BYTES;
/// Reads in a row, before others get their turn.
const BULK_READS: usize = 64;

pub struct Outputs {
    epoll: AsyncFd<OwnedFd>,
    /// None for a pipe that has ended.
    pipes: [Option<OwnedFd>; 2],
    /// Sizes of the pipes before the command runs.
    sizes: [usize; 2],
    captures: Rc<RefCell<Captures>>,
    live: Option<Rc<Live>>,
    packets: usize,
    bytes: usize,
    exact: bool,
    /// The other descriptor was reported, and is not read yet.
    other_ready: bool,
    buffer: Box<[u8; EXACT_ORDER_BYTES]>,
}

/// The kept part of the two streams, and of both interleaved.
pub struct Captures {
    streams: [Capture; 2],
    both: Capture,
    turns: Turns,
    /// Notified whenever output was added.
    grown: Rc<Notify>,
}

impl Captures {
    pub fn new(limit: usize) -> Self {
        Self {
            streams: [Capture::new(limit), Capture::new(limit)],
            both: Capture::new(limit),
            turns: Turns::default(),
            grown: Rc::default(),
        }
    }

    /// `index` is 0 for stdout and 1 for stderr.
    pub fn push(&mut self, index: usize, bytes: &[u8]) {
        self.streams[index].push(bytes);
        self.both.push(bytes);
        self.turns.push(index, bytes.len());
        self.grown.notify_waiters();
    }

    /// Counts the bytes of both streams, kept or not.
    pub fn total(&self) -> u64 {
        self.both.total()
    }

    /// Notifies those who wait for more.
    pub fn grown(&self) -> Rc<Notify> {
        Rc::clone(&self.grown)
    }

    pub fn kept(&self) -> usize {
        self.all().map(Capture::kept).sum::<usize>() + self.turns.kept()
    }

    /// Lowers the limit of each stream to `limit` bytes, also for what is kept already.
    pub fn shrink(&mut self, limit: usize) {
        let [stdout, stderr] = &mut self.streams;
        for capture in [stdout, stderr, &mut self.both] {
            capture.shrink(limit);
        }
        if limit == 0 {
            self.turns.forget();
        }
    }

    pub fn snapshot(&self) -> Collected {
        let [stdout, stderr, output] =
            [&self.streams[0], &self.streams[1], &self.both].map(Capture::snapshot);
        Collected {
            stdout,
            stderr,
            output,
        }
    }

    /// Returns `output` alone.
    pub fn interleaved(&self) -> Captured {
        self.both.snapshot()
    }

    /// Returns `output` alone, after its first `offset` bytes.
    pub fn interleaved_since(&self, offset: u64) -> Captured {
        self.both.since(offset)
    }

    /// As `interleaved_since`, byte for byte.
    pub fn interleaved_parts(&self, offset: u64) -> Parts {
        self.both.parts_since(offset)
    }

    /// The lengths of the turns of stdout and stderr in `output` after its first `offset` bytes (see `Turns`).
    pub fn turns_since(&self, offset: u64) -> Vec<u64> {
        self.turns.since(offset)
    }

    fn all(&self) -> impl Iterator<Item = &Capture> {
        self.streams.iter().chain([&self.both])
    }
}

/// stdout, stderr, and both interleaved.
pub struct Collected {
    pub stdout: Captured,
    pub stderr: Captured,
    pub output: Captured,
}

impl Outputs {
    pub fn new(stdout: OwnedFd, stderr: OwnedFd, limit: usize) -> io::Result<Self> {
        let captures = Rc::new(RefCell::new(Captures::new(limit)));
        Self::into_captures(stdout, stderr, captures)
    }

    /// Keeps output in `captures`, which others may read meanwhile.
    pub fn into_captures(
        stdout: OwnedFd,
        stderr: OwnedFd,
        captures: Rc<RefCell<Captures>>,
    ) -> io::Result<Self> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (index, pipe) in [&stdout, &stderr].into_iter().enumerate() {
            epoll::add(
                &set,
                pipe,
                epoll::EventData::new_u64(index as u64),
                epoll::EventFlags::IN | epoll::EventFlags::ET,
            )?;
        }
        let pipes = [Some(stdout), Some(stderr)];
        Ok(Self {
            epoll: readable(set)?,
            sizes: pipes.each_ref().map(size_of),
            pipes,
            captures,
            live: None,
            packets: 0,
            bytes: 0,
            exact: true,
            other_ready: false,
            buffer: Box::new([0; EXACT_ORDER_BYTES]),
        })
    }

    /// Sends all further output there too. Nothing is read while there is no room.
    pub fn show(&mut self, live: Rc<Live>) {
        self.live = Some(live);
    }

    /// Reads without end. May be dropped and called again.
    pub async fn pump(&mut self) -> io::Result<()> {
        loop {
            if let Some(live) = &self.live {
                live.room().await;
            }
            self.pump_once().await?;
            if self.live.as_ref().is_some_and(|live| live.due()) {
                tokio::task::yield_now().await;
            }
            tokio::task::coop::consume_budget().await;
        }
    }

    /// Has `other` a place in the order of the writes, too.
    pub fn beside(&self, other: impl AsFd) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(OTHER as u64);
        Ok(epoll::add(self.epoll.get_ref(), other, data, flags)?)
    }

    /// Reads until the other descriptor has something, which has to be read to its end then. May be dropped and called
    /// again.
    pub async fn pump_to_other(&mut self) -> io::Result<()> {
        loop {
            if let Some(live) = &self.live {
                live.room().await;
            }
            let index = if std::mem::take(&mut self.other_ready) {
                OTHER
            } else {
                self.next().await?
            };
            if index == OTHER {
                if !self.exact {
                    self.drain();
                }
                return Ok(());
            }
            self.take(index);
            tokio::task::yield_now().await;
        }
    }

    /// Reads some of the next output. May be dropped and called again.
    pub async fn pump_once(&mut self) -> io::Result<()> {
        let index = self.next().await?;
        self.take(index);
        Ok(())
    }

    async fn next(&mut self) -> io::Result<usize> {
        loop {
            let mut ready = self.epoll.readable().await?;
            match next_ready(self.epoll.get_ref())? {
                Some(index) => return Ok(index),
                None => ready.clear_ready(),
            }
        }
    }

    fn take(&mut self, index: usize) {
        self.read(index, if self.exact { 1 } else { BULK_READS });
        // A pipe that the command has enlarged may hold more than the packet that was reported.
        let enlarged = self.exact && size_of(&self.pipes[index]) > self.sizes[index];
        if enlarged || self.packets >= MAX_EXACT_PACKETS || self.bytes >= MAX_EXACT_BYTES {
            self.leave_exact_order();
        }
    }

    /// True once neither stream has a writer.
    pub fn at_end(&self) -> bool {
        self.pipes.iter().all(Option::is_none)
    }

    /// Reads the output that is there now: all that the command has printed by its end, however large it made
    /// its pipes, and little of what others go on to print.
    pub fn drain(&mut self) {
        let mut left = self.pipes.each_ref().map(waiting);
        for _ in 0..MAX_ORDERED_READS {
            let Ok(Some(index)) = next_ready(self.epoll.get_ref()) else {
                break;
            };
            if index == OTHER {
                self.other_ready = true;
                continue;
            }
            let taken = self.read(index, 1);
            left[index] = left[index].saturating_sub(taken);
            if left == [0, 0] {
                return;
            }
        }
        // epoll may report a pipe once for all that is in it.
        for (index, left) in left.iter_mut().enumerate() {
            while *left > 0 {
                match self.read(index, 1) {
                    0 => break,
                    taken => *left = left.saturating_sub(taken),
                }
            }
        }
    }

    /// Returns what is kept until now.
    pub fn snapshot(&self) -> Collected {
        self.captures.borrow().snapshot()
    }

    /// Reads the output that is there when the command has ended. The pipes of children that live on go to a
    /// reader that discards their output.
    pub fn finish(mut self) -> Collected {
        self.drain();
        for pipe in self.pipes.iter_mut().filter_map(Option::take) {
            background::discard(pipe);
        }
        self.captures.borrow().snapshot()
    }

    /// Counts the bytes that it has read.
    fn read(&mut self, index: usize, reads: usize) -> usize {
        let before = self.bytes;
        for _ in 0..reads {
            let Some(pipe) = &self.pipes[index] else {
                break;
            };
            match rustix::io::read(pipe, &mut self.buffer[..]) {
                Ok(0) => self.pipes[index] = None,
                Ok(length) => {
                    let bytes = &self.buffer[..length];
                    self.captures.borrow_mut().push(index, bytes);
                    if let Some(live) = &self.live {
                        live.push(index, bytes);
                    }
                    self.packets += 1;
                    self.bytes += length;
                }
                Err(rustix::io::Errno::AGAIN) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => self.pipes[index] = None,
            }
        }
        self.bytes - before
    }

    /// From now on writers hardly ever wait.
    pub fn leave_exact_order(&mut self) {
        if !self.exact {
            return;
        }
        self.exact = false;
        for (index, pipe) in self.pipes.iter().enumerate() {
            if let Some(pipe) = pipe {
                let _ = rustix::pipe::fcntl_setpipe_size(pipe, BULK_PIPE_BYTES);
                // Without it, the pipe stays edge-triggered, and reading it until it is empty is as good.
                let _ = epoll::modify(
                    self.epoll.get_ref(),
                    pipe,
                    epoll::EventData::new_u64(index as u64),
                    epoll::EventFlags::IN,
                );
            }
        }
    }
}

/// The room of a pipe.
fn size_of(pipe: &Option<OwnedFd>) -> usize {
    let bytes = pipe
        .as_ref()
        .and_then(|pipe| rustix::pipe::fcntl_getpipe_size(pipe).ok());
    bytes.unwrap_or(0)
}

/// The bytes in a pipe.
fn waiting(pipe: &Option<OwnedFd>) -> usize {
    let bytes = pipe
        .as_ref()
        .and_then(|pipe| rustix::io::ioctl_fionread(pipe).ok());
    bytes.unwrap_or(0) as usize
}

/// The pipe that has been readable longest. A closed pipe leaves the set by itself.
fn next_ready(set: &OwnedFd) -> io::Result<Option<usize>> {
    let mut events = [const { std::mem::MaybeUninit::uninit() }; 1];
    let (ready, _) = epoll::wait(set, &mut events, Some(&rustix::event::Timespec::default()))?;
    Ok(ready.first().map(|event| event.data.u64() as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::{PipeFlags, pipe_with};

    #[tokio::test]
    async fn what_is_read_is_shown_in_the_same_order_up_to_the_end() {
        let pipe = || pipe_with(PipeFlags::NONBLOCK | PipeFlags::DIRECT).unwrap();
        let ((stdout, to_stdout), (stderr, to_stderr)) = (pipe(), pipe());
        let live = Rc::new(Live::default());
        let mut outputs = Outputs::new(stdout, stderr, 1 << 10).unwrap();
        outputs.show(Rc::clone(&live));
        rustix::io::write(&to_stdout, b"first ").unwrap();
        outputs.pump_once().await.unwrap();
        rustix::io::write(&to_stderr, b"second ").unwrap();
        outputs.pump_once().await.unwrap();
        rustix::io::write(&to_stdout, b"third").unwrap();
        drop((to_stdout, to_stderr));
        let collected = outputs.finish();
        assert_eq!(collected.output.bytes, b"first second third");
        assert_eq!(
            live.shown(),
            [(0, "first "), (1, "second "), (0, "third")]
                .map(|(stream, text)| (stream, text.to_owned()))
        );
    }

    #[tokio::test]
    async fn a_packet_that_comes_while_another_is_read_leaves_the_order_exact() {
        let pipe = || pipe_with(PipeFlags::NONBLOCK | PipeFlags::DIRECT).unwrap();
        let ((stdout, to_stdout), (stderr, to_stderr)) = (pipe(), pipe());
        let mut outputs = Outputs::new(stdout, stderr, 1 << 10).unwrap();
        for text in [b"first ", b"then  "] {
            rustix::io::write(&to_stdout, text).unwrap();
        }
        outputs.pump_once().await.unwrap();
        assert!(outputs.exact);
        drop((to_stdout, to_stderr));
        assert_eq!(outputs.finish().stdout.bytes, b"first then  ");
    }

    #[tokio::test]
    async fn a_pipe_that_the_command_has_enlarged_is_read_to_its_end() {
        let pipe = || pipe_with(PipeFlags::NONBLOCK | PipeFlags::DIRECT).unwrap();
        for pumped in [false, true] {
            let ((stdout, to_stdout), (stderr, to_stderr)) = (pipe(), pipe());
            let mut outputs = Outputs::new(stdout, stderr, 4 << 20).unwrap();
            rustix::pipe::fcntl_setpipe_size(&to_stdout, 1 << 20).unwrap();
            assert_eq!(
                rustix::io::write(&to_stdout, &vec![b'x'; 1 << 20]).unwrap(),
                1 << 20
            );
            if pumped {
                // epoll reports the first packet alone.
                outputs.pump_once().await.unwrap();
                outputs.pump_once().await.unwrap();
                assert!(outputs.bytes > 4096);
            }
            drop((to_stdout, to_stderr));
            assert_eq!(outputs.finish().stdout.bytes.len(), 1 << 20);
        }
    }
}
