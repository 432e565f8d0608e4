//! Takes the values of secrets out of answers: each byte of one becomes a star, so that lengths stay.

mod body;
mod fields;

pub use body::Scrubbed;
pub use fields::{is_text, scrub_fields};
