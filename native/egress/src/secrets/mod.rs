//! Secrets of sandboxes: values, the requests that carry them, and where. Nothing here connects to anything.

mod authority;
mod day;
mod hidden;
mod mask;
mod place;
mod secret;
mod spelling;
mod target;
mod vault;

pub use mask::{Mask, Masker};
pub use place::{BodyHash, Placed, body_hash};
pub use secret::{Secret, SecretText};
pub use vault::{AuthorityText, Vault};
