//! Messages of DNS: questions of sandboxes, what upstream resolvers answer, and the answers that sandboxes get. No byte of one
//! side is passed on to the other; each message is written anew.

mod answer;
mod query;
mod reply;
mod wire;

pub use answer::{Found, read_answer, write_question};
pub use query::{Query, Unread, record_types};
pub use reply::{Reply, code};
pub use wire::is_cut;
