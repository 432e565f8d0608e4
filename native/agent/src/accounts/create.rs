//! Makes an account that an image lacks: with a group and a home of its own, and sudo without a password where there is
//! sudo. The line of the user is written last, so an account that is half made is made once more.

use rustix::fs::{Gid, Mode, OFlags, Uid, fchown, fstat, mkdir, open};
use rustix::io::Errno;
use std::path::Path;
use std::sync::Mutex;

use super::find::find;
use crate::files::writing::whole::{append_line, read_up_to, write};
use crate::init::account::Account;
use crate::users::database;
use crate::wire::fault::{Fault, OrFault};

const SHADOW: &str = "/etc/shadow";
const GROUP_SHADOW: &str = "/etc/gshadow";
const HOMES: &str = "/home";
/// Files that a new home begins with.
const SKELETON: &str = "/etc/skel";
const MAX_SKELETON_FILES: usize = 32;
const MAX_SKELETON_BYTES: u64 = 64 << 10;
/// Rules of sudo, where it is installed.
const SUDO_RULES: &str = "/etc/sudoers.d";
const SHELLS: [&str; 3] = ["/bin/bash", "/bin/ash", "/bin/sh"];

const FIRST_ID: u32 = 1_000;
const LAST_ID: u32 = 59_999;
const MAX_NAME_BYTES: usize = 32;

static MAKING: Mutex<()> = Mutex::new(());

pub fn make(name: &str) -> Result<Account, Fault> {
    if !is_name(name) {
        return Err(Fault::invalid(
            "user",
            format!("'{name}' is not the name of a user."),
        )
        .hint("Give the name of a user of the sandbox, its number, or a new name of at most 32 of a-z, 0-9, _ and -."));
    }
    let _one = MAKING.lock().unwrap_or_else(|broken| broken.into_inner());
    if let Some(made) = find(name)? {
        return Ok(made);
    }
    let users = database::read(database::USERS).unwrap_or_default();
    let groups = database::read(database::GROUPS).unwrap_or_default();
    let id = (FIRST_ID..=LAST_ID)
        .find(|id| !database::has_number(&users, *id) && !database::has_number(&groups, *id))
        .ok_or_else(|| Fault::invalid("user", "The sandbox has no number left for a user."))?;
    let own_group = database::number_of(&groups, name);
    let account = Account {
        name: name.to_owned(),
        uid: id,
        gid: own_group.unwrap_or(id),
        groups: database::groups_of(&groups, name, own_group.unwrap_or(id)),
        home: format!("{HOMES}/{name}"),
        shell: shell().to_owned(),
    };
    make_home(&account)?;
    if own_group.is_none() {
        append_line(database::GROUPS, &format!("{name}:x:{id}:"))?;
        add_where_there(GROUP_SHADOW, &format!("{name}:!::"))?;
    }
    // No password fits, and the account is not locked.
    add_where_there(SHADOW, &format!("{name}:*:1::::::"))?;
    if Path::new(SUDO_RULES).is_dir() {
        let rule = format!("{name} ALL=(ALL:ALL) NOPASSWD:ALL\n");
        write(
            &format!("{SUDO_RULES}/{name}"),
            rule.as_bytes(),
            false,
            Some(0o440),
        )?;
    }
    let Account {
        gid, home, shell, ..
    } = &account;
    append_line(
        database::USERS,
        &format!("{name}:x:{id}:{gid}::{home}:{shell}"),
    )?;
    Ok(account)
}

fn is_name(name: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_next = |byte: u8| is_first(byte) || byte.is_ascii_digit() || byte == b'-';
    name.len() <= MAX_NAME_BYTES
        && name.bytes().next().is_some_and(is_first)
        && name.bytes().all(is_next)
}

fn shell() -> &'static str {
    let is_there = |path: &&str| Path::new(path).exists();
    SHELLS.into_iter().find(is_there).unwrap_or("/bin/sh")
}

/// A home that is there already is kept; one of root becomes the user's.
fn make_home(account: &Account) -> Result<(), Fault> {
    for (path, mode) in [(HOMES, 0o755), (account.home.as_str(), 0o755)] {
        match mkdir(path, Mode::from_raw_mode(mode)) {
            Err(Errno::EXIST) => {}
            result => result.or_fault(path)?,
        }
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let home = open(account.home.as_str(), flags, Mode::empty()).or_fault(&account.home)?;
    if fstat(&home).or_fault(&account.home)?.st_uid == 0 {
        let (uid, gid) = (Uid::from_raw(account.uid), Gid::from_raw(account.gid));
        fchown(&home, Some(uid), Some(gid)).or_fault(&account.home)?;
    }
    account.run(|| {
        copy_skeleton(&account.home);
        Ok(())
    })
}

/// Plain files that are not there yet. An image may lack them, and a home does without.
fn copy_skeleton(home: &str) {
    let Ok(entries) = std::fs::read_dir(SKELETON) else {
        return;
    };
    for entry in entries.flatten().take(MAX_SKELETON_FILES) {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let target = format!("{home}/{name}");
        if Path::new(&target).symlink_metadata().is_err()
            && let Ok(content) = read_up_to(&format!("{SKELETON}/{name}"), MAX_SKELETON_BYTES)
        {
            let _ = write(&target, &content, false, None);
        }
    }
}

fn add_where_there(path: &str, line: &str) -> Result<(), Fault> {
    match Path::new(path).exists() {
        true => append_line(path, line),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_is_short_and_plain() {
        for good in ["user", "_apt", "a", "daytona-2", &"a".repeat(32)] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "",
            "Ann",
            "-a",
            "1a",
            "a:b",
            "a\nb",
            "a/b",
            "a.b",
            "é",
            &"a".repeat(33),
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
