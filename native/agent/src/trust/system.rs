//! Default files of a system in which programs look for authorities; a system may lack some of them.

use rustix::fs::{CWD, Mode, OFlags, symlinkat};
use rustix::io::Errno;
use std::io::Read;
use std::os::fd::OwnedFd;

use super::certificate::Certificate;
use crate::files::location::Path;
use crate::files::reach;
use crate::files::reading::regular::{io_fault, open_regular, too_large};
use crate::files::writing::upload::{Target, Upload};
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

const MAX_BYTES: u64 = 8 << 20;

/// Links are followed; only a regular file is read.
pub fn read(path: &str) -> Result<Vec<u8>, Fault> {
    read_up_to(path, MAX_BYTES)
}

pub fn read_up_to(path: &str, max_bytes: u64) -> Result<Vec<u8>, Fault> {
    let path = Path::parse("path", path)?;
    let file = open_regular(&path)?;
    let size = file.metadata().map_err(|error| io_fault(&error, &path))?;
    let mut bytes = Vec::new();
    if size.len() <= max_bytes {
        file.take(max_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| io_fault(&error, &path))?;
    }
    if size.len().max(bytes.len() as u64) > max_bytes {
        return Err(too_large(&path, max_bytes));
    }
    Ok(bytes)
}

/// Writes a file completely or not at all, unless it has that content. An existing file keeps its mode and its owner.
pub fn write(path: &str, content: &[u8], create_parents: bool) -> Result<(), Fault> {
    if read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    let target = Target {
        path: Path::parse("path", path)?,
        create_parents,
        mode: None,
        durable: false,
        new_beneath: None,
    };
    Upload::begin(&target)?.end_with(content)?;
    Ok(())
}

/// Keeps the certificate in bundles that the system makes anew later, where the system has a way for that.
pub fn keep(certificate: &Certificate) {
    let _ = write(ADDED, &certificate.pem, true);
    if folder(ANCHORS).is_ok() {
        let _ = write(ANCHOR, &certificate.pem, false);
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
