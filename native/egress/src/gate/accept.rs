//! Takes connections as they arrive.

use super::connection;
use super::context::Gate;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Pause after errors that pass by themselves: no descriptor is left, or the client is gone already.
const PAUSE: Duration = Duration::from_millis(20);

pub async fn accept(gate: Arc<Gate>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((client, peer)) => {
                if let IpAddr::V4(source) = peer.ip() {
                    tokio::spawn(connection::serve(gate.clone(), client, source));
                }
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
