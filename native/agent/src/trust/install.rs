//! The operation `trust`: makes programs of the sandbox trust servers whose certificates an authority has
//! signed. Repeated with the same certificate it changes nothing. It replaces an earlier certificate, which
//! came with a snapshot.

use serde::Deserialize;
use serde_json::json;

use super::certificate::{Certificate, der_of};
use super::{bundle, java, system};
use crate::files::writing::whole;
use crate::init::context::Context;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

/// Files that variables of the environment name: the certificate, and all that the system trusts with it.
const CERTIFICATE: &str = "/etc/sandhaven/authority.pem";
const BUNDLE: &str = "/etc/sandhaven/ca-bundle.pem";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    /// PEM.
    certificate: String,
    subject_hash: String,
    /// PEM, for a system without a bundle.
    roots: Option<String>,
}

/// Most bytes of the certificates for such a system.
const MAX_ROOTS: usize = 1 << 20;

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let certificate = Certificate::parse(request.certificate, request.subject_hash)?;
    let roots = request.roots.unwrap_or_default();
    if roots.len() > MAX_ROOTS {
        return Err(Fault::invalid("roots", "The certificates have over 1 MiB.").into());
    }
    context
        .workers
        .long(move |_| install(&certificate, roots.as_bytes()))
        .await?;
    connection.reply(&json!({})).await
}

/// An image may lack some of the system's places, or not let them be changed. So only a failure of the two
/// files fails the operation.
fn install(certificate: &Certificate, roots: &[u8]) -> Result<(), Fault> {
    let before = whole::read(CERTIFICATE).ok();
    let mut trusted = None;
    for path in system::BUNDLES {
        let Ok(present) = whole::read(path) else {
            continue;
        };
        let changed = bundle::with(&present, &certificate.pem, before.as_deref());
        if let Some(changed) = &changed {
            let _ = whole::write(path, changed, false, None);
        }
        trusted.get_or_insert(changed.unwrap_or(present));
    }
    system::keep(certificate);
    let _ = system::link(certificate);
    java::install(&java::Wanted {
        certificate: &certificate.der,
        before: before.as_deref().and_then(der_of).as_deref(),
    });
    let trusted = trusted
        .or_else(|| bundle::with(roots, &certificate.pem, None))
        .unwrap_or_else(|| roots.to_vec());
    whole::write(BUNDLE, &trusted, true, None)?;
    // Written last, because it names the earlier certificate as long as any file holds that.
    whole::write(CERTIFICATE, &certificate.pem, true, None)
}
