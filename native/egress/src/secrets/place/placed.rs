//! The outcome of putting a value into a request.

#[derive(Debug, PartialEq, Eq)]
pub enum Placed {
    Put,
    /// The client has put its own content there.
    Kept,
    Refused(&'static str),
}

pub const NO_FIT: &str = "the secret does not fit into this request";
