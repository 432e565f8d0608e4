//! Basic authentication: the value as the password, or inside the client's own user name and password.

use super::field::hidden;
use super::placed::{NO_FIT, Placed};
use super::swap::Swap;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::{AUTHORIZATION, HeaderMap};
use zeroize::Zeroizing;

const SCHEME: &str = "basic ";

pub fn put(fields: &mut HeaderMap, username: Option<&str>, swap: Swap<'_>) -> Placed {
    let mut values = fields.get_all(AUTHORIZATION).iter();
    let pair = match (values.next(), values.next()) {
        (None, _) => pair(username.unwrap_or_default(), swap.value),
        (Some(one), None) => match changed(one.as_bytes(), username, swap) {
            Some(pair) => pair,
            None => return Placed::Kept,
        },
        (Some(_), Some(_)) => return Placed::Kept,
    };
    let mut line = Zeroizing::new(b"Basic ".to_vec());
    line.extend_from_slice(Zeroizing::new(BASE64_STANDARD.encode(&pair)).as_bytes());
    match hidden(&line) {
        Some(value) => {
            fields.insert(AUTHORIZATION, value);
            Placed::Put
        }
        None => Placed::Refused(NO_FIT),
    }
}

/// Encodes user name and value as in a request.
pub fn encode(username: &str, value: &str) -> Zeroizing<Vec<u8>> {
    BASE64_STANDARD
        .encode(pair(username, value))
        .into_bytes()
        .into()
}

/// The value inside base64: the characters that depend on the value alone, for each of the three offsets at
/// which it may begin. The client chooses the text before and after it. Each character has six bits.
pub fn middles(value: &str) -> impl Iterator<Item = Zeroizing<Vec<u8>>> {
    (0..3).map(move |before| {
        let mut bytes = Zeroizing::new(Vec::with_capacity(before + value.len()));
        bytes.resize(before, 0);
        bytes.extend_from_slice(value.as_bytes());
        let encoded = Zeroizing::new(BASE64_STANDARD.encode(&bytes));
        let own = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
        encoded.as_bytes()[own].to_vec().into()
    })
}

fn pair(username: &str, value: &str) -> Zeroizing<Vec<u8>> {
    format!("{username}:{value}").into_bytes().into()
}

/// Returns user name and password with the value; None where the client's hold no placeholder.
fn changed(own: &[u8], username: Option<&str>, swap: Swap<'_>) -> Option<Zeroizing<Vec<u8>>> {
    if swap.is_in(own) {
        return Some(pair(username.unwrap_or_default(), swap.value));
    }
    let (scheme, encoded) = own.split_at_checked(SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) {
        return None;
    }
    let decoded = BASE64_STANDARD.decode(encoded.trim_ascii()).ok()?;
    let with_value = swap.replaced(&decoded)?;
    Some(match username {
        Some(username) => pair(username, swap.value),
        None => with_value,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{PLACEHOLDER, placed, request, secret};
    use super::*;

    const ANY: &str = r#"{"in":"basic","username":null}"#;
    const NAMED: &str = r#"{"in":"basic","username":"bot"}"#;

    fn after(place: &str, own: Option<&str>) -> (Placed, String) {
        let field = own.map(|own| ("authorization", own));
        let mut parts = request("/", field.as_slice());
        let placed = placed(&secret(place, "v:1"), &mut parts);
        let value = parts.headers["authorization"].to_str().unwrap();
        let Some(encoded) = value.strip_prefix("Basic ") else {
            return (placed, value.into());
        };
        (
            placed,
            String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap()).unwrap(),
        )
    }

    fn basic(pair: &str) -> Option<String> {
        Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
    }

    #[test]
    fn the_value_is_the_password() {
        assert_eq!(after(ANY, None), (Placed::Put, ":v:1".into()));
        assert_eq!(after(NAMED, None), (Placed::Put, "bot:v:1".into()));
    }

    #[test]
    fn a_placeholder_inside_becomes_the_value() {
        let as_password = basic(&format!("me:{PLACEHOLDER}"));
        assert_eq!(
            after(ANY, as_password.as_deref()),
            (Placed::Put, "me:v:1".into())
        );
        assert_eq!(
            after(NAMED, as_password.as_deref()),
            (Placed::Put, "bot:v:1".into())
        );
        let as_user = basic(&format!("{PLACEHOLDER}:"));
        assert_eq!(after(ANY, as_user.as_deref()), (Placed::Put, "v:1:".into()));
        assert_eq!(
            after(ANY, Some(&format!("Bearer {PLACEHOLDER}"))),
            (Placed::Put, ":v:1".into())
        );
    }

    #[test]
    fn the_value_in_base64_has_characters_of_its_own_wherever_it_begins() {
        let own: Vec<_> = middles("s3cret-value").collect();
        assert_eq!(own[0].as_slice(), b"czNjcmV0LXZhbHVl");
        assert_eq!(own[1].as_slice(), b"MzY3JldC12YWx1Z");
        assert_eq!(own[2].as_slice(), b"zM2NyZXQtdmFsdW");
    }

    #[test]
    fn the_clients_own_stays() {
        assert_eq!(
            after(ANY, basic("me:own").as_deref()),
            (Placed::Kept, "me:own".into())
        );
        assert_eq!(
            after(NAMED, Some("Bearer own")),
            (Placed::Kept, "Bearer own".into())
        );
        assert_eq!(
            after(NAMED, Some("Basic\t!")),
            (Placed::Kept, "Basic\t!".into())
        );
    }
}
