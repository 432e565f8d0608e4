//! Finds the account of a name or a number in /etc/passwd and /etc/group.

use crate::init::account::Account;
use crate::users::database;
use crate::wire::fault::{Code, Fault};

/// None for a name that is missing; a number needs no account.
pub fn find(user: &str) -> Result<Option<Account>, Fault> {
    let users = database::read(database::USERS).ok_or_else(no_users)?;
    let number: Option<u32> = user.parse().ok();
    let found = users
        .lines()
        .filter_map(parse)
        .find(|account| match number {
            Some(uid) => account.uid == uid,
            None => account.name == user,
        });
    let Some(mut account) = found.or_else(|| Some(without_account(user, number?))) else {
        return Ok(None);
    };
    let groups = database::read(database::GROUPS).unwrap_or_default();
    account.groups = database::groups_of(&groups, &account.name, account.gid);
    Ok(Some(account))
}

fn parse(line: &str) -> Option<Account> {
    let fields: Vec<_> = line.split(':').collect();
    let [name, _, uid, gid, _, home, shell] = fields.try_into().ok()?;
    let or = |text: &str, default: &str| {
        let text = if text.is_empty() { default } else { text };
        text.to_owned()
    };
    Some(Account {
        name: name.to_owned(),
        uid: uid.parse().ok()?,
        gid: gid.parse().ok()?,
        groups: Vec::new(),
        home: or(home, "/"),
        shell: or(shell, "/bin/sh"),
    })
}

fn without_account(user: &str, id: u32) -> Account {
    Account {
        name: user.to_owned(),
        uid: id,
        gid: id,
        groups: Vec::new(),
        home: "/".to_owned(),
        shell: "/bin/sh".to_owned(),
    }
}

fn no_users() -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        "The sandbox has no file /etc/passwd, so it has no users.",
    )
    .parameter("user")
    .hint("Leave user out, or create the sandbox from an image that has users.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_seven_fields_and_empty_ones_have_defaults() {
        let ann = parse("ann:x:1000:7:Ann,,,:/home/ann:/bin/bash").unwrap();
        assert_eq!((ann.uid, ann.gid), (1000, 7));
        assert_eq!(
            (ann.home.as_str(), ann.shell.as_str()),
            ("/home/ann", "/bin/bash")
        );
        let bob = parse("bob::5:5:::").unwrap();
        assert_eq!((bob.home.as_str(), bob.shell.as_str()), ("/", "/bin/sh"));
        for broken in [
            "",
            "ann",
            "ann:x:a:7:::",
            "ann:x:1:-7:::",
            "ann:x:1:7::::more",
        ] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
