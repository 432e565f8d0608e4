//! A text that is wiped when it is dropped, and is never printed.

use serde::{Deserialize, Deserializer};
use std::ops::Deref;
use zeroize::Zeroizing;

pub struct Hidden(Zeroizing<String>);

impl Deref for Hidden {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<String> for Hidden {
    fn from(text: String) -> Hidden {
        Hidden(Zeroizing::new(text))
    }
}

impl<'de> Deserialize<'de> for Hidden {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hidden, D::Error> {
        String::deserialize(deserializer).map(Hidden::from)
    }
}
