//! All that is known about sandboxes: policies, resolved names, open connections, shares. One lock holds it, so that a
//! decision and its connection are seen by a new policy, whichever comes first. Nothing waits while it is held.

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
