//! One secret of a sandbox: its value, the requests that carry it, and where. Nothing here can be printed.

use super::hidden::Hidden;
use super::mask::Mask;
use super::place::{BodyHash, Place, PlaceText, Placed, Swap};
use super::spelling::spellings;
use super::target::{Target, TargetText};
use crate::bounds::{SECRET_TARGETS, SECRET_VALUE};
use hyper::http::request::Parts;
use serde::Deserialize;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A secret in the service's form (`SecretUse` of src/model/secrets/use.ts).
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SecretText {
    secret: String,
    name: String,
    placeholder: String,
    value: Hidden,
    targets: Vec<TargetText>,
    place: PlaceText,
    expires_at: Option<u64>,
}

pub struct Secret {
    pub id: Arc<str>,
    pub name: String,
    pub targets: Vec<Target>,
    /// The value in each form in which an answer may hold it.
    pub masks: Vec<Arc<Mask>>,
    placeholder: String,
    value: Hidden,
    place: Place,
    expires_at: Option<u64>,
}

/// A placeholder is searched for in texts, so it must not occur in ordinary ones.
const SHORTEST_PLACEHOLDER: usize = 16;

impl Secret {
    pub fn compile(text: SecretText) -> Result<Secret, String> {
        let wrong = |what: &str| Err(format!("secret {}: {what}", text.secret));
        if text.value.is_empty() || text.value.len() > SECRET_VALUE {
            return wrong("its value is empty or too long");
        }
        let is_plain = text
            .placeholder
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_plain || text.placeholder.len() < SHORTEST_PLACEHOLDER {
            return wrong("no placeholder");
        }
        if text.targets.len() > SECRET_TARGETS {
            return wrong("too many targets");
        }
        let targets = text.targets.into_iter().map(Target::compile);
        let targets = targets.collect::<Result<Vec<_>, String>>()?;
        let place = Place::compile(text.place, &text.value)
            .map_err(|what| format!("secret {}: {what}", text.secret))?;
        let masks = spellings(place.forms(&text.value))
            .iter()
            .filter_map(|spelling| Mask::new(spelling))
            .map(Arc::new)
            .collect();
        Ok(Secret {
            id: text.secret.into(),
            name: text.name,
            placeholder: text.placeholder,
            value: text.value,
            targets,
            place,
            masks,
            expires_at: text.expires_at,
        })
    }

    /// Puts the value into a request of a target. `body` is the hash of the body, for signatures.
    pub fn put(&self, request: &mut Parts, body: &BodyHash) -> Placed {
        self.place.put(request, self.swap(), body)
    }

    /// True where `put` needs the hash of the body.
    pub fn needs_body(&self, request: &Parts) -> bool {
        self.place.needs_body(request, self.swap())
    }

    fn swap(&self) -> Swap<'_> {
        Swap {
            placeholder: &self.placeholder,
            value: &self.value,
        }
    }

    pub fn has_expired(&self) -> bool {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        self.expires_at
            .is_some_and(|at| since.as_millis() >= u128::from(at))
    }
}
