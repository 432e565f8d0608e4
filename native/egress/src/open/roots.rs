//! Authorities that this host trusts, by which server certificates are checked. Read before the program gives
//! up access to files.

use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, client::Resumption};
use std::path::PathBuf;
use std::sync::Arc;

/// Settings for connections to servers. None where this host has no readable authority.
pub type Roots = Option<Arc<ClientConfig>>;

/// Names another bundle, as for OpenSSL.
const VARIABLE: &str = "SSL_CERT_FILE";

/// Bundles of Debian, Fedora, openSUSE, CentOS, RHEL and Alpine.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

pub fn read_roots() -> Roots {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let paths = match named {
        Some(path) => vec![path],
        None => BUNDLES.iter().map(PathBuf::from).collect(),
    };
    let mut roots = RootCertStore::empty();
    let certificates = paths
        .iter()
        .find_map(|path| CertificateDer::pem_file_iter(path).ok())?;
    // A malformed one does not spoil the others.
    roots.add_parsable_certificates(certificates.flatten());
    if roots.is_empty() {
        return None;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let mut config = builder
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Sandboxes share no session, and each connection is checked anew.
    config.resumption = Resumption::disabled();
    Some(Arc::new(config))
}
