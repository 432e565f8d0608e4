//! Files with several names: an archive has each file once, and every further name as a link to the first.

use rustix::fs::Stat;
use std::collections::HashMap;

use crate::wire::fault::{Code, Fault};

/// Most bytes of the map, out of the carrier's memory of 1 GiB.
const MOST_BYTES: usize = 256 << 20;

/// Bytes of an entry beside its path, while the map moves to one of twice its size.
const ENTRY_BYTES: usize = 128;

pub struct Links {
    most: usize,
    bytes: usize,
    /// The first name of each file, and the number of names still to come. Subvolumes of one disk use the
    /// same inode numbers.
    first: HashMap<(u64, u64), (Vec<u8>, u64)>,
}

impl Links {
    pub fn new() -> Self {
        Self::within(MOST_BYTES)
    }

    fn within(most: usize) -> Self {
        Self {
            most,
            bytes: 0,
            first: HashMap::new(),
        }
    }

    /// Returns the name under which the archive has the file already; None where this name is the first.
    pub fn first_name(&mut self, stat: &Stat, path: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let names = u64::from(stat.st_nlink as u32);
        if names < 2 {
            return Ok(None);
        }
        let key = (stat.st_dev, stat.st_ino);
        let Some((first, left)) = self.first.get_mut(&key) else {
            self.bytes += bytes_of(path);
            if self.bytes > self.most {
                return Err(too_many());
            }
            self.first.insert(key, (path.to_vec(), names - 1));
            return Ok(None);
        };
        *left -= 1;
        if *left > 0 {
            return Ok(Some(first.clone()));
        }
        let last = self.first.remove(&key);
        Ok(last.map(|(first, _)| {
            self.bytes -= bytes_of(&first);
            first
        }))
    }
}

fn bytes_of(path: &[u8]) -> usize {
    path.len() + ENTRY_BYTES
}

fn too_many() -> Fault {
    let detail = "The disk has more files with several names (hard links) than an archive takes.";
    let hint = "Start the sandbox and delete such names, or make them symbolic links.";
    Fault::new(Code::FailedPrecondition, detail).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::stat;

    fn thing(number: u64, names: u8) -> Stat {
        let mut thing = stat("/").unwrap();
        thing.st_ino = number;
        thing.st_nlink = names.into();
        thing
    }

    #[test]
    fn further_names_lead_to_the_first() {
        let mut links = Links::new();
        let mut first = |number, names, path: &str| {
            let found = links.first_name(&thing(number, names), path.as_bytes());
            found.unwrap().map(|name| String::from_utf8(name).unwrap())
        };
        assert_eq!(first(1, 3, "a"), None);
        assert_eq!(first(2, 1, "alone"), None);
        assert_eq!(first(1, 3, "b").as_deref(), Some("a"));
        assert_eq!(first(1, 3, "c").as_deref(), Some("a"));
    }

    #[test]
    fn things_of_two_devices_are_two() {
        let mut links = Links::new();
        links.first_name(&thing(1, 2), b"a").unwrap();
        let mut other = thing(1, 2);
        other.st_dev += 1;
        assert_eq!(links.first_name(&other, b"b").unwrap(), None);
    }

    #[test]
    fn names_that_are_waited_for_are_bounded() {
        let mut links = Links::within(2 * (3 + ENTRY_BYTES));
        // The second name completes each file, which then takes no memory.
        for number in 1..100 {
            links.first_name(&thing(number, 2), b"one").unwrap();
            links.first_name(&thing(number, 2), b"two").unwrap();
        }
        assert_eq!(links.bytes, 0);
        links.first_name(&thing(1, 2), b"one").unwrap();
        links.first_name(&thing(2, 2), b"two").unwrap();
        let refused = links.first_name(&thing(3, 2), b"x").unwrap_err();
        assert_eq!(refused.code, Code::FailedPrecondition);
    }
}
