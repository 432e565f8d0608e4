//! Messages of DNS: questions of sandboxes, answers of upstream resolvers, and the answers for sandboxes. No
//! byte passes from one side to the other; each message is written anew.

mod answer;
mod query;
mod reply;
mod wire;

pub use answer::{Found, read_answer, write_question};
pub use query::{Query, Unread, record_types};
pub use reply::{Reply, code};
pub use wire::is_cut;
