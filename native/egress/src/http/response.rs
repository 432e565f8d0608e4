//! Responses: the gate finds their end. Only after a complete one does it read the next request, or write an
//! answer of its own. A response that it cannot parse lasts until its connection ends.

use super::body::Framing;
use super::head::Head;

#[derive(Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub framing: Framing,
    /// Bytes of its head.
    pub length: usize,
}

impl Response {
    pub const UNREADABLE: Response = Response {
        status: 0,
        framing: Framing::UntilEnd,
        length: 0,
    };

    /// None while its head is incomplete.
    pub fn read(bytes: &[u8], method: &str) -> Option<Response> {
        match Head::read(bytes) {
            Ok(None) => None,
            Ok(Some(head)) => Some(Response::of(&head, method).unwrap_or(Response::UNREADABLE)),
            Err(_) => Some(Response::UNREADABLE),
        }
    }

    /// Another response to the same request follows.
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }

    fn of(head: &Head, method: &str) -> Option<Response> {
        let (version, rest) = head.start.split_once(' ')?;
        let digits = rest.split(' ').next()?;
        let is_plain = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !version.starts_with("HTTP/1.") || !is_plain {
            return None;
        }
        let status = digits.parse().ok()?;
        let has_none = method == "HEAD" || matches!(status, 100..200 | 204 | 304);
        let framing = match has_none {
            true => Framing::Length(0),
            false => Framing::stated(head).ok()?.unwrap_or(Framing::UntilEnd),
        };
        Some(Response {
            status,
            framing,
            length: head.length,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(text: &str, method: &str) -> Framing {
        Response::read(text.as_bytes(), method).unwrap().framing
    }

    #[test]
    fn a_response_ends_as_it_states() {
        assert_eq!(
            framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "GET"),
            Framing::Length(5)
        );
        assert_eq!(
            framing("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n", "GET"),
            Framing::Chunked
        );
        assert_eq!(framing("HTTP/1.0 200 OK\r\n\r\n", "GET"), Framing::UntilEnd);
        assert_eq!(
            framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD"),
            Framing::Length(0)
        );
        assert_eq!(
            framing(
                "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
                "GET"
            ),
            Framing::Length(0)
        );
        assert!(
            Response::read(b"HTTP/1.1 100 Continue\r\n\r\n", "POST")
                .unwrap()
                .is_interim()
        );
        assert!(
            !Response::read(b"HTTP/1.1 101 Switching\r\n\r\n", "GET")
                .unwrap()
                .is_interim()
        );
        assert_eq!(Response::read(b"HTTP/1.1 200 OK\r\n", "GET"), None);
    }

    #[test]
    fn a_response_that_cannot_be_read_ends_with_its_connection() {
        for text in [
            "hello\r\n\r\n",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 200 OK\nA: b\n\n",
            "\0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ] {
            assert_eq!(
                Response::read(text.as_bytes(), "GET"),
                Some(Response::UNREADABLE),
                "{text:?}"
            );
        }
    }
}
