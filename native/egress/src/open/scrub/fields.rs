//! Fields of an answer: finds bodies that are text, and masks values in the fields.

use crate::secrets::{Mask, Masker};
use hyper::body::Bytes;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use std::sync::Arc;

/// True for a body that may hold a value in plain form: text of any type, or of no stated type, and not compressed.
pub fn is_text(fields: &HeaderMap) -> bool {
    let encodings = fields.get_all(CONTENT_ENCODING);
    let is_plain = encodings
        .iter()
        .all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"));
    let Some(kind) = fields.get(CONTENT_TYPE) else {
        return is_plain;
    };
    let kind = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let words = ["json", "xml", "javascript", "form", "yaml", "graphql"];
    is_plain && (kind.starts_with("text/") || words.iter().any(|word| kind.contains(word)))
}

/// Masks the values of fields, those of trailers too.
pub fn scrub_fields(fields: &mut HeaderMap, masks: &[Arc<Mask>]) {
    for value in fields.values_mut() {
        let mut masker = Masker::new(masks.to_vec());
        let mut masked = masker
            .push(Bytes::copy_from_slice(value.as_bytes()))
            .to_vec();
        masked.extend_from_slice(&masker.finish());
        if masked != value.as_bytes() {
            *value = HeaderValue::from_bytes(&masked).unwrap_or(HeaderValue::from_static("*"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::LOCATION;

    fn fields(kind: Option<&'static str>, encoding: Option<&'static str>) -> HeaderMap {
        let mut fields = HeaderMap::new();
        let given = [(CONTENT_TYPE, kind), (CONTENT_ENCODING, encoding)];
        for (name, value) in given {
            if let Some(value) = value {
                fields.insert(name, HeaderValue::from_static(value));
            }
        }
        fields
    }

    #[test]
    fn text_is_told_by_its_type() {
        for kind in [
            "text/html; charset=utf-8",
            "text/event-stream",
            "application/json",
            "Application/Problem+JSON",
            "application/xml",
            "image/svg+xml",
            "application/javascript",
            "application/x-www-form-urlencoded",
        ] {
            assert!(is_text(&fields(Some(kind), None)), "{kind}");
            assert!(!is_text(&fields(Some(kind), Some("gzip"))), "{kind}");
            assert!(is_text(&fields(Some(kind), Some("identity"))), "{kind}");
        }
        assert!(is_text(&fields(None, None)));
        for kind in [
            "application/octet-stream",
            "application/grpc",
            "image/png",
            "application/pdf",
        ] {
            assert!(!is_text(&fields(Some(kind), None)), "{kind}");
        }
    }

    #[test]
    fn values_in_fields_are_masked() {
        let mut fields = HeaderMap::new();
        fields.insert(LOCATION, HeaderValue::from_static("/next?key=secret-1&x=1"));
        fields.append("x-a", HeaderValue::from_static("secret-"));
        scrub_fields(&mut fields, &[Arc::new(Mask::new(b"secret-1").unwrap())]);
        assert_eq!(fields[LOCATION], "/next?key=********&x=1");
        assert_eq!(fields["x-a"], "secret-");
    }
}
