//! The files that show a machine its own memory and processors, in the stage. The agent fills them, and keeps
//! them up to date. One more has the id of this start, which programs take for that of the kernel's.

use crate::failure::{Failure, Step};
use rustix::fs::{Gid, Mode, Uid, chown, mkdir};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

const FILES: [&str; 5] = ["meminfo", "stat", "cpuinfo", "cpus", "boot_id"];
/// One processor of /proc/cpuinfo has less.
const PROCESSOR_BYTES: u64 = 16 << 10;

/// Makes them in the stage, which is the working folder.
pub fn make(uid_base: u32) -> Result<(), Failure> {
    mkdir("figures", Mode::from_raw_mode(0o755)).step("furnish the stage")?;
    for name in FILES {
        let path = Path::new("figures").join(name);
        let mut file = File::create(&path).step("make a file of figures")?;
        let content = match name {
            "cpuinfo" => first_processor()?,
            // Each read of it gives another one.
            "boot_id" => std::fs::read("/proc/sys/kernel/random/uuid").step("make a boot id")?,
            _ => Vec::new(),
        };
        file.write_all(&content)
            .step(format!("write the figures of {name}"))?;
        let (owner, group) = (Uid::from_raw(uid_base), Gid::from_raw(uid_base));
        chown(&path, Some(owner), Some(group)).step("give a file of figures to the machine")?;
    }
    Ok(())
}

/// Reads the first processor of the host's /proc/cpuinfo. The kernel asks each processor for its clock, so
/// only the beginning is read.
fn first_processor() -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    File::open("/proc/cpuinfo")
        .and_then(|file| file.take(PROCESSOR_BYTES).read_to_end(&mut text))
        .step("read /proc/cpuinfo")?;
    let end = text.windows(2).position(|pair| pair == b"\n\n");
    text.truncate(end.map_or(text.len(), |at| at + 1));
    Ok(text)
}
