//! Connections to destinations.

use super::closing::prepare;
use crate::bounds::CONNECT_TIMEOUT;
use std::net::SocketAddrV4;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// None where no server answers.
pub async fn connect(destination: SocketAddrV4) -> Option<TcpStream> {
    let stream = timeout(CONNECT_TIMEOUT, TcpStream::connect(destination))
        .await
        .ok()?
        .ok()?;
    prepare(&stream);
    Some(stream)
}
