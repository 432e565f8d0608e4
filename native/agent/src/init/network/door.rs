//! Listens on the network, and admits clients that prove in time to be the service.

use rustix::net::sockopt;
use rustls::ServerConfig;
use rustls::crypto::ring::Ticketer;
use rustls::version::TLS13;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::crowd::{Crowd, Place};
use super::verifier::ServiceAlone;
use super::{credentials, crypto};
use crate::wire::stream::Stream;

/// More than the service opens at once: its calls and its gateways into one sandbox are bounded.
const MAX_STRANGERS: usize = 384;
/// From the first byte to a certificate that has been checked.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// The default bound of Linux.
const BACKLOG: i32 = 4_096;
/// After an accept that failed for want of descriptors or memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// A service that vanished is noticed after a minute, by silence and then probes. One that takes no bytes for
/// longer is not cut off: its reader may have paused.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_PROBES: u32 = 3;

#[derive(Debug)]
pub struct Settings {
    pub address: SocketAddr,
    pub folder: PathBuf,
    /// URI of this agent's own certificate.
    pub identity: String,
    /// URI of the certificate of the only client.
    pub service: String,
}

pub struct Door {
    listener: StdListener,
    tls: Arc<ServerConfig>,
    by_mount: bool,
}

impl Door {
    /// Hides the credentials, and listens.
    pub fn open(settings: Settings) -> Result<Self, String> {
        let credentials = credentials::take(&settings.folder, &settings.identity)?;
        let provider = Arc::new(crypto::provider());
        let verifier = ServiceAlone::new(credentials.authority, &provider, settings.service)?;
        let mut tls = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| error.to_string())?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_single_cert(credentials.chain, credentials.key)
            .map_err(|error| format!("the key does not fit the certificate: {error}"))?;
        // Tickets are sealed with a key that only this process has. The service resumes with a ticket, which
        // saves the signatures.
        tls.ticketer = Ticketer::new().map_err(|error| error.to_string())?;
        tls.send_tls13_tickets = 1;
        let failed = |error| format!("cannot listen on {}: {error}", settings.address);
        let listener = StdListener::bind(settings.address).map_err(failed)?;
        // Listens again with a longer queue than the standard library's.
        rustix::net::listen(&listener, BACKLOG).map_err(|errno| failed(errno.into()))?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            tls: Arc::new(tls),
            by_mount: credentials.by_mount,
        })
    }

    /// True when the key came by a mount, which shows that this process has the right to mount.
    pub fn by_mount(&self) -> bool {
        self.by_mount
    }

    /// Inode of the listening socket, as in the kernel's tables.
    pub fn inode(&self) -> Option<u64> {
        let stat = rustix::fs::fstat(&self.listener).ok()?;
        Some(stat.st_ino)
    }

    /// Passes on every connection of the service while it is polled.
    pub async fn accept(self, serve: Rc<impl AsyncFn(Stream) + 'static>) -> std::io::Result<()> {
        let listener = TcpListener::from_std(self.listener)?;
        let acceptor = TlsAcceptor::from(self.tls);
        let crowd = Crowd::new(MAX_STRANGERS);
        loop {
            let Ok((stream, from)) = listener.accept().await else {
                sleep(ACCEPT_RETRY).await;
                continue;
            };
            let place = crowd.enter(from.ip());
            let (acceptor, serve) = (acceptor.clone(), Rc::clone(&serve));
            spawn_local(async move {
                if let Some(stream) = authenticated(&acceptor, stream, place).await {
                    serve(stream).await;
                }
            });
        }
    }
}

/// None for a client that is late, has lost its place, or is not the service.
async fn authenticated(acceptor: &TlsAcceptor, stream: TcpStream, place: Place) -> Option<Stream> {
    stream.set_nodelay(true).ok()?;
    keep_alive(&stream).ok()?;
    let handshake = tokio::select! {
        result = timeout(HANDSHAKE, acceptor.accept(stream)) => result.ok()?,
        () = place.taken() => return None,
    };
    Some(Stream::Network(Box::new(handshake.ok()?)))
}

fn keep_alive(socket: &impl AsFd) -> rustix::io::Result<()> {
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, KEEPALIVE_IDLE)?;
    sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL)?;
    sockopt::set_tcp_keepcnt(socket, KEEPALIVE_PROBES)
}
