//! The sandbox's own files of users and groups. The sandbox may have put anything there.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

pub const USERS: &str = "/etc/passwd";
pub const GROUPS: &str = "/etc/group";

const MAX_BYTES: u64 = 1 << 20;
const MAX_NAME_CHARS: usize = 64;
/// The kernel's own bound is 65,536.
const MAX_GROUPS: usize = 1_024;

const NAME: usize = 0;
const NUMBER: usize = 2;
const MEMBERS: usize = 3;
const HOME: usize = 5;

/// The name of a user, else the number.
pub fn user(id: u32) -> String {
    name(USERS, id)
}

/// The name of a group, else the number.
pub fn group(id: u32) -> String {
    name(GROUPS, id)
}

/// The home folder of a user.
pub fn home(id: u32) -> Option<String> {
    read(USERS).and_then(|text| field(&text, NUMBER, &id.to_string(), HOME))
}

pub fn home_of(user: &str) -> Option<String> {
    read(USERS).and_then(|text| field(&text, NAME, user, HOME))
}

/// The numbers of the groups of a user, with the user's own first.
pub fn groups_of(groups: &str, user: &str, own: u32) -> Vec<u32> {
    let mut found = vec![own];
    for line in groups.lines() {
        let fields: Vec<_> = line.split(':').collect();
        let is_member = |members: &&str| {
            members
                .split(',')
                .any(|member| member == user && !user.is_empty())
        };
        if let Some(id) = fields.get(NUMBER).and_then(|id| id.parse().ok())
            && fields.get(MEMBERS).is_some_and(is_member)
            && !found.contains(&id)
            && found.len() < MAX_GROUPS
        {
            found.push(id);
        }
    }
    found
}

/// True where a line of users or groups has the number.
pub fn has_number(text: &str, id: u32) -> bool {
    field(text, NUMBER, &id.to_string(), NAME).is_some()
}

/// The number of a user or a group.
pub fn number_of(text: &str, name: &str) -> Option<u32> {
    field(text, NAME, name, NUMBER)?.parse().ok()
}

/// Only a plain file is read.
pub fn read(database: &str) -> Option<String> {
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(database)
        .ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn name(database: &str, id: u32) -> String {
    read(database)
        .and_then(|text| field(&text, NUMBER, &id.to_string(), NAME))
        .map_or_else(
            || id.to_string(),
            |name| name.chars().take(MAX_NAME_CHARS).collect(),
        )
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

    #[test]
    fn the_fourth_field_of_a_group_lists_its_members() {
        let text =
            "root:x:0:\nsudo:x:27:ann,bob\nann:x:1000:ann\nbroken\nx:y:z:ann\nannies:x:5:anna\n";
        assert_eq!(groups_of(text, "ann", 1000), [1000, 27]);
        assert_eq!(groups_of(text, "", 3), [3]);
        assert_eq!(number_of(text, "sudo"), Some(27));
        assert_eq!(number_of(text, "x"), None);
    }
}
