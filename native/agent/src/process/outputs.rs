//! A program's output, read a piece at a time and only on demand: a host that does not read blocks the
//! program, and nothing accumulates here.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout};

use crate::exec::background;
use crate::init::readiness::readable;
use crate::wire::frame::{self, HEADER_BYTES, Kind};

/// Most bytes of one data frame.
pub const PIECE_BYTES: usize = 128 << 10;
/// Room before a piece, for the frame that names its stream.
const STREAM_FRAME_BYTES: usize = 64;
const PIECE_AT: usize = STREAM_FRAME_BYTES + HEADER_BYTES;

/// What the host calls stdout and stderr.
pub const STREAM_ITEMS: [&[u8]; 2] = [br#"{"stream":"stdout"}"#, br#"{"stream":"stderr"}"#];

/// A piece of output in the buffer: stream 0 is stdout.
#[derive(Clone, Copy)]
pub struct Piece {
    pub stream: usize,
    pub length: usize,
}

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

    /// Reads the next piece; None once both streams have ended. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Piece> {
        poll_fn(|context| self.poll(context)).await
    }

    /// The bytes of the piece that was read last.
    pub fn bytes(&self, piece: Piece) -> &[u8] {
        &self.buffer[PIECE_AT..PIECE_AT + piece.length]
    }

    /// Discards the further output of children.
    pub fn discard(self) {
        for pipe in self.pipes.into_iter().flatten() {
            background::discard(pipe.into_inner());
        }
    }

    fn poll(&mut self, context: &mut Context) -> Poll<Option<Piece>> {
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
                        let piece = Piece {
                            stream: index,
                            length,
                        };
                        return Poll::Ready(Some(piece));
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

    /// The piece that was read last, as frames for the host.
    pub fn frames(&mut self, piece: Piece) -> &[u8] {
        let Piece {
            stream: index,
            length,
        } = piece;
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

/// After the program has ended, children that keep its pipes open may still print output that belongs to it.
const QUIET: Duration = Duration::from_millis(150);
/// Afterwards only output that is there already is passed on, and no more than a pipe can hold.
const LAST_WORDS: Duration = Duration::from_millis(500);
const PIPE_BYTES: usize = 128 << 10;

/// The program's output up to its end, and briefly that of its children afterwards.
pub struct LastWords {
    late: Instant,
    left: usize,
}

impl LastWords {
    pub fn begin() -> Self {
        Self {
            late: Instant::now() + LAST_WORDS,
            left: 2 * PIPE_BYTES,
        }
    }

    pub async fn next(&mut self, outputs: &mut Outputs) -> Option<Piece> {
        if self.left == 0 {
            return None;
        }
        let is_late = Instant::now() > self.late;
        let quiet = if is_late { Duration::ZERO } else { QUIET };
        let piece = timeout(quiet, outputs.next()).await.ok()??;
        if is_late {
            self.left = self.left.saturating_sub(piece.length);
        }
        Some(piece)
    }
}
