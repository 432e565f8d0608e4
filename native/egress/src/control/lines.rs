//! Lines on standard input and output, by a thread each: either may be a pipe or a socket that others hold too, so neither is
//! made non-blocking.

use crate::bounds::COMMAND_LINE;
use serde::Serialize;
use std::io::{BufRead, Read, Write, stdin, stdout};
use std::process::exit;
use std::thread;
use tokio::sync::mpsc;

pub struct Commands(mpsc::Receiver<Vec<u8>>);

#[derive(Clone)]
pub struct Output(mpsc::Sender<Vec<u8>>);

/// Lines that wait for their reader.
const WAITING: usize = 16;

impl Commands {
    /// The program ends with standard input, whatever it is doing.
    pub fn read() -> Commands {
        let (sender, receiver) = mpsc::channel(WAITING);
        thread::spawn(move || {
            while let Some(line) = next_line() {
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
            exit(0);
        });
        Commands(receiver)
    }

    pub async fn next(&mut self) -> Option<Vec<u8>> {
        self.0.recv().await
    }
}

/// None at the end. A line that is too long is not the service's.
fn next_line() -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let read = stdin()
        .lock()
        .take(COMMAND_LINE as u64 + 1)
        .read_until(b'\n', &mut line);
    match read {
        Ok(0) => None,
        Ok(_) if line.last() == Some(&b'\n') => Some(line),
        Ok(length) if length > COMMAND_LINE => {
            eprintln!("sandhaven-egress: a command is too long");
            exit(1);
        }
        // It ends within a line.
        Ok(_) => None,
        Err(error) => {
            eprintln!("sandhaven-egress: read a command: {error}");
            exit(1);
        }
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
