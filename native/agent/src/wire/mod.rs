//! The protocol itself: frames, the connection that carries them, the envelope of a request, errors. It knows
//! no operation.

pub mod connection;
pub mod fault;
pub mod frame;
#[cfg(test)]
pub mod golden;
pub mod request;
pub mod resource;
pub mod stream;
