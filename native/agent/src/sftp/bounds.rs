//! The bounds of a connection, which the server also names to its client.

/// Of a packet, either way, without its length.
pub const MAX_PACKET_BYTES: usize = 256 << 10;
/// Of one read or write, with room for the rest of the packet.
pub const MAX_DATA_BYTES: usize = MAX_PACKET_BYTES - 1024;
pub const MAX_HANDLES: usize = 256;
