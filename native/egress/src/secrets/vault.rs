//! Secrets of one sandbox, with the authority that it trusts. A rotation makes a new vault, which the next
//! request finds.

use super::authority::Authority;
use super::hidden::Hidden;
use super::mask::Mask;
use super::secret::{Secret, SecretText};
use crate::bounds::SECRETS;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthorityText {
    /// Base64 of PKCS #8.
    key: Hidden,
    /// Common name.
    subject: String,
}

pub struct Vault {
    pub authority: Authority,
    secrets: Vec<Secret>,
}

impl Vault {
    /// None without secrets.
    pub fn compile(
        secrets: Vec<SecretText>,
        authority: Option<AuthorityText>,
    ) -> Result<Option<Arc<Vault>>, String> {
        if secrets.is_empty() {
            return Ok(None);
        }
        if secrets.len() > SECRETS {
            return Err(format!("more than {SECRETS} secrets"));
        }
        let Some(AuthorityText { key, subject }) = authority else {
            return Err("secrets need an authority".into());
        };
        let authority = Authority::new(&key, &subject)?;
        let secrets = secrets.into_iter().map(Secret::compile);
        let secrets = secrets.collect::<Result<_, _>>()?;
        Ok(Some(Arc::new(Vault { authority, secrets })))
    }

    /// True where connections to this server are opened.
    pub fn is_for(&self, name: &str, port: u16) -> bool {
        self.at(name, port).next().is_some()
    }

    /// Secrets that a request to this server carries.
    pub fn of<'a>(
        &'a self,
        name: &'a str,
        port: u16,
        method: &'a str,
        path: &'a str,
    ) -> impl Iterator<Item = &'a Secret> {
        self.secrets.iter().filter(move |secret| {
            let mut targets = secret.targets.iter();
            targets.any(|target| target.is_at(name, port) && target.takes(method, path))
        })
    }

    /// Values that an answer of this server must not show, whichever request carried them.
    pub fn masks(&self, name: &str, port: u16) -> Vec<Arc<Mask>> {
        self.at(name, port)
            .flat_map(|secret| secret.masks.iter().cloned())
            .collect()
    }

    fn at<'a>(&'a self, name: &'a str, port: u16) -> impl Iterator<Item = &'a Secret> {
        let has =
            move |secret: &&Secret| secret.targets.iter().any(|target| target.is_at(name, port));
        self.secrets.iter().filter(has)
    }
}
