//! The operation `process_input`: writes to the standard input of a process, or types into its terminal, and answers once
//! all of it is taken.

use rustix::io::Errno;
use serde::Deserialize;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;

use super::registry::Registry;
use super::state::Detached;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};

const MAX_BYTES: usize = 1 << 20;

/// Data and `end` follow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    process: String,
    /// Ends the standard input afterwards.
    close: bool,
}

pub async fn answer(
    connection: &mut Connection,
    processes: &Registry,
    request: Request,
) -> Outcome {
    let mut data = Vec::new();
    while connection.read_data(&mut data).await? {
        if data.len() > MAX_BYTES {
            let detail = format!("Input has up to {MAX_BYTES} bytes a call.");
            return Err(Fault::new(Code::TooLarge, detail).into());
        }
    }
    let process = processes.find(&request.process)?;
    if request.close && process.terminal.is_some() {
        let detail = "A terminal has no end of input.";
        return Err(Fault::new(Code::FailedPrecondition, detail)
            .hint("Type the character for it, control-D (byte 4).")
            .into());
    }
    let writing = async {
        tokio::select! {
            biased;
            written = write(&process, &data, request.close) => written,
            () = process.ended() => process.running().map(|_| ()),
        }
    };
    connection.unless_closed(writing).await?;
    connection.reply(&serde_json::json!({})).await
}

async fn write(process: &Detached, data: &[u8], close: bool) -> Result<(), Fault> {
    let mut input = process.input.lock().await;
    process.running()?;
    match &*input {
        Some(pipe) => write_all(pipe, data).await?,
        None => return Err(closed()),
    }
    if close {
        input.take();
    }
    Ok(())
}

async fn write_all(pipe: &AsyncFd<OwnedFd>, mut data: &[u8]) -> Result<(), Fault> {
    while !data.is_empty() {
        let mut ready = pipe.writable().await?;
        match rustix::io::write(pipe, data) {
            Ok(length) => data = &data[length..],
            Err(Errno::INTR) => {}
            // A terminal that no program has open takes some more, then never anything.
            Err(Errno::AGAIN) if !ready.ready().is_write_closed() => ready.clear_ready(),
            Err(_) => return Err(closed()),
        }
    }
    Ok(())
}

fn closed() -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        "The process reads no input any more.",
    )
    .hint("Start another process, or leave its input open.")
}
