//! The bytes of one connection, on either transport: the host's unix socket, or TLS over the network.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf, ReadHalf, WriteHalf};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

pub enum Stream {
    Local(UnixStream),
    Network(Box<TlsStream<TcpStream>>),
}

pub enum Reader {
    Local(OwnedReadHalf),
    Network(ReadHalf<Box<TlsStream<TcpStream>>>),
}

pub enum Writer {
    Local(OwnedWriteHalf),
    Network(WriteHalf<Box<TlsStream<TcpStream>>>),
}

impl Stream {
    pub fn into_split(self) -> (Reader, Writer) {
        match self {
            Self::Local(stream) => {
                let (reader, writer) = stream.into_split();
                (Reader::Local(reader), Writer::Local(writer))
            }
            Self::Network(stream) => {
                let (reader, writer) = tokio::io::split(stream);
                (Reader::Network(reader), Writer::Network(writer))
            }
        }
    }
}

impl Reader {
    /// The unix socket, where that is the transport: waiting for its bytes needs no buffer.
    pub fn socket(&self) -> Option<&OwnedReadHalf> {
        match self {
            Self::Local(socket) => Some(socket),
            Self::Network(_) => None,
        }
    }
}

/// Writes all, down to the kernel: TLS would keep bytes that a full socket does not take until the next write.
pub async fn send(writer: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes).await?;
    writer.flush().await
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Local(reader) => Pin::new(reader).poll_read(context, buffer),
            Self::Network(reader) => Pin::new(reader).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Local(writer) => Pin::new(writer).poll_write(context, bytes),
            Self::Network(writer) => Pin::new(writer).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Local(writer) => Pin::new(writer).poll_flush(context),
            Self::Network(writer) => Pin::new(writer).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Local(writer) => Pin::new(writer).poll_shutdown(context),
            Self::Network(writer) => Pin::new(writer).poll_shutdown(context),
        }
    }
}
