//! A program's output, read a piece at a time and only on demand: a host that does not read blocks the
//! program, and nothing accumulates here.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};
use tokio::io::unix::AsyncFd;

use crate::exec::background;
use crate::init::readiness::readable;
use crate::wire::frame::{self, HEADER_BYTES, Kind};

/// Most bytes of one data frame.
const PIECE_BYTES: usize = 128 << 10;
/// Room before a piece, for the frame that names its stream.
const STREAM_FRAME_BYTES: usize = 64;
const PIECE_AT: usize = STREAM_FRAME_BYTES + HEADER_BYTES;

const STREAM_ITEMS: [&[u8]; 2] = [br#"{"stream":"stdout"}"#, br#"{"stream":"stderr"}"#];

pub struct Outputs {
    /// stdout and stderr; None once it is at its end.
    pipes: [Option<AsyncFd<OwnedFd>>; 2],
    /// The pipe that has its turn.
    next: usize,
    /// The stream that was named to the host last.
    named: Option<usize>,
    buffer: Vec<u8>,
}

impl Outputs {
    pub fn new(stdout: OwnedFd, stderr: Option<OwnedFd>) -> io::Result<Self> {
        Ok(Self {
            pipes: [Some(readable(stdout)?), stderr.map(readable).transpose()?],
            next: 0,
            named: None,
            buffer: Vec::new(),
        })
    }

    /// True while more may come.
    pub fn open(&self) -> bool {
        self.pipes.iter().any(Option::is_some)
    }

    /// Returns the next piece as frames; None once both streams have ended. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<&[u8]> {
        let (index, length) = poll_fn(|context| self.poll(context)).await?;
        Some(self.frames(index, length))
    }

    /// Discards the further output of children.
    pub fn discard(self) {
        for pipe in self.pipes.into_iter().flatten() {
            background::discard(pipe.into_inner());
        }
    }

    fn poll(&mut self, context: &mut Context) -> Poll<Option<(usize, usize)>> {
        if !self.open() {
            return Poll::Ready(None);
        }
        for index in [self.next, 1 - self.next] {
            while let Some(pipe) = &self.pipes[index] {
                let Poll::Ready(ready) = pipe.poll_read_ready(context) else {
                    break;
                };
                if self.buffer.is_empty() {
                    // Untouched pages take no memory, so a program that prints little needs few.
                    self.buffer = vec![0; PIECE_AT + PIECE_BYTES];
                }
                let read = rustix::io::read(pipe.get_ref(), &mut self.buffer[PIECE_AT..]);
                match (ready, read) {
                    (Ok(mut ready), Err(rustix::io::Errno::AGAIN))
                        if !ready.ready().is_read_closed() =>
                    {
                        ready.clear_ready();
                    }
                    (Ok(_), Err(rustix::io::Errno::INTR)) => {}
                    (Ok(_), Ok(length)) if length > 0 => {
                        self.next = 1 - index;
                        return Poll::Ready(Some((index, length)));
                    }
                    // Reading a terminal that no program has open fails. A terminal that was closed once
                    // stays ready for ever, so it is given up even if a program opens it again.
                    _ => self.pipes[index] = None,
                }
            }
        }
        if self.open() {
            Poll::Pending
        } else {
            Poll::Ready(None)
        }
    }

    fn frames(&mut self, index: usize, length: usize) -> &[u8] {
        let header = frame::header(Kind::Data, length);
        self.buffer[STREAM_FRAME_BYTES..PIECE_AT].copy_from_slice(&header);
        let mut start = STREAM_FRAME_BYTES;
        if self.named != Some(index) {
            self.named = Some(index);
            let item = STREAM_ITEMS[index];
            start -= HEADER_BYTES + item.len();
            let header = frame::header(Kind::Item, item.len());
            self.buffer[start..start + HEADER_BYTES].copy_from_slice(&header);
            self.buffer[start + HEADER_BYTES..STREAM_FRAME_BYTES].copy_from_slice(item);
        }
        &self.buffer[start..PIECE_AT + length]
    }
}
