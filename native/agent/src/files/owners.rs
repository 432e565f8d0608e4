//! Names of users and groups from the sandbox's own files, else their numbers.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

const MAX_DATABASE_BYTES: u64 = 1 << 20;
const MAX_NAME_CHARS: usize = 64;

const USERS: &str = "/etc/passwd";
const NAME: usize = 0;
const NUMBER: usize = 2;
const HOME: usize = 5;

pub fn user(id: u32) -> String {
    name(USERS, id)
}

pub fn group(id: u32) -> String {
    name("/etc/group", id)
}

/// The home folder of a user.
pub fn home(id: u32) -> Option<String> {
    read(USERS).and_then(|text| field(&text, NUMBER, &id.to_string(), HOME))
}

pub fn home_of(user: &str) -> Option<String> {
    read(USERS).and_then(|text| field(&text, NAME, user, HOME))
}

fn name(database: &str, id: u32) -> String {
    read(database)
        .and_then(|text| field(&text, NUMBER, &id.to_string(), NAME))
        .map_or_else(
            || id.to_string(),
            |name| name.chars().take(MAX_NAME_CHARS).collect(),
        )
}

/// The sandbox may have put anything there, so only a plain file is read.
fn read(database: &str) -> Option<String> {
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(database)
        .ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_DATABASE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Lines are `name:password:number:…`; those of users have the home folder as the sixth field.
fn field(text: &str, key: usize, value: &str, wanted: usize) -> Option<String> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let found = fields.clone().nth(key)? == value;
        let wanted = fields.nth(wanted)?;
        (found && !wanted.is_empty()).then(|| wanted.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_field_is_the_number() {
        let text = "root:x:0:0:root:/root:/bin/bash\nbroken\nann:x:1000:7::/:/bin/sh\n";
        assert_eq!(field(text, NUMBER, "1000", NAME).as_deref(), Some("ann"));
        assert_eq!(field(text, NUMBER, "0", NAME).as_deref(), Some("root"));
        assert_eq!(field(text, NUMBER, "7", NAME), None);
        assert_eq!(field(text, NAME, "root", HOME).as_deref(), Some("/root"));
        assert_eq!(field(text, NAME, "broken", HOME), None);
    }
}
