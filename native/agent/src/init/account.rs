//! A user of the sandbox, in whose name a call is made.

use rustix::io::Errno;
use std::collections::BTreeMap;
use std::path::Path;

use super::base::Base;
use super::identity::{run_as, take_access};
use crate::wire::fault::{Code, Fault};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    /// With `gid`.
    pub groups: Vec<u32>,
    pub home: String,
    pub shell: String,
}

impl Account {
    /// Relative paths start in the home, or in `/` where that is no folder.
    pub fn base(&self) -> Base {
        let is_folder = self.home.starts_with('/') && Path::new(&self.home).is_dir();
        Base::home(if is_folder { &self.home } else { "/" })
    }

    /// Runs a job with the rights of this user.
    pub fn run<T>(&self, job: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        run_as(self.uid, self.gid, &self.groups, job).map_err(|errno| self.unable(errno))?
    }

    /// The same, with root's access to files.
    pub fn run_privileged<T>(&self, job: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        self.run(|| {
            take_access().map_err(|errno| self.unable(errno))?;
            job()
        })
    }

    fn unable(&self, errno: Errno) -> Fault {
        Fault::new(
            Code::FailedPrecondition,
            format!("The sandbox cannot work as user '{}': {errno}.", self.name),
        )
        .parameter("user")
    }

    /// Adds what a login would set.
    pub fn complete(&self, env: &mut BTreeMap<String, String>) {
        for (name, value) in [
            ("HOME", &self.home),
            ("USER", &self.name),
            ("LOGNAME", &self.name),
            ("SHELL", &self.shell),
        ] {
            env.entry(name.to_owned()).or_insert_with(|| value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_the_call_wins() {
        let account = Account {
            name: "ann".to_owned(),
            uid: 1000,
            gid: 1000,
            groups: vec![1000],
            home: "/home/ann".to_owned(),
            shell: "/bin/sh".to_owned(),
        };
        let mut env = BTreeMap::from([("HOME".to_owned(), "/elsewhere".to_owned())]);
        account.complete(&mut env);
        let text: Vec<_> = env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            text,
            [
                "HOME=/elsewhere",
                "LOGNAME=ann",
                "SHELL=/bin/sh",
                "USER=ann"
            ]
        );
    }
}
