//! The gate: every TCP connection of a sandbox with rules arrives here instead of at its destination. The
//! gate reads its first bytes, and passes it on or refuses it.

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
