//! The protocol itself: frames, one connection, errors. Nothing here knows an operation.

pub mod connection;
pub mod fault;
pub mod frame;
