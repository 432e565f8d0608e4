//! TLS with the server. Its certificate must be for the name that the client asked for: this binds a secret
//! to its host, whatever the addresses and resolvers are.

use super::alpn::HTTP_2;
use super::flow::Socket;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, Error};
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub struct Upstream {
    pub stream: TlsStream<Socket>,
    /// The protocol that the server chose from those offered.
    pub protocol: Option<Vec<u8>>,
}

impl Upstream {
    pub fn is_http_2(&self) -> bool {
        self.protocol.as_deref() == Some(HTTP_2)
    }
}

/// Fails with the reason.
pub async fn secure(
    roots: &Arc<ClientConfig>,
    socket: Socket,
    name: &str,
    offered: &[Vec<u8>],
) -> Result<Upstream, &'static str> {
    let server_name = ServerName::try_from(name.to_owned()).map_err(|_| NOT_VALID)?;
    let connector = TlsConnector::from(roots.clone());
    let connecting = connector
        .with_alpn(offered.to_vec())
        .connect(server_name, socket);
    let stream = connecting.await.map_err(|error| reason(&error))?;
    let protocol = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
    Ok(Upstream { stream, protocol })
}

const NOT_VALID: &str = "the certificate of the server is not valid";

fn reason(error: &std::io::Error) -> &'static str {
    use CertificateError::*;
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidCertificate(wrong)) => match wrong {
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => {
                "the certificate of the server has expired, or is not valid yet"
            }
            NotValidForName | NotValidForNameContext { .. } => {
                "the certificate of the server is for another name"
            }
            UnknownIssuer => {
                "no authority that the host trusts has signed the certificate of the server"
            }
            _ => NOT_VALID,
        },
        Some(_) => "TLS with the server failed",
        None => "the server ended the connection before it was secure",
    }
}
