//! Names of users and groups as the sandbox itself has them, else their numbers.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

const MAX_DATABASE_BYTES: u64 = 1 << 20;
const MAX_NAME_CHARS: usize = 64;

pub fn user(id: u32) -> String {
    name("/etc/passwd", id)
}

pub fn group(id: u32) -> String {
    name("/etc/group", id)
}

fn name(database: &str, id: u32) -> String {
    read(database)
        .and_then(|text| find(&text, id))
        .unwrap_or_else(|| id.to_string())
}

/// The sandbox may have put anything in its place; only a plain file is read.
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

/// Lines are `name:password:id:…`.
fn find(text: &str, id: u32) -> Option<String> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == id && !name.is_empty()).then(|| name.chars().take(MAX_NAME_CHARS).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_field_is_the_number() {
        let text = "root:x:0:0:root:/root:/bin/bash\nbroken\nann:x:1000:7::/:/bin/sh\n";
        assert_eq!(find(text, 1000).as_deref(), Some("ann"));
        assert_eq!(find(text, 0).as_deref(), Some("root"));
        assert_eq!(find(text, 7), None);
    }
}
