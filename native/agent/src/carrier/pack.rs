//! The operation `pack`: the disk's content as a tar archive. A worker reads, and stays at most a few chunks
//! ahead of the host.

use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use tokio::sync::mpsc::{Sender, channel};

use super::tree::packer;
use crate::init::context::Context;
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::frame::DATA_CHUNK_BYTES;

/// Chunks that wait for the host.
const AHEAD: usize = 2;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    /// Names in the disk's root that are not part of the content; a slash at the end means the contents of that folder.
    leave_out: Vec<String>,
}

/// Data and `end` follow.
#[derive(Serialize)]
struct Reply {}

pub async fn answer(
    connection: &mut Connection,
    context: &Context,
    disk: &Path,
    request: Request,
) -> Outcome {
    let (chunks, mut packed) = channel(AHEAD);
    let disk = disk.to_path_buf();
    let job = context.workers.long(move |cancelled| {
        let mut outlet = Outlet::new(chunks);
        packer::pack(&disk, &request.leave_out, &mut outlet, cancelled)?;
        Ok(outlet.flush()?)
    });
    connection.reply(&Reply {}).await?;
    let send = async {
        while let Some(chunk) = packed.recv().await {
            connection.send_data(&chunk).await?;
        }
        Ok(())
    };
    let pack = async { job.await.map_err(Interrupted::from) };
    tokio::try_join!(pack, send)?;
    connection.send_end().await
}

/// Collects written bytes into chunks for the host.
struct Outlet {
    chunks: Sender<Vec<u8>>,
    gathered: Vec<u8>,
}

impl Outlet {
    fn new(chunks: Sender<Vec<u8>>) -> Self {
        Self {
            chunks,
            gathered: Vec::with_capacity(DATA_CHUNK_BYTES),
        }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = DATA_CHUNK_BYTES - self.gathered.len();
        let taken = bytes.len().min(room);
        self.gathered.extend_from_slice(&bytes[..taken]);
        if self.gathered.len() == DATA_CHUNK_BYTES {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.gathered, Vec::with_capacity(DATA_CHUNK_BYTES));
        self.chunks
            .blocking_send(chunk)
            .map_err(|_| ErrorKind::BrokenPipe.into())
    }
}
