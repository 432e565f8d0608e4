//! The operation `process_view`: one viewer's connection, which gets all output from its position on, and the end. The
//! process waits for it; when the host hangs up, the viewer has left, and the process goes on.

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWrite};

use super::registry::{Registry, Seat};
use crate::process::outputs::STREAM_ITEMS;
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::frame::{self, Kind};
use crate::wire::stream::send;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    process: String,
    /// Position of the first byte that is wanted; the oldest that is kept without it.
    from: Option<u64>,
}

#[derive(Serialize)]
struct Reply {
    pid: i32,
    from: u64,
}

pub async fn answer(
    connection: &mut Connection,
    processes: &Registry,
    request: Request,
) -> Outcome {
    let process = processes.find(&request.process)?;
    let seat = processes.enter(process, request.from)?;
    let reply = Reply {
        pid: seat.process.pid,
        from: seat.viewer.position.get(),
    };
    connection.reply(&reply).await?;
    let (reader, writer) = connection.halves();
    tokio::select! {
        // The host sends nothing, so it has hung up.
        _ = reader.fill_buf() => return Err(Interrupted::Gone),
        done = show(writer, &seat) => done?,
    }
    connection.drain().await;
    Ok(())
}

async fn show(writer: &mut (impl AsyncWrite + Unpin), seat: &Seat) -> Outcome {
    let Seat { process, viewer } = seat;
    let mut named = None;
    let (mut piece, mut frames) = (Vec::new(), Vec::new());
    loop {
        piece.clear();
        frames.clear();
        let read = process.log().read(viewer.position.get(), &mut piece);
        if let Some(stream) = read {
            if named.replace(stream) != Some(stream) {
                frame::encode(&mut frames, Kind::Item, STREAM_ITEMS[stream]);
            }
            frame::encode(&mut frames, Kind::Data, &piece);
            send(writer, &frames).await?;
            process.took(viewer, piece.len());
        } else if let Some(end) = process.end() {
            let json = serde_json::to_vec(&end).map_err(|_| Interrupted::Gone)?;
            frame::encode(&mut frames, Kind::Item, &json);
            frame::encode(&mut frames, Kind::End, &[]);
            send(writer, &frames).await?;
            return Ok(());
        } else {
            viewer.news.notified().await;
        }
    }
}
