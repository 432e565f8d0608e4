//! Questions over TCP, one after the other on a connection.

use super::judge::{Resolver, Step};
use crate::bounds::RESOLVER_IDLE_TIMEOUT;
use std::io::Result;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const PAUSE: Duration = Duration::from_millis(20);
const LONGEST: usize = 4096;

pub async fn serve_tcp(resolver: Arc<Resolver>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((client, peer)) => {
                if let IpAddr::V4(source) = peer.ip() {
                    accept(&resolver, client, source);
                }
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Connections of unknown sources, and of sandboxes that have used their share, are closed at once.
fn accept(resolver: &Arc<Resolver>, client: TcpStream, source: Ipv4Addr) {
    let place = resolver
        .world
        .sandbox_at(source)
        .and_then(|(owner, sandbox)| resolver.world.resolver_connections.take(&owner, &sandbox));
    let Some(place) = place else {
        return;
    };
    let resolver = resolver.clone();
    tokio::spawn(async move {
        let _ = converse(&resolver, client, source).await;
        drop(place);
    });
}

/// The idle timeout bounds each question, and the reading of each answer.
async fn converse(resolver: &Resolver, mut client: TcpStream, source: Ipv4Addr) -> Result<()> {
    loop {
        let message = timeout(RESOLVER_IDLE_TIMEOUT, read(&mut client)).await??;
        let answer = match resolver.begin(source, &message, false) {
            Step::Nothing => return Ok(()),
            Step::Answer(answer) => answer,
            Step::Ask(asking) => resolver.finish(asking, false).await,
        };
        let framed = [&(answer.len() as u16).to_be_bytes()[..], &answer].concat();
        timeout(RESOLVER_IDLE_TIMEOUT, client.write_all(&framed)).await??;
    }
}

async fn read(client: &mut TcpStream) -> Result<Vec<u8>> {
    let length = usize::from(client.read_u16().await?);
    if length > LONGEST {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    client.read_exact(&mut message).await?;
    Ok(message)
}
