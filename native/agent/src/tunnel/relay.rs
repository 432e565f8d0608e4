//! Relays bytes between the host's connection and a TCP connection inside. Each direction ends by itself, and
//! its end is passed on as a half-close. A reset inside becomes an error frame. A host that hangs up before
//! both ends resets the connection inside.

use rustix::net::sockopt;
use std::cell::Cell;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::Notify;

use super::buffers::Buffers;
use crate::wire::connection::{Connection, Interrupted, Outcome, protocol_fault};
use crate::wire::fault::{Code, Fault};
use crate::wire::frame::{self, HEADER_BYTES, Kind};
use crate::wire::resource::Resource;
use crate::wire::stream::{Reader, Writer, send};

pub async fn relay(
    connection: &mut Connection,
    buffers: &Buffers,
    mut stream: TcpStream,
) -> Outcome {
    let _ = stream.set_nodelay(true);
    let (host_reader, host_writer) = connection.halves();
    let (mut reader, mut writer) = stream.split();
    let answered = Notify::new();
    let outcome = tokio::try_join!(
        async {
            inwards(host_reader, &mut writer, buffers).await?;
            // This order matters: the host may close right after its end once it has the answer's, and a
            // reset would then drop bytes that the program inside has not read yet.
            tokio::select! {
                biased;
                () = answered.notified() => Ok(()),
                () = hung_up(host_reader) => Err(Interrupted::Gone),
            }
        },
        async {
            outwards(&mut reader, host_writer, buffers).await?;
            answered.notify_one();
            Ok(())
        }
    );
    if outcome.is_err() {
        // Closing resets the connection, so that no program inside takes a broken one for complete.
        let _ = sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
    }
    outcome.map(|_| ())
}

async fn hung_up(reader: &mut BufReader<Reader>) {
    let _ = reader.fill_buf().await;
}

/// Relays from inside to the host, until the end inside.
async fn outwards(reader: &mut ReadHalf<'_>, writer: &mut Writer, buffers: &Buffers) -> Outcome {
    loop {
        reader.readable().await?;
        let mut buffer = buffers.take();
        loop {
            match reader.try_read(&mut buffer[HEADER_BYTES..]) {
                Ok(0) => {
                    buffers.give(buffer);
                    send(writer, &frame::header(Kind::End, 0)).await?;
                    return Ok(());
                }
                Ok(length) => {
                    buffer[..HEADER_BYTES].copy_from_slice(&frame::header(Kind::Data, length));
                    send(writer, &buffer[..HEADER_BYTES + length]).await?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Err(reset().into()),
            }
        }
        buffers.give(buffer);
    }
}

/// Relays from the host to inside, until the host's end.
async fn inwards(
    reader: &mut BufReader<Reader>,
    writer: &mut WriteHalf<'_>,
    buffers: &Buffers,
) -> Outcome {
    let mut target = Target {
        writer,
        takes: Cell::new(true),
    };
    let mut frames = Frames::default();
    // Bytes that arrived together with the request.
    let early = reader.buffer().to_vec();
    reader.consume(early.len());
    if frames.pass(&early, &mut target).await? {
        return Ok(());
    }
    let Some(socket) = reader.get_ref().socket() else {
        return inwards_decrypted(reader, frames, target).await;
    };
    loop {
        socket.readable().await?;
        let mut buffer = buffers.take();
        loop {
            match socket.try_read(&mut buffer) {
                Ok(0) => return Err(Interrupted::Gone),
                Ok(length) => {
                    if frames.pass(&buffer[..length], &mut target).await? {
                        buffers.give(buffer);
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Err(Interrupted::Gone),
            }
        }
        buffers.give(buffer);
    }
}

/// The same from a TLS connection, whose bytes come in records of at most 16 KiB, as large as the reader's own buffer.
async fn inwards_decrypted(
    reader: &mut BufReader<Reader>,
    mut frames: Frames,
    mut target: Target<'_, '_>,
) -> Outcome {
    loop {
        let bytes = reader.fill_buf().await?;
        let length = bytes.len();
        if length == 0 {
            return Err(Interrupted::Gone);
        }
        let ended = frames.pass(bytes, &mut target).await?;
        reader.consume(length);
        if ended {
            return Ok(());
        }
    }
}

/// The connection inside. Once it is broken, further bytes for it are dropped. The host must still get the
/// answer up to then, and the other direction reports the break.
struct Target<'a, 'b> {
    writer: &'a mut WriteHalf<'b>,
    takes: Cell<bool>,
}

impl Target<'_, '_> {
    async fn write(&mut self, bytes: &[u8]) {
        if self.takes.get() && self.writer.write_all(bytes).await.is_err() {
            self.takes.set(false);
        }
    }
}

/// Takes frames of data apart as they arrive, in pieces of any length.
#[derive(Default)]
struct Frames {
    header: [u8; HEADER_BYTES],
    header_length: usize,
    /// Bytes of the current frame that are still missing.
    remaining: usize,
}

impl Frames {
    /// True at the host's end.
    async fn pass(
        &mut self,
        mut bytes: &[u8],
        target: &mut Target<'_, '_>,
    ) -> Result<bool, Interrupted> {
        while !bytes.is_empty() {
            if self.remaining > 0 {
                let (piece, rest) = bytes.split_at(self.remaining.min(bytes.len()));
                target.write(piece).await;
                self.remaining -= piece.len();
                bytes = rest;
                continue;
            }
            let wanted = (HEADER_BYTES - self.header_length).min(bytes.len());
            let (piece, rest) = bytes.split_at(wanted);
            self.header[self.header_length..self.header_length + wanted].copy_from_slice(piece);
            self.header_length += wanted;
            bytes = rest;
            if self.header_length < HEADER_BYTES {
                continue;
            }
            self.header_length = 0;
            match frame::parse_header(self.header) {
                Ok((Kind::Data, length)) => self.remaining = length,
                Ok((Kind::End, _)) if bytes.is_empty() => {
                    let _ = target.writer.shutdown().await;
                    return Ok(true);
                }
                _ => return Err(protocol_fault("data was expected").into()),
            }
        }
        Ok(false)
    }
}

fn reset() -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        "The program inside the sandbox reset the connection.",
    )
    .resource(Resource::Connection)
}
