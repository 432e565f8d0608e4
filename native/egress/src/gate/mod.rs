//! The gate: every TCP connection of a sandbox with rules arrives here instead of its destination, says by its first bytes
//! what it wants, and is passed on or refused.

mod accept;
mod connection;
mod context;
mod destination;
mod exchange;
mod http;
mod pass;
mod pipes;
mod refusal;
mod relay;
mod session;
mod tls;
mod unruled;

pub use accept::accept;
pub use context::Gate;
