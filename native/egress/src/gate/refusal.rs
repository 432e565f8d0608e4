//! Answers of the gate itself to HTTP requests.

use std::net::SocketAddrV4;

const DEFAULT_PORT: u16 = 80;

/// 403, with the rule that would allow the request.
pub fn forbidden(
    sandbox: &str,
    name: Option<&str>,
    destination: SocketAddrV4,
    why: &str,
) -> Vec<u8> {
    let target = name.map_or_else(|| destination.ip().to_string(), str::to_owned);
    let port = match destination.port() {
        DEFAULT_PORT => String::new(),
        port => format!(":{port}"),
    };
    let rule = format!("http://{target}{port}");
    let text = format!(
        "The network policy of this sandbox refuses {rule}: {why}.\nTo allow it: sandhaven network allow {sandbox} {rule}\n"
    );
    answer(403, &text)
}

/// Answers a request that no rule could allow, or that reached no server.
pub fn answer(status: u16, text: &str) -> Vec<u8> {
    let reason = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        431 => "Request Header Fields Too Large",
        502 => "Bad Gateway",
        505 => "HTTP Version Not Supported",
        _ => "Refused",
    };
    let length = text.len();
    format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_rule_that_would_allow_the_request() {
        let destination = |port| SocketAddrV4::new("203.0.113.7".parse().unwrap(), port);
        let text = |name, port| {
            String::from_utf8(forbidden(
                "sb_1",
                name,
                destination(port),
                "no rule allows it",
            ))
            .unwrap()
        };
        assert_eq!(
            text(Some("a.example"), 80),
            "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 139\r\nconnection: close\r\n\r\n\
             The network policy of this sandbox refuses http://a.example: no rule allows it.\n\
             To allow it: sandhaven network allow sb_1 http://a.example\n"
        );
        assert!(
            text(None, 8080).ends_with("sandhaven network allow sb_1 http://203.0.113.7:8080\n")
        );
    }
}
