//! Connections of TCP: reading ahead, writing, and their ends.

mod bytes;
mod closing;
mod connect;

pub use bytes::{Half, write_all};
pub use closing::{end_writing, make_orderly, prepare, take_leave};
pub use connect::connect;
