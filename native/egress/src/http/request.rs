//! Requests: the parts by which the gate decides about them and passes them on.

use super::authority::Authority;
use super::body::Framing;
use super::fault::{Fault, forbidden, malformed};
use super::head::{Head, is_token};

#[derive(Debug)]
pub struct Request {
    pub method: String,
    /// Path with its query; `*` of OPTIONS.
    pub path: String,
    pub authority: Option<Authority>,
    pub framing: Framing,
    /// True where it asks for an upgrade to a WebSocket.
    pub is_upgrade: bool,
    /// Bytes of its head.
    pub length: usize,
}

const LONGEST_METHOD: usize = 32;

impl Request {
    /// None while its head is incomplete.
    pub fn read(bytes: &[u8]) -> Result<Option<Request>, Fault> {
        match Head::read(bytes)? {
            Some(head) => Request::of(&head).map(Some),
            None => Ok(None),
        }
    }

    fn of(head: &Head) -> Result<Request, Fault> {
        let (method, target, is_old) = start(&head.start)?;
        if method == "CONNECT" {
            return Err(forbidden("CONNECT is refused"));
        }
        let (stated, path) = target_of(method, target)?;
        let authority = host(head, is_old)?;
        match (&stated, &authority) {
            (Some(stated), Some(host)) if !stated.means_the_same_as(host) => {
                return Err(malformed("a target for another host than Host"));
            }
            (Some(_), None) => return Err(malformed("no Host")),
            _ => {}
        }
        let framing = framing(head, is_old)?;
        Ok(Request {
            is_upgrade: is_upgrade(head, method, framing)?,
            method: method.to_owned(),
            path,
            authority,
            framing,
            length: head.length,
        })
    }
}

/// Method, target, and true for HTTP/1.0.
fn start(line: &str) -> Result<(&str, &str, bool), Fault> {
    let parts: Vec<&str> = line.split(' ').collect();
    let [method, target, version] = parts[..] else {
        return Err(malformed("no request line"));
    };
    let is_old = match version {
        "HTTP/1.1" => false,
        "HTTP/1.0" => true,
        _ => {
            return Err(Fault {
                status: 505,
                why: "a version other than HTTP/1.0 and HTTP/1.1",
            });
        }
    };
    let is_method = (1..=LONGEST_METHOD).contains(&method.len()) && method.bytes().all(is_token);
    let is_target = target
        .bytes()
        .all(|byte| (b'!'..0x7f).contains(&byte) && byte != b'#');
    if !is_method || !is_target {
        return Err(malformed("no request line"));
    }
    Ok((method, target, is_old))
}

/// The authority of an absolute target, and the path.
fn target_of(method: &str, target: &str) -> Result<(Option<Authority>, String), Fault> {
    if target.starts_with('/') || (method == "OPTIONS" && target == "*") {
        return Ok((None, target.to_owned()));
    }
    let wrong = || malformed("a target that is no path and no http URL");
    let scheme = target.get(..7).ok_or_else(wrong)?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return Err(wrong());
    }
    let rest = &target[7..];
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    Ok((
        Some(Authority::parse(authority.as_bytes()).ok_or_else(wrong)?),
        path,
    ))
}

fn host(head: &Head, is_old: bool) -> Result<Option<Authority>, Fault> {
    match head.one("host")? {
        None if is_old => Ok(None),
        None => Err(malformed("no Host")),
        Some(host) => match Authority::parse(host.as_bytes()) {
            Some(authority) => Ok(Some(authority)),
            None => Err(malformed("a wrong Host")),
        },
    }
}

fn framing(head: &Head, is_old: bool) -> Result<Framing, Fault> {
    match Framing::stated(head)? {
        Some(Framing::Chunked) if is_old => Err(malformed("a transfer encoding in HTTP/1.0")),
        stated => Ok(stated.unwrap_or(Framing::Length(0))),
    }
}

/// Other protocols than WebSocket could carry requests that the gate does not check.
fn is_upgrade(head: &Head, method: &str, framing: Framing) -> Result<bool, Fault> {
    let Some(protocol) = head.one("upgrade")? else {
        return Ok(false);
    };
    let is_plain = method == "GET" && framing == Framing::Length(0);
    if !protocol.eq_ignore_ascii_case("websocket") || !is_plain {
        return Err(forbidden("an upgrade to another protocol than WebSocket"));
    }
    Ok(head.lists("connection", "upgrade"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Request>, Fault> {
        Request::read(text.as_bytes())
    }

    fn status(text: &str) -> Option<u16> {
        read(text).err().map(|fault| fault.status)
    }

    #[test]
    fn a_request_names_method_path_and_host() {
        let request = read("GET /a?b HTTP/1.1\r\nHost: API.example.com:8080\r\n\r\nmore")
            .unwrap()
            .unwrap();
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("GET", "/a?b")
        );
        assert_eq!(request.authority.unwrap().name(), Some("api.example.com"));
        assert_eq!(
            (request.framing, request.is_upgrade, request.length),
            (Framing::Length(0), false, 49)
        );
    }

    #[test]
    fn a_head_that_is_cut_anywhere_is_incomplete() {
        let whole = "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\n";
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).unwrap().is_none(), "{length} bytes");
        }
    }

    #[test]
    fn an_absolute_target_names_the_same_host() {
        let path = |text| read(text).unwrap().unwrap().path;
        assert_eq!(
            path("GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n"),
            "/x"
        );
        assert_eq!(
            path("GET HTTP://A.example:80?x HTTP/1.1\r\nHost: a.example\r\n\r\n"),
            "/?x"
        );
        for text in [
            "GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET http://a.example:81/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET http://a.example@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET http://a.example/ HTTP/1.0\r\n\r\n",
            "GET //a.example HTTP/1.1\r\n\r\n",
            "GET a.example HTTP/1.1\r\nHost: a.example\r\n\r\n",
        ] {
            assert_eq!(status(text), Some(400), "{text:?}");
        }
    }

    #[test]
    fn a_host_stands_once() {
        assert!(
            read("GET / HTTP/1.0\r\n\r\n")
                .unwrap()
                .unwrap()
                .authority
                .is_none()
        );
        for fields in [
            "",
            "Host:\r\n",
            "Host: a.example\r\nHost: b.example\r\n",
            "Host: a.example\r\nhost: a.example\r\n",
            "Host: a.example, b.example\r\n",
            "Host: a.example:80:90\r\n",
            "Host: a.example:\r\n",
            "Host : a.example\r\n",
            "Host: a.example\r\n Host: b.example\r\n",
            "Host: u@a.example\r\n",
            "\tHost: a.example\r\n",
            "Host: a.example\nX: b\r\n",
            "Host: a.example\rX: b\r\n",
            "Host: a.example\0\r\n",
            "Ho\u{e9}st: a.example\r\n",
        ] {
            assert_eq!(
                status(&format!("GET / HTTP/1.1\r\n{fields}\r\n")),
                Some(400),
                "{fields:?}"
            );
        }
    }

    #[test]
    fn tunnels_and_other_protocols_are_refused() {
        assert_eq!(
            status("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"),
            Some(403)
        );
        assert_eq!(status("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Some(505));
        assert_eq!(status("GET / HTTP/0.9\r\n\r\n"), Some(505));
        let upgrade = |fields: &str| {
            status(&format!(
                "GET / HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n"
            ))
        };
        assert_eq!(
            upgrade("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"),
            Some(403)
        );
        assert_eq!(
            upgrade("Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n"),
            Some(403)
        );
        assert_eq!(upgrade("Upgrade: websocket\r\nUpgrade: h2c\r\n"), Some(400));
        assert_eq!(
            upgrade("Upgrade: websocket\r\nContent-Length: 5\r\n"),
            Some(403)
        );
        assert_eq!(
            upgrade("Upgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"),
            None
        );
    }

    #[test]
    fn lines_that_can_be_read_in_two_ways_are_malformed() {
        for text in [
            "GET  / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET / HTTP/1.1 \r\nHost: a.example\r\n\r\n",
            "GET / x HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET\t/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET /\u{7f} HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET /#b HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET / HTTP/1.1\nHost: a.example\n\n",
            "GET /\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.example\r\nX\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.example\r\n: b\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.0\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(status(text), Some(400), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = Request::read(&bytes);
            let _ = Request::read(&[b"GET http://".as_slice(), &bytes, b"\r\n\r\n"].concat());
        }
    }
}
