//! All state of sandboxes: policies, resolved names, open connections, shares. One lock guards it, so that a
//! new policy sees every decision and its connection, whichever comes first. No code waits while it holds the
//! lock.

mod flag;
mod live;
mod names;
mod places;
mod rate;
mod sandbox;
mod state;
mod ticket;

#[cfg(test)]
mod tests;

pub use live::Live;
pub use places::Place;
pub use sandbox::{Decision, Policy, RuleName};
pub use state::{Question, Refusal, World};
pub use ticket::Ticket;
