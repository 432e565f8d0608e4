//! Connections to the hosts of a sandbox's secrets. TLS ends here, with a certificate of the sandbox's own
//! authority on the client's side and the host's roots on the server's, so that a request can get the value
//! of a secret that its sandbox never has. All other connections pass unopened.

mod alpn;
mod answer;
mod content;
mod exchange;
mod flow;
mod handshake;
mod hops;
mod opened;
mod opening;
mod request;
mod roots;
mod scrub;
mod serve;
mod server;
mod upgrade;
mod upstream;

pub use opened::Connection;
pub use opening::Opening;
pub use roots::{Roots, read_roots};
pub use serve::serve;
