//! Reasons why bytes are not a hello.

#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    /// More bytes are needed.
    Incomplete,
    Malformed(&'static str),
}
