//! Reasons why bytes are no hello.

#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    /// More bytes are to come.
    Incomplete,
    Malformed(&'static str),
}
