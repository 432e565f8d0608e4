//! Questions over UDP.

use super::judge::{Resolver, Step};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::net::UdpSocket;

/// Longer than any allowed question, so that longer ones are recognized.
const LONGEST: usize = 4096;

pub async fn serve_udp(resolver: Arc<Resolver>, socket: UdpSocket) {
    let socket = Arc::new(socket);
    let mut message = vec![0; LONGEST];
    loop {
        // An error belongs to an earlier answer, whose receiver is gone.
        let Ok((length, peer)) = socket.recv_from(&mut message).await else {
            continue;
        };
        let IpAddr::V4(source) = peer.ip() else {
            continue;
        };
        match resolver.begin(source, &message[..length], true) {
            Step::Nothing => {}
            // An answer that does not fit into the socket now is dropped, as is usual with UDP.
            Step::Answer(answer) => drop(socket.try_send_to(&answer, peer)),
            Step::Ask(asking) => {
                let (resolver, socket) = (resolver.clone(), socket.clone());
                tokio::spawn(async move {
                    let answer = resolver.finish(asking, true).await;
                    drop(socket.try_send_to(&answer, peer));
                });
            }
        }
    }
}
