//! The canonical form of a request, from which the signature is made.

use super::super::query::encode;
use super::credential::Credential;
use hyper::header::HOST;
use hyper::http::request::Parts;
use std::borrow::Cow;

/// Returns the form, and the list of its fields.
pub fn canonical_request(request: &Parts, credential: &Credential, hash: &str) -> (String, String) {
    let mut fields = String::new();
    let mut names = Vec::new();
    for name in &credential.signed {
        // A field that belongs to one connection is not passed on, so the server would not find it.
        if let Some(value) = value_of(request, name).filter(|_| !names.contains(&name.as_str())) {
            fields.push_str(&format!("{name}:{value}\n"));
            names.push(name);
        }
    }
    let names = names.join(";");
    let path = path(request.uri.path(), &credential.service);
    let query = query(request.uri.query().unwrap_or_default());
    let method = &request.method;
    (
        format!("{method}\n{path}\n{query}\n{fields}\n{names}\n{hash}"),
        names,
    )
}

/// All values of a field, without extra blanks.
fn value_of(request: &Parts, name: &str) -> Option<String> {
    let values = request.headers.get_all(name).iter();
    let words = |value: &str| value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let values: Vec<_> = values
        .map(|value| words(&String::from_utf8_lossy(value.as_bytes())))
        .collect();
    if values.is_empty() && *name == HOST {
        return request
            .uri
            .authority()
            .map(|authority| authority.as_str().to_owned());
    }
    (!values.is_empty()).then(|| values.join(","))
}

/// S3 takes the path unchanged; all other services normalize it, and escape it once more.
fn path<'a>(path: &'a str, service: &str) -> Cow<'a, str> {
    if service.starts_with("s3") {
        return path.into();
    }
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            other => kept.push(other),
        }
    }
    let is_folder = path.ends_with('/') && !kept.is_empty();
    let escaped: Vec<String> = kept.into_iter().map(encode).collect();
    format!("/{}{}", escaped.join("/"), if is_folder { "/" } else { "" }).into()
}

/// Sorted by names and values, with uniform escapes.
fn query(query: &str) -> String {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<(String, String)> = pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (same(name), same(value))
        })
        .collect();
    pairs.sort();
    let pairs: Vec<String> = pairs
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// Escapes all characters that need it, and none twice.
fn same(text: &str) -> String {
    let is_escape = |at: usize| {
        text.get(at + 1..at + 3)
            .is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    let mut out = String::new();
    for (at, character) in text.char_indices() {
        match character {
            '%' if is_escape(at) => out.push('%'),
            other => out.push_str(&encode(other.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_twice_but_for_s3() {
        assert_eq!(path("/a%20b/c", "s3"), "/a%20b/c");
        assert_eq!(path("/a//../b", "s3"), "/a//../b");
        assert_eq!(path("/a%20b/c", "dynamodb"), "/a%2520b/c");
        assert_eq!(path("/a/./b/../c//d/", "dynamodb"), "/a/c/d/");
        assert_eq!(path("/", "dynamodb"), "/");
    }

    #[test]
    fn a_query_is_sorted() {
        assert_eq!(query("b=2&a=%2F&a=1&c"), "a=%2F&a=1&b=2&c=");
        assert_eq!(query("x=a b+c"), "x=a%20b%2Bc");
        assert_eq!(query(""), "");
    }
}
