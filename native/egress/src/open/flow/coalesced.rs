//! TLS for the reads of HTTP. TLS returns one record at a time, and each piece of a body costs a turn of both
//! sides, so records are joined.

use crate::bounds::READ_AHEAD;
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Joins available records, up to the size of a large one.
pub struct Coalesced<S>(pub S);

impl<S: AsyncRead + Unpin> AsyncRead for Coalesced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        loop {
            let filled = buffer.filled().len();
            let outcome = Pin::new(&mut self.0).poll_read(context, buffer);
            let now = buffer.filled().len();
            let goes_on = now > filled && now - before < READ_AHEAD && buffer.remaining() > 0;
            match outcome {
                Poll::Ready(Ok(())) if goes_on => {}
                // An end or an error after bytes is returned again by the next read.
                _ if filled > before => return Poll::Ready(Ok(())),
                outcome => return outcome,
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Coalesced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;
    use tokio::io::AsyncReadExt;

    fn read(stream: &mut (impl AsyncRead + Unpin), most: usize) -> String {
        let mut bytes = vec![0; most];
        let mut buffer = ReadBuf::new(&mut bytes);
        let mut context = Context::from_waker(Waker::noop());
        assert!(
            Pin::new(stream)
                .poll_read(&mut context, &mut buffer)
                .is_ready()
        );
        String::from_utf8(buffer.filled().to_vec()).unwrap()
    }

    #[test]
    fn a_read_takes_several_records_and_no_more_than_fits() {
        let records = (&b"abc"[..]).chain(&b"def"[..]).chain(&b"ghi"[..]);
        let mut coalesced = Coalesced(records);
        assert_eq!(read(&mut coalesced, 8), "abcdefgh");
        assert_eq!(read(&mut coalesced, 8), "i");
        assert_eq!(read(&mut coalesced, 8), "");
    }
}
