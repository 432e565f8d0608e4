//! A field of the head.

use super::placed::{NO_FIT, Placed};
use super::swap::Swap;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

/// Sets the field where it is absent; in its values, the placeholder becomes the value.
pub fn put(fields: &mut HeaderMap, name: &HeaderName, whole: &str, swap: Swap<'_>) -> Placed {
    if !fields.contains_key(name) {
        let Some(value) = hidden(whole.as_bytes()) else {
            return Placed::Refused(NO_FIT);
        };
        fields.insert(name.clone(), value);
        return Placed::Put;
    }
    let mut placed = Placed::Kept;
    for value in fields.get_all(name).iter().cloned().collect::<Vec<_>>() {
        let Some(replaced) = swap.replaced(value.as_bytes()) else {
            continue;
        };
        let Some(new) = hidden(&replaced) else {
            return Placed::Refused(NO_FIT);
        };
        let same = |one: &&mut HeaderValue| **one == value;
        if let hyper::header::Entry::Occupied(mut entry) = fields.entry(name)
            && let Some(old) = entry.iter_mut().find(same)
        {
            *old = new;
            placed = Placed::Put;
        }
    }
    placed
}

/// A value that no index of HTTP/2 keeps, and no debug output shows.
pub fn hidden(bytes: &[u8]) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_bytes(bytes).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::super::Placed;
    use super::super::testing::{PLACEHOLDER, placed, request, secret};

    const BEARER: &str = r#"{"in":"header","name":"authorization","format":"Bearer {secret}"}"#;

    #[test]
    fn an_absent_field_gets_the_format() {
        let mut parts = request("/", &[]);
        assert_eq!(
            placed(&secret(BEARER, "the-value"), &mut parts),
            Placed::Put
        );
        assert_eq!(parts.headers["authorization"], "Bearer the-value");
        assert!(parts.headers["authorization"].is_sensitive());
    }

    #[test]
    fn a_placeholder_becomes_the_value_in_what_the_client_wrote() {
        let mut parts = request("/", &[("authorization", &format!("token {PLACEHOLDER}"))]);
        assert_eq!(
            placed(&secret(BEARER, "the-value"), &mut parts),
            Placed::Put
        );
        assert_eq!(parts.headers["authorization"], "token the-value");
        let cookie = r#"{"in":"header","name":"cookie","format":"s={secret}"}"#;
        let mut parts = request(
            "/",
            &[
                ("cookie", "a=1"),
                ("cookie", &format!("s={PLACEHOLDER}; t={PLACEHOLDER}")),
            ],
        );
        assert_eq!(placed(&secret(cookie, "v"), &mut parts), Placed::Put);
        let values: Vec<_> = parts.headers.get_all("cookie").iter().collect();
        assert_eq!(values, ["a=1", "s=v; t=v"]);
    }

    #[test]
    fn the_clients_own_value_stays_and_so_does_a_placeholder_elsewhere() {
        let other = PLACEHOLDER.replace('f', "e");
        for own in ["Bearer own", "", &other] {
            let mut parts = request("/", &[("authorization", own)]);
            assert_eq!(
                placed(&secret(BEARER, "the-value"), &mut parts),
                Placed::Kept
            );
            assert_eq!(parts.headers["authorization"], own);
        }
        let mut parts = request(
            &format!("/{PLACEHOLDER}?a={PLACEHOLDER}"),
            &[("x-other", PLACEHOLDER), ("authorization", "own")],
        );
        assert_eq!(
            placed(&secret(BEARER, "the-value"), &mut parts),
            Placed::Kept
        );
        assert_eq!(parts.headers["x-other"], PLACEHOLDER);
        assert_eq!(
            parts.uri.to_string(),
            format!("/{PLACEHOLDER}?a={PLACEHOLDER}")
        );
    }
}
