//! Frames: a 32-bit little-endian payload length, a type byte, the payload. `protocol/README.md` holds the
//! contract and `protocol/frames` the golden bytes.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

pub const HEADER_BYTES: usize = 5;
/// Largest payload of a control frame, either way.
pub const CONTROL_BYTES: usize = 4 << 20;
/// Largest payload of a data frame, either way.
pub const DATA_BYTES: usize = 1 << 20;
/// The size of this side's data frames: few system calls, little memory.
pub const DATA_CHUNK_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Host to agent, JSON: the one operation of this connection.
    Request = 1,
    /// Agent to host, JSON: the operation's result, or the head of a stream.
    Reply = 2,
    /// Agent to host, JSON: the operation failed; nothing follows.
    Error = 3,
    /// Agent to host, JSON: one part of a result in parts, before the reply. While a program runs, after the
    /// reply and in both directions.
    Item = 4,
    /// Either way, raw bytes.
    Data = 5,
    /// Either way, empty: no more data.
    End = 6,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Self> {
        [
            Self::Request,
            Self::Reply,
            Self::Error,
            Self::Item,
            Self::Data,
            Self::End,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == byte)
    }

    fn max_bytes(self) -> usize {
        match self {
            Self::End => 0,
            Self::Data => DATA_BYTES,
            _ => CONTROL_BYTES,
        }
    }
}

pub fn header(kind: Kind, length: usize) -> [u8; HEADER_BYTES] {
    debug_assert!(length <= kind.max_bytes());
    let [a, b, c, d] = (length as u32).to_le_bytes();
    [a, b, c, d, kind as u8]
}

/// Fails with `InvalidData` for an unknown type or a length over the type's bound.
pub fn parse_header(bytes: [u8; HEADER_BYTES]) -> io::Result<(Kind, usize)> {
    let [a, b, c, d, kind] = bytes;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    let kind = Kind::from_byte(kind).ok_or(io::ErrorKind::InvalidData)?;
    if length > kind.max_bytes() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((kind, length))
}

/// Appends one whole frame to `out`.
pub fn encode(out: &mut Vec<u8>, kind: Kind, payload: &[u8]) {
    out.extend_from_slice(&header(kind, payload.len()));
    out.extend_from_slice(payload);
}

/// Reads one frame, its payload appended to `payload`.
pub async fn read_frame(
    reader: &mut (impl AsyncRead + Unpin),
    payload: &mut Vec<u8>,
) -> io::Result<Kind> {
    let mut bytes = [0; HEADER_BYTES];
    reader.read_exact(&mut bytes).await?;
    let (kind, length) = parse_header(bytes)?;
    payload.reserve(length);
    let mut limited = reader.take(length as u64);
    while limited.limit() > 0 {
        if limited.read_buf(payload).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::golden::{breaches, exchanges, unhex};
    use proptest::prelude::*;
    use serde_json::Value;

    fn read_all(mut bytes: &[u8]) -> io::Result<Vec<(Kind, Vec<u8>)>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let mut payload = Vec::new();
            let kind = runtime.block_on(read_frame(&mut bytes, &mut payload))?;
            frames.push((kind, payload));
        }
        Ok(frames)
    }

    #[test]
    fn golden_frames_are_read_and_written_byte_for_byte() {
        let mut seen = 0;
        for (name, exchange) in exchanges() {
            for frame in ["host", "agent"]
                .iter()
                .filter_map(|side| exchange[side].as_array())
                .flatten()
            {
                let bytes = unhex(frame["hex"].as_str().unwrap());
                let [(kind, payload)] = &read_all(&bytes).unwrap()[..] else {
                    panic!("{name}: not one frame");
                };
                assert_eq!(
                    format!("{kind:?}").to_lowercase(),
                    frame["type"].as_str().unwrap()
                );
                let mut written = Vec::new();
                encode(&mut written, *kind, payload);
                assert_eq!(written, bytes, "{name}");
                if let Some(json) = frame.get("json") {
                    assert_eq!(
                        &serde_json::from_slice::<Value>(payload).unwrap(),
                        json,
                        "{name}"
                    );
                }
                seen += 1;
            }
        }
        assert!(seen > 30, "only {seen} golden frames");
    }

    #[test]
    fn golden_breaches_are_refused() {
        for breach in breaches() {
            let refused = read_all(&unhex(breach["hex"].as_str().unwrap()));
            assert_eq!(
                refused.unwrap_err().kind(),
                io::ErrorKind::InvalidData,
                "{breach}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read_all(&bytes);
        }
    }
}
