//! HTTP/1: heads and the framing of bodies, parsed so strictly that no server can find another request in the
//! same bytes.

mod authority;
mod body;
mod fault;
mod head;
mod request;
mod response;

pub use authority::Authority;
pub use body::{Body, Framing};
pub use fault::Fault;
pub use request::Request;
pub use response::Response;
