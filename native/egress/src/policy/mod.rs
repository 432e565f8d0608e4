//! Rules of a sandbox, compiled by the service, and the traffic that they admit. Nothing here has state.

mod asked;
mod name;
mod path;
mod range;
mod rule;

pub use asked::{Asked, Kind};
pub use name::{Pattern, parse_name};
pub use path::is_below;
pub use range::Range;
pub use rule::{Rule, RuleText, Target};
