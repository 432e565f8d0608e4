//! The agent on a network: TLS 1.3 with a certificate of its own, for the service's certificate alone. All
//! other clients are strangers, bounded in number and time.

mod credentials;
mod crowd;
mod crypto;
pub mod door;
mod hiding;
mod verifier;
