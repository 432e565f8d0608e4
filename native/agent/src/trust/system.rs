//! Default files of a system in which programs look for authorities; a system may lack some of them.

use rustix::fs::{CWD, Mode, OFlags, symlinkat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

use super::certificate::Certificate;
use crate::files::reach;
use crate::files::writing::whole::write;
use crate::wire::fault::{Fault, OrFault};

/// Bundles of Debian and Alpine, of Fedora and its kin, and of openSUSE; links are followed.
pub const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// Folder of Debian and Alpine: their program adds its files to the bundle whenever it makes the bundle anew.
pub const ADDED: &str = "/usr/local/share/ca-certificates/sandhaven.crt";
/// The same folder of Fedora and its kin.
const ANCHORS: &str = "/etc/pki/ca-trust/source/anchors";
const ANCHOR: &str = "/etc/pki/ca-trust/source/anchors/sandhaven.crt";
/// OpenSSL looks here for files by the hashes of subjects.
const FOLDER: &str = "/etc/ssl/certs";
const LINK: &str = "sandhaven.pem";

/// Keeps the certificate in bundles that the system makes anew later, where the system has a way for that.
pub fn keep(certificate: &Certificate) {
    let _ = write(ADDED, &certificate.pem, true, None);
    if folder(ANCHORS).is_ok() {
        let _ = write(ANCHOR, &certificate.pem, false, None);
    }
}

/// Makes the links that Debian's own program would make.
pub fn link(certificate: &Certificate) -> Result<(), Fault> {
    let folder = folder(FOLDER)?;
    let by_hash = format!("{}.0", certificate.subject_hash);
    for (target, name) in [(ADDED, LINK), (LINK, by_hash.as_str())] {
        match symlinkat(target, &folder, name) {
            Err(Errno::EXIST) => {}
            result => result.or_fault(name)?,
        }
    }
    Ok(())
}

fn folder(path: &str) -> Result<OwnedFd, Fault> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    reach::open(CWD, path, flags, Mode::empty()).or_fault(path)
}
