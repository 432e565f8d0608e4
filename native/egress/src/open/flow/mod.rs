//! Bytes of an opened connection, on their way in large pieces and in one task.

mod ahead;
mod gathered;
mod socket;
mod streams;
mod turns;
mod whole;

pub use socket::Socket;
pub use streams::Streams;
pub use turns::in_turns;
pub use whole::Whole;
