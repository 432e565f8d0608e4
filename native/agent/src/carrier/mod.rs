//! The agent as a carrier: PID 1 of a Pod that no program of the sandbox runs in, with the sandbox's disk
//! mounted. It sends the disk's content as one tar archive, or fills an empty disk from one. It serves
//! nothing else.
//!
//! The sandbox wrote the archive, which may hold anything. An archive can harm only the disk that is made
//! from it: every name is resolved relative to an open folder that this process has made, and links are never
//! followed.

mod faults;
mod pack;
pub mod serve;
mod tar;
pub mod tree;
mod unpack;
