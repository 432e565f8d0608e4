//! Questions over UDP.

use super::judge::{Resolver, Step};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::net::UdpSocket;

/// Longer than any question may be, so that a longer one is seen as such.
const LONGEST: usize = 4096;

pub async fn serve_udp(resolver: Arc<Resolver>, socket: UdpSocket) {
    let socket = Arc::new(socket);
    let mut message = vec![0; LONGEST];
    loop {
        // An error is that of an earlier answer, to somebody who is gone.
        let Ok((length, peer)) = socket.recv_from(&mut message).await else {
            continue;
        };
        let IpAddr::V4(source) = peer.ip() else {
            continue;
        };
        match resolver.begin(source, &message[..length], true) {
            Step::Nothing => {}
            // An answer that does not fit the socket now is lost, as UDP loses others.
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
