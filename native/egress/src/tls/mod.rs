//! The client's first message of TLS, read for the name of the server that it asks for.

mod cursor;
mod hello;
mod records;
mod unread;

pub use hello::{Hello, read};
pub use records::HANDSHAKE;
pub use unread::Unread;

/// A fatal alert, access_denied, in a record that every version takes.
pub const ACCESS_DENIED: [u8; 7] = [21, 3, 1, 0, 2, 2, 49];
