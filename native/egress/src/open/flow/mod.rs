//! Moves bytes of an opened connection in large pieces and in one task.

mod ahead;
mod coalesced;
mod gathered;
mod socket;
mod streams;
mod turns;

pub use coalesced::Coalesced;
pub use socket::Socket;
pub use streams::Streams;
pub use turns::in_turns;
