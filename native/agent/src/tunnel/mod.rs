//! Connections to and from the sandbox's own loopback.

pub mod accept;
mod buffers;
mod connect;
pub mod listen;
pub mod listeners;
mod owners;
pub mod ports;
mod relay;
mod resolve;
pub mod tcp;
mod waiting;
