//! The bounds of a connection, which the server also sends to its client.

/// Bytes of a packet in either direction, without its length field.
pub const MAX_PACKET_BYTES: usize = 256 << 10;
/// Bytes of one read or write, which leave room for the rest of the packet.
pub const MAX_DATA_BYTES: usize = MAX_PACKET_BYTES - 1024;
pub const MAX_HANDLES: usize = 256;
