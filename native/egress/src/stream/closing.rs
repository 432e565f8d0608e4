//! Ends of connections. Dropping a socket resets its connection, so that an accidental end never looks like a
//! complete answer. An orderly end is prepared before the drop.

use super::bytes::{Half, write_all};
use rustix::net::sockopt::{
    set_socket_keepalive, set_socket_linger, set_tcp_keepidle, set_tcp_nodelay,
};
use rustix::net::{Shutdown, shutdown};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time and bytes of a client that goes on sending after the last answer.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 256 * 1024;
/// After this time the kernel probes a silent peer.
const KEEP_ALIVE_IDLE: Duration = Duration::from_secs(60);

/// Sets the options of every connection: dropping it resets it from now on.
pub fn prepare(stream: &TcpStream) {
    // None of these fails on a TCP socket, and the connection works without them too.
    let _ = set_socket_linger(stream, Some(Duration::ZERO));
    let _ = set_tcp_nodelay(stream, true);
    let _ = set_socket_keepalive(stream, true);
    let _ = set_tcp_keepidle(stream, KEEP_ALIVE_IDLE);
}

/// From now on dropping the socket sends the remaining bytes, and an orderly end.
pub fn make_orderly(stream: &TcpStream) {
    let _ = set_socket_linger(stream, None);
}

pub fn end_writing(stream: &TcpStream) -> std::io::Result<()> {
    Ok(shutdown(stream, Shutdown::Write)?)
}

/// Sends a last answer so that it arrives: further bytes of the client are read and discarded for a moment,
/// because a socket that is closed with unread bytes is reset.
pub async fn take_leave(stream: &TcpStream, words: &[u8]) {
    let leave = async {
        write_all(stream, words).await?;
        end_writing(stream)?;
        let mut rest = Half::new(stream);
        let mut thrown = 0;
        while thrown < LINGER_BYTES {
            match rest.read(16 * 1024).await? {
                0 => break,
                count => thrown += count,
            }
            rest.bytes.clear();
        }
        std::io::Result::Ok(())
    };
    if let Ok(Ok(())) = timeout(LINGER, leave).await {
        make_orderly(stream);
    }
}
