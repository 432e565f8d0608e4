//! The side channel of code that runs: for each chart a length and its JSON, a length and its picture. The
//! code may write anything there, so everything is bounded and the host trusts none of it.

use serde_json::value::RawValue;
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;

use crate::init::readiness::readable;

const LENGTH_BYTES: usize = 4;
const MAX_JSON_BYTES: usize = 512 << 10;
const READ_BYTES: usize = 64 << 10;
const PIPE_BYTES: usize = 1 << 20;

pub struct Bounds {
    pub charts: usize,
    pub png_bytes: usize,
    pub total_bytes: usize,
}

pub struct Chart {
    pub json: Box<RawValue>,
    pub png: Vec<u8>,
}

/// Splits the stream into charts as it arrives. It stops at a bound and at malformed data.
pub struct Parser {
    bounds: Bounds,
    buffer: Vec<u8>,
    json: Option<Box<RawValue>>,
    charts: Vec<Chart>,
    total_bytes: usize,
    closed: bool,
}

impl Parser {
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            buffer: Vec::new(),
            json: None,
            charts: Vec::new(),
            total_bytes: 0,
            closed: false,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if self.closed {
            return;
        }
        self.buffer.extend_from_slice(bytes);
        while let Some(part) = self.next_part() {
            if self.take(part).is_none() {
                self.closed = true;
            }
            if self.closed {
                self.buffer = Vec::new();
                return;
            }
        }
    }

    /// Cuts a complete part of the stream off the buffer. Closes at a length over its bound.
    fn next_part(&mut self) -> Option<Vec<u8>> {
        let (length, rest) = self.buffer.split_first_chunk::<LENGTH_BYTES>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let bound = match self.json {
            None => MAX_JSON_BYTES,
            Some(_) => self.bounds.png_bytes,
        };
        if length > bound || self.charts.len() >= self.bounds.charts {
            self.closed = true;
            self.buffer = Vec::new();
            return None;
        }
        let part = rest.get(..length)?.to_vec();
        self.buffer.drain(..LENGTH_BYTES + length);
        Some(part)
    }

    fn take(&mut self, part: Vec<u8>) -> Option<()> {
        self.total_bytes += part.len();
        if self.total_bytes > self.bounds.total_bytes {
            return None;
        }
        match self.json.take() {
            None => {
                // Parsed completely once, which bounds its nesting.
                let text = String::from_utf8(part).ok()?;
                serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).ok()?;
                self.json = Some(RawValue::from_string(text).ok()?);
            }
            Some(json) => self.charts.push(Chart { json, png: part }),
        }
        Some(())
    }

    pub fn finish(self) -> Vec<Chart> {
        self.charts
    }
}

/// The agent's end of the side channel.
pub struct Receiver {
    pipe: AsyncFd<OwnedFd>,
    parser: Parser,
    buffer: Vec<u8>,
}

impl Receiver {
    pub fn new(pipe: OwnedFd, bounds: Bounds) -> io::Result<Self> {
        let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_BYTES);
        Ok(Self {
            pipe: readable(pipe)?,
            parser: Parser::new(bounds),
            buffer: vec![0; READ_BYTES],
        })
    }

    /// Reads without end. May be dropped and called again.
    pub async fn pump(&mut self) -> io::Result<()> {
        loop {
            let mut ready = self.pipe.readable().await?;
            match rustix::io::read(self.pipe.get_ref(), &mut self.buffer[..]) {
                Ok(0) => return std::future::pending().await,
                Ok(length) => self.parser.push(&self.buffer[..length]),
                Err(rustix::io::Errno::AGAIN) => ready.clear_ready(),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            tokio::task::coop::consume_budget().await;
        }
    }

    /// Returns the charts, with what is still in the pipe after the end of the code.
    pub fn finish(mut self) -> Vec<Chart> {
        for _ in 0..PIPE_BYTES / READ_BYTES + 1 {
            match rustix::io::read(self.pipe.get_ref(), &mut self.buffer[..]) {
                Ok(length) if length > 0 => self.parser.push(&self.buffer[..length]),
                _ => break,
            }
        }
        self.parser.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parser() -> Parser {
        Parser::new(Bounds {
            charts: 2,
            png_bytes: 10,
            total_bytes: 100,
        })
    }

    fn part(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
    }

    fn parsed(stream: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut parser = parser();
        parser.push(stream);
        parser
            .finish()
            .into_iter()
            .map(|chart| (chart.json.get().to_owned(), chart.png))
            .collect()
    }

    #[test]
    fn charts_come_out_as_they_went_in() {
        let stream = [part(b"{\"a\":1}"), part(b"png"), part(b"{}"), part(b"")].concat();
        let expected = [
            ("{\"a\":1}".to_owned(), b"png".to_vec()),
            ("{}".to_owned(), Vec::new()),
        ];
        assert_eq!(parsed(&stream), expected);
    }

    #[test]
    fn nothing_is_taken_past_a_bound_or_a_breach() {
        let chart = [part(b"{}"), part(b"png")].concat();
        assert_eq!(parsed(&chart.repeat(3)).len(), 2);
        for breach in [
            [part(b"{}"), part(&[0; 11])].concat(),
            [part(b"[]"), part(b"png")].concat(),
            [part(b"nonsense"), part(b"png")].concat(),
            vec![0xFF; 40],
            [part("[".repeat(90).as_bytes()), part(b"png")].concat(),
        ] {
            assert_eq!(parsed(&[breach, chart.clone()].concat()), []);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn where_the_stream_is_cut_makes_no_difference(cuts in prop::collection::vec(0usize..40, 0..6)) {
            let stream = [part(b"{\"a\":1}"), part(b"png"), part(b"{}"), part(b"x")].concat();
            let mut parser = parser();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.sort_unstable();
            let mut from = 0;
            for to in cuts.into_iter().chain([stream.len()]) {
                parser.push(&stream[from..to]);
                from = to;
            }
            prop_assert_eq!(parser.finish().len(), 2);
        }

        #[test]
        fn no_stream_breaks_it(stream in prop::collection::vec(any::<u8>(), 0..200)) {
            parsed(&stream);
        }
    }
}
