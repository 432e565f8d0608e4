//! One viewer's connection: input and sizes come in, output of the terminal goes out. The two directions never
//! wait for each other. When the host hangs up, the viewer has left, and the terminal keeps running.

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWrite, BufReader};

use super::position::{Next, Position};
use super::registry::Seat;
use crate::exec::terminal::Size;
use crate::init::readiness::writable;
use crate::process::input::Input;
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::frame::{self, Kind};
use crate::wire::stream::{Reader, send};

const MAX_CONTROL_BYTES: usize = 4 << 10;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Control {
    Resize(Size),
}

#[derive(Serialize)]
struct Taken {
    taken: usize,
}

/// Lasts until the terminal has ended and the host has read its end, or until the host hangs up.
pub async fn hold(connection: &mut Connection, seat: &Seat, mut position: Position<'_>) -> Outcome {
    let input = Input::default();
    let typed = writable(seat.terminal.input()?)?;
    let (reader, writer) = connection.halves();
    let feeding = async {
        input.feed(typed).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = receive(reader, &input, seat) => return Err(Interrupted::Gone),
        () = feeding => {}
        done = show(writer, &input, &mut position) => done?,
    }
    // The host closes when it has read the end; closing before, with data of its own unread, might lose it.
    connection.drain().await;
    Ok(())
}

/// Reads messages of the host until it hangs up or breaks the protocol.
async fn receive(reader: &mut BufReader<Reader>, input: &Input, seat: &Seat) {
    let mut payload = Vec::new();
    loop {
        payload.clear();
        let Ok(kind) = frame::read_frame(reader, &mut payload).await else {
            return;
        };
        match kind {
            Kind::Data if input.push(&payload).is_ok() => seat.terminal.typed(&seat.viewer),
            Kind::Item if payload.len() <= MAX_CONTROL_BYTES => {
                let Ok(Control::Resize(size)) = serde_json::from_slice(&payload) else {
                    return;
                };
                seat.terminal.resized(&seat.viewer, size);
            }
            _ => return,
        }
    }
}

/// Sends the terminal's output, and its end.
async fn show(
    writer: &mut (impl AsyncWrite + Unpin),
    input: &Input,
    position: &mut Position<'_>,
) -> Outcome {
    loop {
        tokio::select! {
            biased;
            taken = input.taken() => send_taken(writer, taken).await?,
            next = position.next() => match next {
                Next::Frames(frames) => send(writer, frames).await?,
                Next::Last(frames) => {
                    send(writer, frames).await?;
                    return Ok(());
                }
            },
        }
    }
}

async fn send_taken(writer: &mut (impl AsyncWrite + Unpin), taken: usize) -> Outcome {
    let json = serde_json::to_vec(&Taken { taken }).map_err(|_| Interrupted::Gone)?;
    let mut out = Vec::with_capacity(json.len() + frame::HEADER_BYTES);
    frame::encode(&mut out, Kind::Item, &json);
    send(writer, &out).await?;
    Ok(())
}
