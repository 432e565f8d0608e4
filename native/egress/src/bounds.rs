//! Every bound of this program. A sandbox is hostile, and all of them share it.

use std::time::Duration;

/// Connections of all sandboxes, decided or not. When all are taken, the owner with the most loses one.
pub const CONNECTIONS: usize = 16_384;
pub const CONNECTIONS_PER_SANDBOX: usize = 1_024;

/// Connections that wait for the gate to take them.
pub const ARRIVALS: i32 = 4_096;

/// Bytes of a client by which the gate decides, and the time for all of them.
pub const FIRST_BYTES: usize = 16 * 1024;
pub const FIRST_BYTES_TIMEOUT: Duration = Duration::from_secs(10);
/// An idle HTTP connection may wait this long for its next request.
pub const NEXT_REQUEST_TIMEOUT: Duration = Duration::from_secs(300);
/// Time for the first bytes of a client in an open network. Afterwards the connection passes, since the
/// client may be waiting for its server.
pub const GLANCE: Duration = Duration::from_millis(300);
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Head of a response, all of which the client gets anyway.
pub const RESPONSE_HEAD: usize = 64 * 1024;

/// Resolved names and addresses that are remembered for a sandbox.
pub const NAMES: usize = 512;
pub const ADDRESSES_PER_NAME: usize = 32;
pub const TTL_FLOOR: Duration = Duration::from_secs(60);
pub const TTL_CEILING: Duration = Duration::from_secs(3600);
/// A client may take a moment between an answer and its connection.
pub const TTL_GRACE: Duration = Duration::from_secs(60);

/// Questions that a sandbox may ask, over UDP and TCP together.
pub const QUESTIONS_PER_SECOND: f64 = 200.0;
pub const QUESTIONS_AT_ONCE: f64 = 400.0;
/// Questions that wait for an upstream resolver, each with a socket.
pub const WAITING: Share = Share {
    total: 2_048,
    per_owner: 512,
    per_sandbox: 64,
};
/// Connections of the resolver.
pub const RESOLVER_CONNECTIONS: Share = Share {
    total: 1_024,
    per_owner: 256,
    per_sandbox: 8,
};
pub const RESOLVER_IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// One try of one upstream resolver.
pub const UPSTREAM_TIMEOUT: Duration = Duration::from_secs(2);
pub const UPSTREAM_ROUNDS: usize = 2;

pub const EVENTS_PER_BATCH: usize = 1_000;
/// The bound for one sandbox, so that it does not displace the events of others.
pub const EVENTS_PER_SANDBOX: usize = 100;
pub const EVENTS_PAUSE: Duration = Duration::from_millis(100);

/// Pipes that hold bytes of splice. The kernel gives a user 16,384 pages of full pipes, 16 to each.
pub const PIPES: usize = 960;
pub const IDLE_PIPES: usize = 64;

pub const COMMAND_LINE: usize = 1024 * 1024;
pub const RULES: usize = 1_000;

/// Secrets of a sandbox, servers that get one, and bytes of a value.
pub const SECRETS: usize = 100;
pub const SECRET_TARGETS: usize = 100;
pub const SECRET_VALUE: usize = 8 * 1024;
/// Bytes of a value that is searched for in all the ways in which servers write it.
pub const SECRET_SPELLED: usize = 1024;
/// Certificates of a sandbox's authority that are kept; the least recently used one is dropped.
pub const LEAFS: usize = 64;
/// Connections whose TLS is opened: each has the buffers below on two sides.
pub const OPENED: Share = Share {
    total: 1_024,
    per_owner: 256,
    per_sandbox: 64,
};
/// One step of the handshakes of an opened connection.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for the first bytes of a client in an open network, where its TLS may have to be opened.
pub const OPEN_NETWORK_TIMEOUT: Duration = Duration::from_secs(3);
/// Head of a request or a response inside opened TLS, and bytes of HTTP/1.1 that wait.
pub const HTTP_BUFFER: usize = 64 * 1024;
/// Bytes that are read before TLS asks for them, and that satisfy one read by HTTP: a large record.
pub const READ_AHEAD: usize = 16 * 1024;
/// Bytes that HTTP/2 writes in one turn, on either side.
pub const GATHERED: usize = 64 * 1024;
/// HTTP/2: concurrent requests of a connection, and bytes of a connection and of a stream that may wait for a
/// slow reader.
pub const STREAMS: u32 = 100;
pub const WINDOW: u32 = 256 * 1024;
pub const STREAM_BUFFER: usize = 64 * 1024;
/// Bodies that are read whole before they are sent, because a signature needs their hash.
pub const SIGNED_BODY: usize = 8 * 1024 * 1024;
pub const BODIES: Share = Share {
    total: 16,
    per_owner: 8,
    per_sandbox: 4,
};

/// Descriptors: two a connection, two a pipe, and those of the resolver.
pub const OPEN_FILES: u64 = 65_536;
/// Descriptors for everything but connections.
pub const OTHER_FILES: u64 = 8_192;

/// A bound that owners and their sandboxes divide.
pub struct Share {
    pub total: usize,
    pub per_owner: usize,
    pub per_sandbox: usize,
}
