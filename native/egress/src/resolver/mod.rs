//! The resolver of sandboxes with rules: it answers for names that their rules allow, and remembers the
//! addresses for the gate.

mod judge;
mod tcp;
mod udp;
mod upstream;

pub use judge::Resolver;
pub use tcp::serve_tcp;
pub use udp::serve_udp;
