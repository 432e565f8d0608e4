//! Reasons why a message is not passed on.

#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// Status of the answer to a client.
    pub status: u16,
    pub why: &'static str,
}

pub fn malformed(why: &'static str) -> Fault {
    Fault { status: 400, why }
}

pub fn forbidden(why: &'static str) -> Fault {
    Fault { status: 403, why }
}
