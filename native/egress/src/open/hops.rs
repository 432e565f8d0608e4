//! Fields that belong to one connection. Each side frames its messages anew, so these fields are not passed on.

use hyper::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::{Method, Version};

const WEBSOCKET: &str = "websocket";
/// In addition to those that the field Connection names.
const ALWAYS: [HeaderName; 9] = [
    CONNECTION,
    TRANSFER_ENCODING,
    UPGRADE,
    TE,
    // The gate has answered this one itself, and takes the body at once.
    EXPECT,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("http2-settings"),
    // This one would lead the client past the gate, by QUIC.
    HeaderName::from_static("alt-svc"),
];

/// True for a request that asks for a WebSocket, the only switch of protocols that is passed on.
pub fn is_websocket(request: &Parts) -> bool {
    let is_asked = request
        .headers
        .get_all(UPGRADE)
        .iter()
        .all(|value| value.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes()));
    let is_http_1 = request.version == Version::HTTP_11 && request.method == Method::GET;
    is_http_1
        && request.headers.contains_key(UPGRADE)
        && is_asked
        && listed(&request.headers).any(|name| name == "upgrade")
}

/// Removes these fields from a message that is passed on over HTTP/2 or HTTP/1.1.
pub fn remove_hops(fields: &mut HeaderMap, is_websocket: bool) {
    // In a message with both fields the length is not that of the body.
    if fields.contains_key(TRANSFER_ENCODING) {
        fields.remove(CONTENT_LENGTH);
    }
    let has_trailers = fields
        .get_all(TE)
        .iter()
        .any(|value| value.as_bytes().eq_ignore_ascii_case(b"trailers"));
    let named: Vec<String> = listed(fields).collect();
    for name in named.iter().filter(|name| *name != HOST.as_str()) {
        fields.remove(name.as_str());
    }
    for name in ALWAYS {
        fields.remove(name);
    }
    if has_trailers {
        fields.insert(TE, HeaderValue::from_static("trailers"));
    }
    if is_websocket {
        fields.insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
        fields.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    }
}

/// Names in the field Connection, in lower case.
fn listed(fields: &HeaderMap) -> impl Iterator<Item = String> {
    let values = fields
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let names = values
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn parts(fields: &[(&str, &str)]) -> Parts {
        let request = fields
            .iter()
            .fold(Request::builder(), |request, (name, value)| {
                request.header(*name, *value)
            });
        request.body(()).unwrap().into_parts().0
    }

    fn after(fields: &[(&str, &str)]) -> Vec<String> {
        let mut headers = parts(fields).headers;
        remove_hops(&mut headers, false);
        headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect()
    }

    #[test]
    fn fields_of_a_connection_are_removed() {
        assert_eq!(
            after(&[
                ("connection", "Keep-Alive, X-Own"),
                ("keep-alive", "1"),
                ("x-own", "1"),
                ("upgrade", "h2c"),
                ("http2-settings", "x"),
                ("expect", "100-continue"),
                ("alt-svc", "h3"),
                ("x-other", "2")
            ]),
            ["x-other: 2"]
        );
        assert_eq!(
            after(&[("te", "trailers"), ("accept", "*/*")]),
            ["accept: */*", "te: trailers"]
        );
        assert_eq!(
            after(&[("transfer-encoding", "chunked"), ("content-length", "5")]),
            [""; 0]
        );
    }

    #[test]
    fn the_host_stays_whatever_connection_names() {
        assert_eq!(
            after(&[("connection", "host"), ("host", "a.example")]),
            ["host: a.example"]
        );
    }

    #[test]
    fn a_websocket_is_the_only_switch_of_protocols() {
        assert!(is_websocket(&parts(&[
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket")
        ])));
        assert!(!is_websocket(&parts(&[
            ("connection", "upgrade"),
            ("upgrade", "h2c")
        ])));
        assert!(!is_websocket(&parts(&[
            ("connection", "upgrade"),
            ("upgrade", "websocket, h2c")
        ])));
        assert!(!is_websocket(&parts(&[("upgrade", "websocket")])));
    }
}
