//! Connects to listeners inside.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::resolve::resolve;
use crate::init::workers::Workers;
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

/// Time for a connection: a listener with a full queue lets it wait.
const PATIENCE: Duration = Duration::from_secs(10);

/// IPv4 first; a program that listens on every address answers on either.
pub async fn to_loopback(port: u16) -> Result<TcpStream, Fault> {
    let addresses: [SocketAddr; 2] = [
        (Ipv4Addr::LOCALHOST, port).into(),
        (Ipv6Addr::LOCALHOST, port).into(),
    ];
    for address in addresses {
        match timeout(PATIENCE, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) if is_nobody(error.kind()) => {}
            Ok(Err(error)) => return Err(error.into()),
            Err(_) => return Err(busy(port)),
        }
    }
    Err(Fault::not_found(
        Resource::Port,
        format!("Nothing listens on port {port} inside the sandbox."),
    )
    .hint("Start a server on that port inside the sandbox, then try again; Sandbox.ListPorts shows what listens."))
}

/// Connects as a program inside would: the kernel decides what a sandbox may reach.
pub async fn to_host(workers: &Workers, host: &str, port: u16) -> Result<TcpStream, Fault> {
    let addresses = resolve(workers, host).await?;
    if addresses.iter().all(IpAddr::is_loopback) {
        return to_loopback(port).await;
    }
    for address in addresses {
        if let Ok(Ok(stream)) = timeout(PATIENCE, TcpStream::connect((address, port))).await {
            return Ok(stream);
        }
    }
    Err(Fault::not_found(
        Resource::Port,
        format!("Port {port} of that host cannot be reached from the sandbox."),
    ))
}

/// A sandbox without IPv6 also gives this error for its IPv6 loopback.
fn is_nobody(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionRefused
            | ErrorKind::AddrNotAvailable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::HostUnreachable
            | ErrorKind::InvalidInput
            | ErrorKind::Unsupported
    )
}

fn busy(port: u16) -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        format!("The program on port {port} inside the sandbox accepts no connections."),
    )
    .hint("Check the program that listens there: it is stuck or overloaded.")
}
