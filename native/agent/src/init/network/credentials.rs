//! Key, certificate and the service's authority, read once from a folder that is then hidden.

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use webpki::EndEntityCert;
use zeroize::Zeroizing;

use super::hiding::hide;

/// File names in a Secret of Kubernetes.
const KEY: &str = "tls.key";
const CERTIFICATE: &str = "tls.crt";
const AUTHORITY: &str = "ca.crt";

const MAX_FILE_BYTES: u64 = 64 << 10;

pub struct Credentials {
    pub key: PrivateKeyDer<'static>,
    pub chain: Vec<CertificateDer<'static>>,
    pub authority: RootCertStore,
    /// True when the folder was a mount: this process then has the right to mount.
    pub by_mount: bool,
}

/// @param identity URI that the certificate must have; one of another sandbox or generation is refused.
pub fn take(folder: &Path, identity: &str) -> Result<Credentials, String> {
    let key = read(folder, KEY)?;
    let certificate = read(folder, CERTIFICATE)?;
    let authority = read(folder, AUTHORITY)?;
    let by_mount = hide(folder, &[KEY, CERTIFICATE, AUTHORITY])?;
    let chain = certificates(&certificate, CERTIFICATE)?;
    if chain.first().is_none_or(|own| !names_alone(own, identity)) {
        return Err(format!("{CERTIFICATE} is not that of {identity}"));
    }
    let mut roots = RootCertStore::empty();
    for root in certificates(&authority, AUTHORITY)? {
        roots
            .add(root)
            .map_err(|error| format!("{AUTHORITY}: {error}"))?;
    }
    Ok(Credentials {
        key: PrivateKeyDer::from_pem_slice(&key).map_err(|_| format!("{KEY} holds no key"))?,
        chain,
        authority: roots,
        by_mount,
    })
}

/// True where the certificate has this URI and no other.
pub fn names_alone(certificate: &CertificateDer<'_>, identity: &str) -> bool {
    EndEntityCert::try_from(certificate)
        .is_ok_and(|certificate| certificate.valid_uri_names().eq([identity]))
}

fn certificates(pem: &[u8], name: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|_| format!("{name} holds no certificate"))
}

fn read(folder: &Path, name: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let path = folder.join(name);
    let failed = |reason: String| format!("{}: {reason}", path.display());
    let file = File::open(&path).map_err(|error| failed(error.to_string()))?;
    // Allocated once in full size: a vector that grows would leave copies in memory.
    let mut content = Zeroizing::new(Vec::with_capacity(MAX_FILE_BYTES as usize + 1));
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(|error| failed(error.to_string()))?;
    if content.len() as u64 > MAX_FILE_BYTES {
        return Err(failed(format!("over {MAX_FILE_BYTES} bytes")));
    }
    Ok(content)
}
