//! Places of Java's keystores: one in each installation of Java, and on Debian and Alpine one for all.

use rustix::fs::{CWD, Dir, Mode, OFlags};

use crate::files::reach;

const COMMON: &str = "/etc/ssl/certs/java/cacerts";
/// Folders that hold installations: of distributions and most vendors, of the images of Eclipse Temurin,
/// OpenJDK, Oracle and GraalVM, and of SDKMAN.
const PARENTS: [&str; 8] = [
    "/usr/lib/jvm",
    "/opt/java",
    "/opt",
    "/usr/local",
    "/usr/java",
    "/usr/lib64/graalvm",
    "/usr/local/sdkman/candidates/java",
    "/root/.sdkman/candidates/java",
];
/// The second is that of a development kit up to version 8.
const WITHIN: [&str; 2] = ["lib/security/cacerts", "jre/lib/security/cacerts"];
/// Most entries of each folder. One with more is not a folder of Java installations.
const MAX_ENTRIES: usize = 100;

/// Paths at which a keystore may be.
pub fn keystores() -> impl Iterator<Item = String> {
    let within = PARENTS.into_iter().flat_map(|parent| {
        names(parent)
            .into_iter()
            .flat_map(move |name| WITHIN.map(|within| format!("{parent}/{name}/{within}")))
    });
    std::iter::once(COMMON.to_owned()).chain(within)
}

fn names(parent: &str) -> Vec<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(entries) = reach::open(CWD, parent, flags, Mode::empty()).and_then(Dir::new) else {
        return Vec::new();
    };
    entries
        .take(MAX_ENTRIES)
        .map_while(Result::ok)
        .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned))
        .filter(|name| name != "." && name != "..")
        .collect()
}
