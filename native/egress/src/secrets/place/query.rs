//! A parameter of the query.

use super::placed::{NO_FIT, Placed};
use super::swap::Swap;
use hyper::Uri;
use zeroize::Zeroizing;

/// Adds the parameter where it is absent; one that holds the placeholder gets the value.
pub fn put(uri: &mut Uri, name: &str, swap: Swap<'_>) -> Placed {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let value = Zeroizing::new(encode(swap.value));
    let mut is_absent = true;
    let mut is_put = false;
    let mut pairs = Zeroizing::new(String::new());
    for (at, pair) in query.split('&').enumerate() {
        let (key, own) = pair.split_once('=').unwrap_or((pair, ""));
        let is_ours = decode(key) == name.as_bytes();
        let has = is_ours && swap.is_in(&decode(own));
        is_absent &= !is_ours;
        is_put |= has;
        pairs.push_str(if at == 0 { "" } else { "&" });
        match has {
            true => pairs.push_str(&format!("{key}={}", &*value)),
            false => pairs.push_str(pair),
        }
    }
    if is_absent {
        let separator = if query.is_empty() { "" } else { "&" };
        pairs.push_str(&format!("{separator}{}={}", encode(name), &*value));
    }
    if !is_absent && !is_put {
        return Placed::Kept;
    }
    let target = Zeroizing::new(format!("{path}?{}", &*pairs));
    match with_target(uri, &target) {
        Some(changed) => {
            *uri = changed;
            Placed::Put
        }
        None => Placed::Refused(NO_FIT),
    }
}

/// The same place with another path and query.
pub fn with_target(uri: &Uri, target: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Escapes all but unreserved characters (RFC 3986).
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into())
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

/// Decodes as servers decode a form: escapes, and a plus for a blank. Invalid escapes stay.
fn decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (escaped, bytes[at]) {
            (Some(byte), _) => decoded.push(byte),
            (None, b'+') => decoded.push(b' '),
            (None, other) => decoded.push(other),
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::super::testing::{PLACEHOLDER, placed, request, secret};
    use super::*;

    const KEY: &str = r#"{"in":"query","name":"key"}"#;

    fn after(uri: &str, value: &str) -> (Placed, String) {
        let mut parts = request(uri, &[]);
        let placed = placed(&secret(KEY, value), &mut parts);
        (placed, parts.uri.to_string())
    }

    #[test]
    fn an_absent_parameter_is_added_with_escapes() {
        assert_eq!(
            after("/a", "v&x=1 #"),
            (Placed::Put, "/a?key=v%26x%3D1%20%23".into())
        );
        assert_eq!(after("/a?", "v"), (Placed::Put, "/a?key=v".into()));
        assert_eq!(
            after("/a?b=1&c", "v"),
            (Placed::Put, "/a?b=1&c&key=v".into())
        );
        assert_eq!(
            after("https://a.example/a?b", "v"),
            (Placed::Put, "https://a.example/a?b&key=v".into())
        );
    }

    #[test]
    fn a_placeholder_in_the_parameter_becomes_the_value() {
        assert_eq!(
            after(&format!("/?a=1&key={PLACEHOLDER}&b=2"), "v v"),
            (Placed::Put, "/?a=1&key=v%20v&b=2".into())
        );
        let escaped = PLACEHOLDER.replace('-', "%2d");
        assert_eq!(
            after(&format!("/?k%65y={escaped}"), "v"),
            (Placed::Put, "/?k%65y=v".into())
        );
    }

    #[test]
    fn another_parameter_and_the_clients_own_value_stay() {
        assert_eq!(after("/?key=own", "v"), (Placed::Kept, "/?key=own".into()));
        assert_eq!(after("/?key=", "v"), (Placed::Kept, "/?key=".into()));
        assert_eq!(
            after(&format!("/?key=own&a={PLACEHOLDER}"), "v"),
            (Placed::Kept, format!("/?key=own&a={PLACEHOLDER}"))
        );
        assert_eq!(
            after(&format!("/{PLACEHOLDER}?Key=1&key=own"), "v").0,
            Placed::Kept
        );
    }
}
