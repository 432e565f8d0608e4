//! Connects the host with a running program: input and control messages come in, output and at last the end
//! go out. The two directions never wait for each other. When the host hangs up, all of this is dropped, and
//! the program's whole tree is killed with it.

use serde::{Deserialize, Serialize};
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncWrite, BufReader};
use tokio::time::{Instant, timeout};

use super::input::Input;
use super::outputs::Outputs;
use super::signals;
use super::start::{Ends, Running};
use crate::exec::ending;
use crate::exec::terminal::{self, Terminal};
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::fault::Fault;
use crate::wire::frame::{self, Kind};
use crate::wire::stream::{Reader, send};

/// After the program has ended, children that keep its pipes open may still print output that belongs to it.
const QUIET: Duration = Duration::from_millis(150);
/// Afterwards only output that is there already is passed on, and no more than a pipe can hold.
const LAST_WORDS: Duration = Duration::from_millis(500);
const PIPE_BYTES: usize = 128 << 10;
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

#[derive(Serialize)]
struct End {
    exit_code: i32,
    signal: Option<String>,
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
            piece = outputs.next(), if outputs.open() => if let Some(frames) = piece {
                send(writer, frames).await?;
            },
        }
    };
    send_last_words(writer, &mut outputs).await?;
    outputs.discard();
    let end = End {
        exit_code: ending::exit_code(status),
        signal: ending::signal(status).map(signals::name),
    };
    send_item(writer, &end).await?;
    send(writer, &frame::header(Kind::End, 0)).await?;
    Ok(())
}

/// Sends the program's output up to its end, and briefly that of its children afterwards.
async fn send_last_words(writer: &mut (impl AsyncWrite + Unpin), outputs: &mut Outputs) -> Outcome {
    let late = Instant::now() + LAST_WORDS;
    let mut left = 2 * PIPE_BYTES;
    let mut quiet = QUIET;
    while left > 0
        && let Ok(Some(frames)) = timeout(quiet, outputs.next()).await
    {
        if Instant::now() > late {
            quiet = Duration::ZERO;
            left = left.saturating_sub(frames.len());
        }
        send(writer, frames).await?;
    }
    Ok(())
}

async fn send_item(writer: &mut (impl AsyncWrite + Unpin), message: &impl Serialize) -> Outcome {
    let json = serde_json::to_vec(message).map_err(|_| Interrupted::Gone)?;
    let mut out = Vec::with_capacity(json.len() + frame::HEADER_BYTES);
    frame::encode(&mut out, Kind::Item, &json);
    send(writer, &out).await?;
    Ok(())
}
