//! The agent as a carrier: PID 1 of a Pod that no program of the sandbox runs in, with the sandbox's disk mounted. It
//! gives out the disk's content as one tar archive, or makes the content of an empty disk of one. It serves nothing else.
//!
//! What it reads was written by the sandbox, and so may be anything: an archive harms the disk that is made of it alone,
//! since every name is taken relative to an open folder that this process has made, and links are never followed.

mod faults;
mod pack;
pub mod serve;
mod tar;
pub mod tree;
mod unpack;
