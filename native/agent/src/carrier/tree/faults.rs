//! The faults of both directions, with the names of what they met.

use rustix::io::Errno;

use crate::wire::fault::{Code, Fault};

pub fn failed(errno: Errno, path: &[u8]) -> Fault {
    if matches!(errno, Errno::NOSPC | Errno::DQUOT) {
        return no_room();
    }
    Fault::from_errno(errno, &String::from_utf8_lossy(path))
}

/// Nobody can delete files or resize the disk meanwhile, as other operations advise.
fn no_room() -> Fault {
    let detail = "The new disk has no room for all that is in the archive.";
    let hint = "The archive is as it was, and nothing in it can be changed. Ask the operator for disks of this size that \
                hold more, from another storage class, say.";
    Fault::new(Code::ResourceExhausted, detail).hint(hint)
}

pub fn too_many_attributes(path: &[u8]) -> Fault {
    let path = String::from_utf8_lossy(path);
    let detail = format!("'{path}' has more extended attributes than an archive takes.");
    let hint = "Start the sandbox and remove some of its attributes.";
    Fault::new(Code::FailedPrecondition, detail).hint(hint)
}
