//! Hash of a request's body, for signatures.

use ring::digest::{SHA256, digest};

#[derive(Debug, PartialEq, Eq)]
pub enum BodyHash {
    /// The request states the hash, or no signature needs it.
    Stated,
    Of(String),
}

pub fn body_hash(body: &[u8]) -> BodyHash {
    BodyHash::Of(hexadecimal(digest(&SHA256, body).as_ref()))
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
