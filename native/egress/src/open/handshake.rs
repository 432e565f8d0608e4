//! Both handshakes of an opened connection: the server's first, because its choice of a protocol is the client's, too.

use super::alpn::{HTTP_2, offered};
use super::flow::Socket;
use super::upstream::Upstream;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::server::{Acceptor, NoServerSessionStorage};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::sync::Arc;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, StartHandshake};

/// The client's hello, parsed by the TLS library that answers it.
pub type Hello = StartHandshake<Socket>;

/// Reads the hello. TLS answers a malformed one with an alert.
pub async fn hello(client: Socket, name: &str) -> Option<Hello> {
    let hello = LazyConfigAcceptor::new(Acceptor::default(), client)
        .await
        .ok()?;
    let asked = hello.client_hello().server_name()?.to_ascii_lowercase();
    // The gate and the library must read the same name in the hello.
    (asked == name).then_some(hello)
}

/// Answers the client with the leaf certificate, and with the protocol that the server chose; without a
/// server, with the client's preferred one.
pub async fn with_client(
    hello: Hello,
    leaf: Arc<CertifiedKey>,
    upstream: Option<&Upstream>,
) -> Option<TlsStream<Socket>> {
    let protocols = match upstream {
        Some(upstream) => upstream.protocol.iter().cloned().collect(),
        None => offered(&hello.client_hello()),
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let mut config = builder
        .with_safe_default_protocol_versions()
        .ok()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(leaf)));
    config.alpn_protocols = protocols;
    // Sessions are not resumed in other connections: each is for one name and one sandbox.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    hello.into_stream(Arc::new(config)).await.ok()
}

pub fn is_http_2(client: &TlsStream<Socket>) -> bool {
    client.get_ref().1.alpn_protocol() == Some(HTTP_2)
}
