//! A connection, or a request on one: the parts that rules compare.

use std::net::SocketAddrV4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tls,
    Http,
    Tcp,
}

/// Kept with an open connection, so that a new policy can be applied to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub kind: Kind,
    /// Server name or host, lower case. None where the client names none, or an address.
    pub name: Option<String>,
    /// Destination address and port of the client's packets.
    pub destination: SocketAddrV4,
    /// Method and path with its query of an HTTP request; empty for others.
    pub method: String,
    pub path: String,
}
