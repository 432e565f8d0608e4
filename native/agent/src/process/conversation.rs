//! Connects the host with a running program: input and control messages come in, output and at last the end
//! go out. The two directions never wait for each other. When the host hangs up, all of this is dropped, and
//! the program's whole tree is killed with it.

use serde::{Deserialize, Serialize};
use std::os::fd::OwnedFd;
use std::pin::pin;
use tokio::io::{AsyncWrite, BufReader};

use super::input::Input;
use super::outputs::{LastWords, Outputs};
use super::signals::{self, End};
use super::start::{Ends, Running};
use crate::exec::terminal::{self, Terminal};
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::fault::Fault;
use crate::wire::frame::{self, Kind};
use crate::wire::stream::{Reader, send};

const MAX_CONTROL_BYTES: usize = 4 << 10;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Control {
    Resize(terminal::Size),
    Signal(String),
}

#[derive(Serialize)]
struct Taken {
    taken: usize,
}

/// The program that control messages act on.
struct Target {
    pid: i32,
    /// Master of the program's terminal.
    master: Option<OwnedFd>,
}

pub async fn hold(connection: &mut Connection, running: Running) -> Outcome {
    connection.reply(&serde_json::json!({})).await?;
    let pid = running.pid;
    let (ends, ended) = running.split();
    let Ends {
        stdin,
        outputs,
        terminal,
    } = ends;
    let (master, slave) = terminal
        .map(|Terminal { master, slave }| (master, slave))
        .unzip();
    let target = Target { pid, master };
    let input = Input::default();
    let (reader, writer) = connection.halves();
    let feeding = async {
        input.feed(stdin).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = receive(reader, &input, &target) => return Err(Interrupted::Gone),
        () = feeding => {}
        done = relay(writer, &input, outputs, end_with(ended, slave)) => done?,
    }
    // The host closes when it has read the end; closing before, with data of its own unread, might lose it.
    connection.drain().await;
    Ok(())
}

/// Keeps the terminal's slave open until the program has ended, so that the terminal does not end before.
async fn end_with(
    ended: impl Future<Output = Result<i32, Fault>>,
    slave: Option<OwnedFd>,
) -> Result<i32, Fault> {
    let status = ended.await;
    drop(slave);
    status
}

/// Reads messages of the host until it hangs up or breaks the protocol.
async fn receive(reader: &mut BufReader<Reader>, input: &Input, target: &Target) {
    let mut payload = Vec::new();
    loop {
        payload.clear();
        let Ok(kind) = frame::read_frame(reader, &mut payload).await else {
            return;
        };
        match kind {
            Kind::Data if input.push(&payload).is_ok() => {}
            Kind::End => input.end(),
            Kind::Item if payload.len() <= MAX_CONTROL_BYTES => {
                let Ok(control) = serde_json::from_slice(&payload) else {
                    return;
                };
                target.apply(control);
            }
            _ => return,
        }
    }
}

impl Target {
    fn apply(&self, control: Control) {
        match (control, &self.master) {
            (Control::Resize(size), Some(master)) => {
                let _ = terminal::resize(master, size);
            }
            (Control::Resize(_), None) => {}
            (Control::Signal(name), _) => {
                if let Some(number) = signals::number(&name) {
                    // SAFETY: kill takes numbers and touches no memory.
                    unsafe { libc::kill(-self.group(), number) };
                }
            }
        }
    }

    /// The foreground group of the terminal, else the group that the program leads.
    fn group(&self) -> i32 {
        self.master
            .as_ref()
            .and_then(|master| rustix::termios::tcgetpgrp(master).ok())
            .map_or(self.pid, |group| group.as_raw_nonzero().get())
    }
}

/// Sends all output and the end.
async fn relay(
    writer: &mut (impl AsyncWrite + Unpin),
    input: &Input,
    mut outputs: Outputs,
    ended: impl Future<Output = Result<i32, Fault>>,
) -> Outcome {
    let mut ended = pin!(ended);
    let status = loop {
        tokio::select! {
            biased;
            status = &mut ended => break status?,
            taken = input.taken() => send_item(writer, &Taken { taken }).await?,
            piece = outputs.next(), if outputs.open() => if let Some(piece) = piece {
                send(writer, outputs.frames(piece)).await?;
            },
        }
    };
    let mut last = LastWords::begin();
    while let Some(piece) = last.next(&mut outputs).await {
        send(writer, outputs.frames(piece)).await?;
    }
    outputs.discard();
    send_item(writer, &End::of(status)).await?;
    send(writer, &frame::header(Kind::End, 0)).await?;
    Ok(())
}

async fn send_item(writer: &mut (impl AsyncWrite + Unpin), message: &impl Serialize) -> Outcome {
    let json = serde_json::to_vec(message).map_err(|_| Interrupted::Gone)?;
    let mut out = Vec::with_capacity(json.len() + frame::HEADER_BYTES);
    frame::encode(&mut out, Kind::Item, &json);
    send(writer, &out).await?;
    Ok(())
}
