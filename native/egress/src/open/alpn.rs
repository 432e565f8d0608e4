//! Protocols inside TLS that both sides may speak: HTTP/2 and HTTP/1.1.

use rustls::server::ClientHello;

pub const HTTP_2: &[u8] = b"h2";
pub const HTTP_1: &[u8] = b"http/1.1";

/// The client's protocols, the better one first. A client that names none speaks HTTP/1.1; one that names
/// others alone is refused in its handshake.
pub fn offered(hello: &ClientHello<'_>) -> Vec<Vec<u8>> {
    let Some(offers) = hello.alpn() else {
        return Vec::new();
    };
    let offers: Vec<_> = offers.collect();
    let known = [HTTP_2, HTTP_1].into_iter();
    let both: Vec<_> = known
        .filter(|one| offers.contains(one))
        .map(<[u8]>::to_vec)
        .collect();
    match both.is_empty() {
        true => vec![HTTP_1.to_vec()],
        false => both,
    }
}
