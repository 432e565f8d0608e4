//! Places of a request that carry a secret. A place gets the value where it is empty or holds the
//! placeholder. Other content that the client put there stays.

mod aws;
mod basic;
mod body_hash;
mod field;
mod placed;
mod query;
mod swap;
#[cfg(test)]
mod testing;

pub use body_hash::{BodyHash, body_hash};
pub use placed::Placed;
pub use swap::Swap;

use aws::Keys;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use serde::Deserialize;
use zeroize::Zeroizing;

/// A place in the service's form (`SecretPlace` of src/model/secrets/use.ts).
#[derive(Deserialize)]
#[serde(tag = "in", rename_all = "lowercase", deny_unknown_fields)]
pub enum PlaceText {
    Header { name: String, format: String },
    Query { name: String },
    Basic { username: Option<String> },
    Aws,
}

pub enum Place {
    /// Texts before and after the value.
    Header {
        name: HeaderName,
        before: String,
        after: String,
    },
    Query {
        name: String,
    },
    Basic {
        username: Option<String>,
    },
    Aws(Keys),
}

const VALUE: &str = "{secret}";

impl Place {
    pub fn compile(text: PlaceText, value: &str) -> Result<Place, &'static str> {
        let is_printable = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        match text {
            PlaceText::Header { name, format } => {
                let (before, after) = format
                    .split_once(VALUE)
                    .ok_or("its format has no {secret}")?;
                let name: HeaderName = name.parse().map_err(|_| "not the name of a header")?;
                if after.contains(VALUE) || HeaderValue::from_str(&format).is_err() {
                    return Err("not the format of a header");
                }
                if !is_printable || is_of_connection(&name) {
                    return Err("it does not fit into this header");
                }
                Ok(Place::Header {
                    name,
                    before: before.into(),
                    after: after.into(),
                })
            }
            PlaceText::Query { name } if name.is_empty() => Err("its parameter has no name"),
            PlaceText::Query { name } => Ok(Place::Query { name }),
            PlaceText::Basic { username } => {
                match username.as_ref().is_some_and(|name| name.contains(':')) {
                    true => Err("a user name cannot have a colon"),
                    false => Ok(Place::Basic { username }),
                }
            }
            PlaceText::Aws => Keys::parse(value).map(Place::Aws),
        }
    }

    /// Returns the value in each form in which a request may carry it, whatever the client puts beside it.
    /// All of them are masked in answers.
    pub fn forms(&self, value: &str) -> Vec<Zeroizing<Vec<u8>>> {
        let plain = || value.as_bytes().to_vec().into();
        match self {
            Place::Header { .. } => vec![plain()],
            Place::Query { .. } => vec![plain(), query::encode(value).into_bytes().into()],
            Place::Basic { username } => {
                let whole = basic::encode(username.as_deref().unwrap_or_default(), value);
                let middles = basic::middles(value);
                [plain(), whole].into_iter().chain(middles).collect()
            }
            Place::Aws(keys) => keys.hidden(),
        }
    }

    /// Puts the value into the request. `body` is the hash of the body, for signatures.
    pub fn put(&self, request: &mut Parts, swap: Swap<'_>, body: &BodyHash) -> Placed {
        match self {
            Place::Header {
                name,
                before,
                after,
            } => {
                let whole = Zeroizing::new(format!("{before}{}{after}", swap.value));
                field::put(&mut request.headers, name, &whole, swap)
            }
            Place::Query { name } => query::put(&mut request.uri, name, swap),
            Place::Basic { username } => {
                basic::put(&mut request.headers, username.as_deref(), swap)
            }
            Place::Aws(keys) => aws::put(request, keys, swap, body),
        }
    }

    /// True where a signature needs the body, because the request does not state its hash.
    pub fn needs_body(&self, request: &Parts, swap: Swap<'_>) -> bool {
        matches!(self, Place::Aws(_)) && aws::needs_body(request, swap)
    }
}

/// Fields that frame or route the message, which a value must never change.
fn is_of_connection(name: &HeaderName) -> bool {
    let names = [
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "keep-alive",
        "http2-settings",
    ];
    names.contains(&name.as_str()) || name.as_str().starts_with("proxy-")
}

#[cfg(test)]
mod tests {
    use super::testing::{placed, request, secret};
    use super::*;
    use proptest::prelude::*;

    fn is_refused(place: &str, value: &str) -> bool {
        let place: PlaceText = serde_json::from_str(place).unwrap();
        Place::compile(place, value).is_err()
    }

    #[test]
    fn a_value_that_would_break_out_of_its_place_is_refused() {
        let header = r#"{"in":"header","name":"authorization","format":"Bearer {secret}"}"#;
        assert!(is_refused(header, "a\r\nHost: evil.example"));
        assert!(is_refused(header, "a\0b"));
        assert!(!is_refused(header, "a b"));
        for name in [
            "host",
            "content-length",
            "transfer-encoding",
            "connection",
            "a b",
            "",
        ] {
            let place = format!(r#"{{"in":"header","name":"{name}","format":"{{secret}}"}}"#);
            assert!(is_refused(&place, "value"), "{name}");
        }
        for format in ["", "none", "{secret} {secret}", "a\\r\\nb {secret}"] {
            let place = format!(r#"{{"in":"header","name":"x-key","format":"{format}"}}"#);
            assert!(is_refused(&place, "value"), "{format}");
        }
        assert!(is_refused(r#"{"in":"query","name":""}"#, "value"));
        assert!(is_refused(r#"{"in":"basic","username":"a:b"}"#, "value"));
        assert!(is_refused(r#"{"in":"aws"}"#, "no colon"));
    }

    proptest! {
        /// However the client fills places, only the place changes, and no line or parameter is added.
        #[test]
        fn a_request_changes_in_the_place_alone(
            value in "[ -~]{1,60}",
            query in "([a-z]{1,3}=[a-z0-9%+]{0,9}){0,1}(&[a-z]{1,3}=[a-z0-9]{0,9}){0,4}",
            own in "[!-~]{0,40}",
        ) {
            let uri = format!("/v1/a?{query}");
            let fields = [("x-own", own.as_str()), ("accept", "*/*")];
            let header = secret(r#"{"in":"header","name":"x-key","format":"k {secret}"}"#, &value);
            let mut parts = request(&uri, &fields);
            prop_assert_eq!(placed(&header, &mut parts), Placed::Put);
            prop_assert_eq!(parts.headers.len(), 3);
            let expected = format!("k {value}");
            prop_assert_eq!(parts.headers["x-key"].as_bytes(), expected.as_bytes());
            prop_assert_eq!(parts.headers["x-own"].as_bytes(), own.as_bytes());
            prop_assert_eq!(parts.uri.to_string(), uri.clone());
            let query_secret = secret(r#"{"in":"query","name":"api_key"}"#, &value);
            let mut parts = request(&uri, &fields);
            prop_assert_eq!(placed(&query_secret, &mut parts), Placed::Put);
            let after = parts.uri.to_string();
            prop_assert!(after.starts_with(&uri), "{}", after);
            prop_assert_eq!(after.matches('&').count(), uri.matches('&').count() + usize::from(!query.is_empty()));
            prop_assert_eq!(after.matches('#').count(), 0);
            prop_assert_eq!(parts.headers.len(), 2);
        }
    }
}
