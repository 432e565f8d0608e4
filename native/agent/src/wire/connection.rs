//! One connection: it carries one operation, which is a request frame, its data if it has any, and the answer.
//! The host closes the connection to cancel.

use serde::Serialize;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use super::fault::{Code, Fault};
use super::frame::{self, Kind};
use super::stream::{Reader, Stream, Writer, send};

/// Time for the request to arrive.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Time for the host to read an answer's last bytes and hang up. Closing at once would lose unread bytes.
const LINGER: Duration = Duration::from_secs(5);
/// Most parts in one frame: the host bounds the values of each.
const FRAME_ITEMS: usize = 1_000;

pub struct Connection {
    reader: BufReader<Reader>,
    writer: Writer,
}

/// The cause for which an operation ends before its answer is complete.
pub enum Interrupted {
    /// An error, which the host gets as a frame.
    Fault(Fault),
    /// The host has hung up.
    Gone,
}

impl From<Fault> for Interrupted {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for Interrupted {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

pub type Outcome = Result<(), Interrupted>;

impl Connection {
    pub fn new(stream: Stream) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            reader: BufReader::with_capacity(16 << 10, reader),
            writer,
        }
    }

    /// Returns the payload of the first frame.
    pub async fn request(&mut self) -> Result<Vec<u8>, Interrupted> {
        let mut payload = Vec::new();
        let received = frame::read_frame(&mut self.reader, &mut payload);
        match timeout(HANDSHAKE, received).await {
            Ok(Ok(Kind::Request)) => Ok(payload),
            Ok(Ok(_)) => Err(protocol_fault("the first frame is not a request").into()),
            Ok(Err(_)) | Err(_) => Err(Interrupted::Gone),
        }
    }

    /// Appends the next piece of the request's data to `buffer`; false at its end.
    pub async fn read_data(&mut self, buffer: &mut Vec<u8>) -> Result<bool, Interrupted> {
        match frame::read_frame(&mut self.reader, buffer).await? {
            Kind::Data => Ok(true),
            Kind::End => Ok(false),
            _ => Err(protocol_fault("data was expected").into()),
        }
    }

    pub async fn reply(&mut self, message: &impl Serialize) -> Outcome {
        self.send_json(Kind::Reply, message).await?;
        Ok(())
    }

    /// Sends the reply, then `parts` as data, and the end.
    pub async fn reply_with_data(&mut self, message: &impl Serialize, parts: &[&[u8]]) -> Outcome {
        let mut out = json_frame(Kind::Reply, message)?;
        self.append_data(&mut out, parts).await?;
        frame::encode(&mut out, Kind::End, &[]);
        send(&mut self.writer, &out).await?;
        Ok(())
    }

    /// Sends one part of a result in parts, with its `data`.
    pub async fn item(&mut self, message: &impl Serialize, data: &[u8]) -> Outcome {
        let mut out = json_frame(Kind::Item, message)?;
        self.append_data(&mut out, &[data]).await?;
        send(&mut self.writer, &out).await?;
        Ok(())
    }

    /// Sends many parts of a result, in as few frames as their bounds allow.
    pub async fn items(&mut self, items: &[impl Serialize]) -> Outcome {
        let mut batch = Vec::new();
        let mut bytes = 0;
        for item in items {
            let length = serde_json::to_vec(item).map_or(0, |json| json.len() + 1);
            if bytes + length > frame::CONTROL_BYTES / 2 || batch.len() == FRAME_ITEMS {
                self.item(&batch, &[]).await?;
                batch.clear();
                bytes = 0;
            }
            batch.push(item);
            bytes += length;
        }
        if !batch.is_empty() {
            self.item(&batch, &[]).await?;
        }
        Ok(())
    }

    /// Sends one data frame of at most `frame::DATA_BYTES`.
    pub async fn send_data(&mut self, data: &[u8]) -> Outcome {
        self.writer
            .write_all(&frame::header(Kind::Data, data.len()))
            .await?;
        send(&mut self.writer, data).await?;
        Ok(())
    }

    pub async fn send_end(&mut self) -> Outcome {
        send(&mut self.writer, &frame::header(Kind::End, 0)).await?;
        Ok(())
    }

    /// Returns the stream, for operations that relay bytes themselves.
    pub fn halves(&mut self) -> (&mut BufReader<Reader>, &mut Writer) {
        (&mut self.reader, &mut self.writer)
    }

    /// Resolves when the host has closed the connection, or sends unexpected bytes.
    pub async fn closed(&mut self) {
        let _ = self.reader.fill_buf().await;
    }

    /// Runs `work` unless the host hangs up first; then `work` is dropped.
    pub async fn unless_closed<T>(
        &mut self,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Interrupted> {
        tokio::select! {
            biased;
            result = work => Ok(result?),
            () = self.closed() => Err(Interrupted::Gone),
        }
    }

    async fn send_json(&mut self, kind: Kind, message: &impl Serialize) -> Outcome {
        let out = json_frame(kind, message)?;
        send(&mut self.writer, &out).await?;
        Ok(())
    }

    /// Appends data frames to `out`, which is sent whenever it is large.
    async fn append_data(&mut self, out: &mut Vec<u8>, parts: &[&[u8]]) -> io::Result<()> {
        for chunk in parts
            .iter()
            .flat_map(|part| part.chunks(frame::DATA_CHUNK_BYTES))
        {
            frame::encode(out, Kind::Data, chunk);
            if out.len() >= frame::DATA_CHUNK_BYTES {
                send(&mut self.writer, out).await?;
                out.clear();
            }
        }
        Ok(())
    }

    /// Sends an error to the host, and waits until it hangs up.
    pub async fn refuse(&mut self, fault: &Fault) {
        if self.send_json(Kind::Error, fault).await.is_ok() {
            self.take_leave().await;
        }
    }

    /// Ends a complete answer. A unix socket keeps bytes that the host has not read yet; TCP drops them when
    /// bytes of the host arrive after the close.
    pub async fn end(&mut self) {
        if matches!(self.writer, Writer::Network(_)) {
            self.take_leave().await;
        }
    }

    async fn take_leave(&mut self) {
        let leave = async {
            let _ = self.writer.shutdown().await;
            self.drain().await;
        };
        let _ = timeout(LINGER, leave).await;
    }

    /// Reads and discards until the host hangs up.
    pub async fn drain(&mut self) {
        loop {
            match self.reader.fill_buf().await {
                Ok(bytes) if !bytes.is_empty() => {
                    let length = bytes.len();
                    self.reader.consume(length);
                }
                _ => return,
            }
        }
    }
}

fn json_frame(kind: Kind, message: &impl Serialize) -> Result<Vec<u8>, Interrupted> {
    let json = serde_json::to_vec(message).map_err(|_| Interrupted::Gone)?;
    if json.len() > frame::CONTROL_BYTES {
        return Err(Fault::new(Code::TooLarge, "The answer is larger than a frame may be.").into());
    }
    let mut out = Vec::with_capacity(json.len() + frame::HEADER_BYTES);
    frame::encode(&mut out, kind, &json);
    Ok(out)
}

pub fn protocol_fault(reason: &str) -> Fault {
    Fault::new(
        Code::InvalidArgument,
        format!("The request breaks the agent protocol: {reason}."),
    )
}
