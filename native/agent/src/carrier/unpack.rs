//! The operation `unpack`: fills an empty disk from a tar archive. The answer comes once the disk holds all
//! of it, so that a crash of the node loses nothing.

use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::Path;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::tree::unpacker;
use crate::init::context::Context;
use crate::wire::connection::{Connection, Interrupted, Outcome};

/// Chunks that wait for the disk.
const AHEAD: usize = 2;

/// Data and `end` follow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    /// Names that may be in the disk's root before.
    leave_out: Vec<String>,
}

#[derive(Serialize)]
struct Reply {
    entries: u64,
}

pub async fn answer(
    connection: &mut Connection,
    context: &Context,
    disk: &Path,
    request: Request,
) -> Outcome {
    let (sender, chunks) = channel(AHEAD);
    let disk = disk.to_path_buf();
    let job = context.workers.long(move |cancelled| {
        let mut inlet = Inlet::new(chunks);
        let entries = unpacker::unpack(&disk, &request.leave_out, &mut inlet, cancelled)?;
        io::copy(&mut inlet, &mut io::sink())?;
        Ok(entries)
    });
    let unpack = async { job.await.map_err(Interrupted::from) };
    let (entries, ()) = tokio::try_join!(unpack, pass_on(connection, sender))?;
    connection.reply(&Reply { entries }).await
}

/// Dropping the sender ends the worker's input. A worker that ended earlier reports its own error.
async fn pass_on(connection: &mut Connection, chunks: Sender<Vec<u8>>) -> Outcome {
    loop {
        let mut chunk = Vec::new();
        let more = connection.read_data(&mut chunk).await?;
        if !more || chunks.send(chunk).await.is_err() {
            return Ok(());
        }
    }
}

/// The host's data, as one stream of bytes.
struct Inlet {
    chunks: Receiver<Vec<u8>>,
    current: Vec<u8>,
    at: usize,
}

impl Inlet {
    fn new(chunks: Receiver<Vec<u8>>) -> Self {
        Self {
            chunks,
            current: Vec::new(),
            at: 0,
        }
    }
}

impl Read for Inlet {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.current.len() {
            match self.chunks.blocking_recv() {
                Some(chunk) => (self.current, self.at) = (chunk, 0),
                None => return Ok(0),
            }
        }
        let taken = buffer.len().min(self.current.len() - self.at);
        buffer[..taken].copy_from_slice(&self.current[self.at..self.at + taken]);
        self.at += taken;
        Ok(taken)
    }
}
