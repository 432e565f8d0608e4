//! Zstandard frames in sequence, as written by builders that compress in parallel.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// 0x184D2A50 to 0x184D2A5F, little-endian: a frame to be passed over.
const SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];

pub struct Zstd<B> {
    blob: B,
    decoder: FrameDecoder,
    in_frame: bool,
}

/// Recognizes a stream of frames by its first bytes.
pub fn begins(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
        || (start.len() >= 4 && start[0] & 0xf0 == 0x50 && start[1..4] == SKIPPED)
}

impl<B: BufRead> Zstd<B> {
    pub fn new(blob: B) -> Self {
        Zstd {
            blob,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }

    pub fn into_inner(self) -> B {
        self.blob
    }

    /// Begins the next frame, past skippable ones; returns false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.blob.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.blob) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let passed = io::copy(&mut (&mut self.blob).take(length), &mut io::sink())?;
                    if passed < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

impl<B: BufRead> Read for Zstd<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame && !self.begin()? {
                return Ok(0);
            }
            self.in_frame = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(
                        &mut self.blob,
                        BlockDecodingStrategy::UptoBytes(buffer.len()),
                    )
                    .map_err(io::Error::other)?;
            }
            let count = self.decoder.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            self.in_frame = false;
        }
    }
}
