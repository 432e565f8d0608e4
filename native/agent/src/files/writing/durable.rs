//! Writes that survive a power cut complete. The kernel keeps new data in memory for half a minute, but a new
//! name only for the disk's commit interval: a name that is written before its data is an empty file after a
//! power cut.

use rustix::fs::{Mode, OFlags, fdatasync, fsync, openat};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// `_IOWR('f', 11, struct fiemap)` and its flag, of <linux/fiemap.h>.
const FS_IOC_FIEMAP: u32 = 0xC020_660B;
const FIEMAP_FLAG_SYNC: u32 = 1;

/// `struct fiemap` without room for extents: the kernel only counts them.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// Writes a file's data to its disk and waits for it, without a commit of the journal. A name that the file
/// gets afterwards is committed later, and so never without the data.
///
/// Asking for the file's extents does this through an overlay. sync_file_range(2) would not: it reaches only
/// the overlay's own inode, which holds no pages.
pub fn write_out(file: impl AsFd) -> rustix::io::Result<()> {
    let file = file.as_fd();
    match ask_for_extents(file) {
        // A file system without extents, such as one in memory or a FUSE one.
        Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL | Errno::BADR) => fdatasync(file),
        result => result,
    }
}

fn ask_for_extents(file: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let mut query = Fiemap {
        start: 0,
        length: u64::MAX,
        flags: FIEMAP_FLAG_SYNC,
        mapped_extents: 0,
        extent_count: 0,
        reserved: 0,
    };
    // SAFETY: the kernel reads and writes one struct fiemap and, for a count of 0, nothing behind it.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut query) };
    if result < 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    Ok(())
}

/// Returns once a power cut loses neither the file nor its name.
/// @param folder Holds the name; a descriptor of a path alone is enough.
pub fn commit(file: impl AsFd, folder: impl AsFd) -> rustix::io::Result<()> {
    fsync(file)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fsync(openat(folder, c".", flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_of_every_size_are_written_out() {
        let folder = std::env::temp_dir().join(format!("sandhaven-durable-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        for size in [0, 1, 4_096, 3 << 20] {
            let mut file = std::fs::File::create(folder.join("file")).unwrap();
            file.write_all(&vec![1; size]).unwrap();
            write_out(&file).unwrap();
            commit(&file, std::fs::File::open(&folder).unwrap()).unwrap();
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_in_memory_has_nothing_to_wait_for() {
        let file = rustix::fs::memfd_create("file", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::io::write(&file, b"x").unwrap();
        write_out(&file).unwrap();
    }
}
