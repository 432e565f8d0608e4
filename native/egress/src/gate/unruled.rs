//! Connections while the network of a sandbox is open: all pass, and only TLS to a target of a secret is
//! opened. For that, and for the log, the first bytes are examined.

use super::pass::pass;
use super::session::Session;
use super::tls;
use crate::bounds::{FIRST_BYTES, GLANCE, OPEN_NETWORK_TIMEOUT};
use crate::http::Request;
use crate::policy::Kind;
use crate::stream::Half;
use crate::tls::{HANDSHAKE, Unread, read};
use tokio::time::timeout;

type Seen = (Kind, Option<String>);

pub async fn serve(session: &Session<'_>, mut half: Half<'_>) {
    let patience = match session.gate.world.vault(session.live) {
        Some(_) => OPEN_NETWORK_TIMEOUT,
        None => GLANCE,
    };
    let seen = timeout(patience, glance(&mut half)).await.ok().flatten();
    let (kind, name) = seen.unwrap_or_else(|| {
        let address = *session.destination.ip();
        (Kind::Tcp, session.gate.world.name_of(session.live, address))
    });
    let asked = session.asked(kind, name.clone());
    match session.gate.world.admit_open(session.live, asked.clone()) {
        Some(rule) if kind == Kind::Tls => tls::go_on(session, asked, rule, half).await,
        Some(rule) => pass(session, asked, rule, half).await,
        None => session.report_refused(kind, name, "the network is no longer open"),
    }
}

/// Reads until the protocol is clear. None for a protocol other than TLS and HTTP.
async fn glance(half: &mut Half<'_>) -> Option<Seen> {
    loop {
        let room = FIRST_BYTES.saturating_sub(half.bytes.len());
        if room == 0 || half.read(room).await.ok()? == 0 {
            return None;
        }
        if let Some(clear) = recognize(&half.bytes) {
            return clear;
        }
    }
}

/// None while more bytes are needed, Some(None) for another protocol.
fn recognize(bytes: &[u8]) -> Option<Option<Seen>> {
    match bytes[0] {
        HANDSHAKE => match read(bytes) {
            Ok(hello) => Some(Some((Kind::Tls, hello.server_name))),
            Err(Unread::Malformed(_)) => Some(None),
            Err(Unread::Incomplete) => None,
        },
        byte if byte.is_ascii_alphabetic() && may_be_http(bytes) => match Request::read(bytes) {
            Ok(Some(request)) => {
                let name = request.authority.as_ref().and_then(|host| host.name());
                Some(Some((Kind::Http, name.map(str::to_owned))))
            }
            Ok(None) => None,
            Err(_) => Some(None),
        },
        _ => Some(None),
    }
}

/// False when the first line is complete and not that of a request.
fn may_be_http(bytes: &[u8]) -> bool {
    let mut lines = bytes.splitn(2, |&byte| byte == b'\n');
    let first = lines.next().unwrap_or_default();
    lines.next().is_none() || first.windows(6).any(|words| words == b" HTTP/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_is_recognized_by_its_whole_head() {
        assert_eq!(recognize(b"GET / HT"), None);
        let head = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
        assert_eq!(
            recognize(head),
            Some(Some((Kind::Http, Some("a.example".into()))))
        );
    }

    #[test]
    fn others_are_neither() {
        assert_eq!(recognize(b"SSH-2.0-OpenSSH\r\n"), Some(None));
        assert_eq!(recognize(&[0, 1]), Some(None));
        assert_eq!(recognize(&[HANDSHAKE, 9, 9, 9, 9]), Some(None));
    }
}
