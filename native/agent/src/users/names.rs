//! Names of the users and groups of many files, each looked up once.

use std::collections::HashMap;

use super::database;

/// Most names kept; each lookup reads a file.
const MAX_KNOWN: usize = 256;

pub struct Names {
    pub users: Known,
    pub groups: Known,
}

pub struct Known {
    names: HashMap<u32, String>,
    look_up: fn(u32) -> String,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            users: Known::new(database::user),
            groups: Known::new(database::group),
        }
    }
}

impl Known {
    fn new(look_up: fn(u32) -> String) -> Self {
        Self {
            names: HashMap::new(),
            look_up,
        }
    }

    pub fn name(&mut self, id: u32) -> &str {
        if self.names.len() >= MAX_KNOWN && !self.names.contains_key(&id) {
            self.names.clear();
        }
        let look_up = self.look_up;
        self.names.entry(id).or_insert_with(|| look_up(id))
    }
}
