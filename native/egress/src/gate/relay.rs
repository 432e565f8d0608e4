//! Relays bytes in both directions until both have ended. The end of one direction is passed on, and the
//! other continues.

use super::pipes::{Lease, Pipes};
use crate::stream::{end_writing, write_all};
use crate::world::Live;
use rustix::fd::AsFd;
use rustix::pipe::{SpliceFlags, splice};
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::try_join;

/// Bytes moved at once: a pipe of the usual size.
const PIECE: usize = 64 * 1024;
/// Bytes copied at once where no pipe is free.
const COPIED_PIECE: usize = 8 * 1024;
/// After this many pieces others get their turn.
const PIECES_A_TURN: usize = 16;

pub async fn relay(
    client: &TcpStream,
    upstream: &TcpStream,
    pipes: &Arc<Pipes>,
    live: &Live,
) -> Result<()> {
    try_join!(
        one_way(client, upstream, pipes, |bytes| live.count_sent(bytes)),
        one_way(upstream, client, pipes, |bytes| live.count_received(bytes)),
    )?;
    Ok(())
}

async fn one_way(
    from: &TcpStream,
    to: &TcpStream,
    pipes: &Arc<Pipes>,
    count: impl Fn(usize),
) -> Result<()> {
    let mut pieces = 0;
    loop {
        from.readable().await?;
        // Bytes are only taken when they can be written, so a reader that has stopped holds no pipe.
        to.writable().await?;
        let moved = match pipes.lease() {
            Some(pipe) => move_spliced(from, to, pipe).await?,
            None => move_copied(from, to).await?,
        };
        match moved {
            Some(0) => return end_writing(to),
            Some(bytes) => count(bytes),
            None => {}
        }
        pieces = (pieces + 1) % PIECES_A_TURN;
        if pieces == 0 {
            yield_now().await;
        }
    }
}

/// Returns the number of bytes passed on, 0 at the end, and None where none are available.
async fn move_spliced(from: &TcpStream, to: &TcpStream, mut pipe: Lease) -> Result<Option<usize>> {
    let taken = from.try_io(Interest::READABLE, || {
        splice_some(from, &pipe.ends.input, PIECE)
    });
    pipe.bytes = match taken {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
        Err(error) => return Err(error),
    };
    let bytes = pipe.bytes;
    while pipe.bytes > 0 {
        to.writable().await?;
        match to.try_io(Interest::WRITABLE, || {
            splice_some(&pipe.ends.output, to, pipe.bytes)
        }) {
            Ok(0) => return Err(Error::from(ErrorKind::WriteZero)),
            Ok(given) => pipe.bytes -= given,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(bytes))
}

async fn move_copied(from: &TcpStream, to: &TcpStream) -> Result<Option<usize>> {
    let mut piece = vec![0; COPIED_PIECE];
    match from.try_read(&mut piece) {
        Ok(bytes) => {
            write_all(to, &piece[..bytes]).await?;
            Ok(Some(bytes))
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

fn splice_some(from: impl AsFd, to: impl AsFd, most: usize) -> Result<usize> {
    let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
    Ok(splice(from, None, to, None, most, flags)?)
}
