//! Reads and writes lines on standard input and output in one thread each. Both may be pipes or sockets that
//! other processes hold too, so they stay blocking.

use crate::bounds::COMMAND_LINE;
use memchr::memchr;
use rustix::io::{Errno, read};
use serde::Serialize;
use std::io::{Write, stdin, stdout};
use std::process::exit;
use std::thread;
use tokio::sync::mpsc;
use zeroize::{Zeroize, Zeroizing};

/// A command, which may have secrets: its memory is wiped.
pub type Line = Zeroizing<Vec<u8>>;

pub struct Commands(mpsc::Receiver<Line>);

#[derive(Clone)]
pub struct Output(mpsc::Sender<Vec<u8>>);

/// Lines that wait for their reader.
const WAITING: usize = 16;
const PIECE: usize = 64 * 1024;

impl Commands {
    /// The end of standard input ends the program, whatever it is doing.
    pub fn read() -> Commands {
        let (sender, receiver) = mpsc::channel(WAITING);
        thread::spawn(move || {
            let mut input = Input(Zeroizing::new(Vec::with_capacity(COMMAND_LINE + PIECE)));
            while let Some(line) = input.next_line() {
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
            exit(0);
        });
        Commands(receiver)
    }

    pub async fn next(&mut self) -> Option<Line> {
        self.0.recv().await
    }
}

/// Bytes of standard input before the end of a line, in memory that never moves, since moving would leave copies.
struct Input(Line);

impl Input {
    /// None at the end, also within a line. A line over the bound is not from the service.
    fn next_line(&mut self) -> Option<Line> {
        let mut looked_at = 0;
        loop {
            if let Some(at) = memchr(b'\n', &self.0[looked_at..]) {
                return Some(self.take(looked_at + at + 1));
            }
            looked_at = self.0.len();
            if looked_at >= COMMAND_LINE {
                eprintln!("sandhaven-egress: a command is too long");
                exit(1);
            }
            if self.read() == 0 {
                return None;
            }
        }
    }

    fn take(&mut self, length: usize) -> Line {
        let line = Zeroizing::new(self.0[..length].to_vec());
        let rest = self.0.len() - length;
        self.0.copy_within(length.., 0);
        self.0[rest..].zeroize();
        self.0.truncate(rest);
        line
    }

    fn read(&mut self) -> usize {
        let start = self.0.len();
        self.0.resize(start + PIECE, 0);
        let count = loop {
            match read(stdin(), &mut self.0[start..]) {
                Ok(count) => break count,
                Err(Errno::INTR) => {}
                Err(error) => {
                    eprintln!("sandhaven-egress: read a command: {error}");
                    exit(1);
                }
            }
        };
        self.0.truncate(start + count);
        count
    }
}

impl Output {
    pub fn start() -> Output {
        let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(WAITING);
        thread::spawn(move || {
            while let Some(line) = receiver.blocking_recv() {
                if let Err(error) = stdout().write_all(&line) {
                    eprintln!("sandhaven-egress: write to the service: {error}");
                    exit(1);
                }
                let _ = stdout().flush();
            }
        });
        Output(sender)
    }

    /// Waits while the service reads slowly.
    pub async fn write(&self, message: &impl Serialize) {
        let mut line = serde_json::to_vec(message).unwrap_or_default();
        line.push(b'\n');
        let _ = self.0.send(line).await;
    }
}
