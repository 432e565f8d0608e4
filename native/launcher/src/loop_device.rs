//! Loop devices that vanish with their last user.

use crate::failure::{Failure, Step, failed};
use linux_raw_sys::loop_device::{
    LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO, LOOP_CONFIGURE, LOOP_CTL_ADD, LOOP_CTL_GET_FREE,
    LOOP_GET_STATUS64, LOOP_SET_CAPACITY, loop_config, loop_info64,
};
use rustix::fs::{
    CWD, Dev, FileType, FlockOperation, Mode, OFlags, Stat, flock, makedev, mknodat, open,
};
use rustix::io::Errno;
use std::io::Error;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// Other launches take free devices too. More lost races than this mean another problem.
const ATTEMPTS: u32 = 64;
/// A second, in all.
const LOCK_ATTEMPTS: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(5);
/// The block size of the disks' ext4, so that every direct transfer is aligned on any host file system.
const BLOCK_BYTES: u32 = 4096;
/// Bounds on one sandbox's requests that wait ahead of another's at the host's disk: their number at once,
/// and the size of each. The kernel's own bounds, 128 of 1280 KiB, would allow 160 MiB.
const BOUNDED: [(&str, u32); 2] = [("nr_requests", 16), ("max_sectors_kb", 128)];
/// The kernel's own.
const USUAL: [(&str, u32); 2] = [("nr_requests", 128), ("max_sectors_kb", 1280)];

/// Requests that a device takes at once.
#[derive(Clone, Copy, PartialEq)]
pub enum Queue {
    /// Those of one sandbox, within the bounds.
    Bounded,
    /// Those of all sandboxes, whose own devices have the bounds.
    Shared,
}

pub struct LoopDevice {
    pub path: String,
    /// Keeps the device open until it is mounted; with AUTOCLEAR, the last close frees it.
    device: OwnedFd,
}

impl LoopDevice {
    /// Writes the device's name ("loop3") to a file, before anything on it can outlive this process, so that
    /// a later wait for the disk asks the kernel about this device alone.
    pub fn note(&self, file: &Path) -> Result<(), Failure> {
        let name = self.path.trim_start_matches("/dev/");
        std::fs::write(file, name).step("note the loop device")
    }

    /// Makes the device as large as its file has become.
    pub fn take_size(&self) -> Result<(), Failure> {
        // SAFETY: LOOP_SET_CAPACITY takes no argument.
        match unsafe { libc::ioctl(self.device.as_raw_fd(), LOOP_SET_CAPACITY as _) } {
            0 => Ok(()),
            _ => Err(Error::last_os_error()).step("take the size of the file"),
        }
    }
}

pub fn attach(image: &OwnedFd, queue: Queue) -> Result<LoopDevice, Failure> {
    let control = open_control()?;
    let _alone = alone(&control);
    let mut direct = LO_FLAGS_DIRECT_IO as u32;
    for _ in 0..ATTEMPTS {
        let number = free_number(&control)?;
        let path = format!("/dev/loop{number}");
        let device = open_node(number, &path)?;
        match configure(&device, image, LO_FLAGS_AUTOCLEAR as u32 | direct) {
            Ok(()) => {
                // Whose it is now: a launch that lost the race for it would have set the bounds of another.
                set_queue(number, queue);
                return Ok(LoopDevice { path, device });
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EBUSY) => continue,
                // The file system below the image has no direct I/O (tmpfs): slower, but correct.
                Some(libc::EINVAL) if direct != 0 => direct = 0,
                _ => return Err(error).step("configure the loop device"),
            },
        }
    }
    Err(failed("no loop device could be taken"))
}

/// Sets the bounds of `count` devices from the first free one on, where they are free, and makes missing
/// ones: a launch with a prepared device does not wait.
pub fn make_ready(count: i32) -> Result<(), Failure> {
    let control = open_control()?;
    let first = free_number(&control)?;
    for number in first..first.saturating_add(count) {
        let device = format!("/sys/block/loop{number}");
        let _alone = alone(&control);
        if Path::new(&device).join("loop").exists() {
            continue;
        }
        if !Path::new(&device).exists() {
            // SAFETY: LOOP_CTL_ADD takes a number.
            let made = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_ADD as _, number) };
            let error = Error::last_os_error();
            if made < 0 && error.raw_os_error() != Some(libc::EEXIST) {
                return Err(error).step("make a loop device");
            }
        }
        set_queue(number, Queue::Bounded);
    }
    Ok(())
}

/// Returns the device that has this file attached. The kernel names it by numbers, which are the same in every mount namespace.
pub fn find(file: &Stat) -> Result<Option<LoopDevice>, Failure> {
    for entry in std::fs::read_dir("/sys/block").step("list the block devices")? {
        let name = entry.step("list the block devices")?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("loop"));
        let Some(number) = number.and_then(|number| number.parse().ok()) else {
            continue;
        };
        if !Path::new("/sys/block").join(&name).join("loop").exists() {
            continue;
        }
        let path = format!("/dev/loop{number}");
        // One of the host that is read-only refuses to be opened.
        let Ok(device) = open_node(number, &path) else {
            continue;
        };
        if backs(&device, file) {
            return Ok(Some(LoopDevice { path, device }));
        }
    }
    Ok(None)
}

/// A device that was detached meanwhile backs nothing.
fn backs(device: &OwnedFd, file: &Stat) -> bool {
    // SAFETY: loop_info64 is plain data for which all zeroes is a valid value.
    let mut info: loop_info64 = unsafe { std::mem::zeroed() };
    // SAFETY: LOOP_GET_STATUS64 writes one loop_info64, which outlives the call.
    let code = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, &mut info) };
    code == 0 && info.lo_device == file.st_dev && info.lo_inode == file.st_ino
}

fn open_control() -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    open("/dev/loop-control", flags, Mode::empty()).step("open /dev/loop-control")
}

/// Between finding a device free and having set its bounds nobody else takes it, or sets others: a change of bounds takes the
/// kernel up to 60 ms. systemd locks the same file for the same reason. The lock ends with what is returned; where another
/// program keeps it, bounds that are another's are better than no sandbox.
fn alone(control: &OwnedFd) -> Option<Alone<'_>> {
    for _ in 0..LOCK_ATTEMPTS {
        if flock(control, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Some(Alone(control));
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    None
}

struct Alone<'a>(&'a OwnedFd);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

/// The kernel makes a device where none is free.
fn free_number(control: &OwnedFd) -> Result<i32, Failure> {
    // SAFETY: LOOP_CTL_GET_FREE takes no argument.
    match unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as _) } {
        number if number < 0 => Err(Error::last_os_error()).step("find a free loop device"),
        number => Ok(number),
    }
}

/// The kernel makes the node of a new device on a host. A container's /dev has the nodes of its start alone, and gets the
/// others here.
fn open_node(number: i32, path: &str) -> Result<OwnedFd, Failure> {
    let open_it = || open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    match open_it() {
        Err(Errno::NOENT) => {
            let mode = Mode::RUSR | Mode::WUSR;
            let numbers = numbers_of(number)?;
            match mknodat(CWD, path, FileType::BlockDevice, mode, numbers) {
                // Another launch was faster.
                Ok(()) | Err(Errno::EXIST) => {
                    open_it().step("open the new node of the loop device")
                }
                Err(error) => Err(error).step("make a node of the loop device"),
            }
        }
        opened => opened.step("open the loop device"),
    }
}

fn numbers_of(number: i32) -> Result<Dev, Failure> {
    let file = format!("/sys/block/loop{number}/dev");
    let text = std::fs::read_to_string(&file).step("read the numbers of the loop device")?;
    let numbers = text
        .trim()
        .split_once(':')
        .and_then(|(major, minor)| Some(makedev(major.parse().ok()?, minor.parse().ok()?)));
    numbers.ok_or_else(|| failed(format!("{file} has no device numbers")))
}

/// The device keeps its bounds until the host restarts, so its first sandbox alone waits for the kernel to change them (20 to
/// 60 ms), unless `make_ready` came before; and a device for all sandboxes may have had one of them before. With a read-only
/// /sys, as in a container, the device stays unchanged.
fn set_queue(number: i32, queue: Queue) {
    let wanted = if queue == Queue::Bounded {
        BOUNDED
    } else {
        USUAL
    };
    for (name, wanted) in wanted {
        let file = format!("/sys/block/loop{number}/queue/{name}");
        let present = std::fs::read_to_string(&file).unwrap_or_default();
        let differs = |present: u32| match queue {
            Queue::Bounded => present > wanted,
            Queue::Shared => present < wanted,
        };
        if present.trim().parse().is_ok_and(differs) {
            let _ = std::fs::write(&file, wanted.to_string());
        }
    }
}

fn configure(device: &OwnedFd, image: &OwnedFd, flags: u32) -> Result<(), Error> {
    // SAFETY: loop_config is plain data for which all zeroes is a valid value.
    let mut config: loop_config = unsafe { std::mem::zeroed() };
    config.fd = image.as_raw_fd() as u32;
    config.block_size = BLOCK_BYTES;
    config.info.lo_flags = flags;
    // SAFETY: LOOP_CONFIGURE reads one loop_config, which outlives the call.
    match unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as _, &config) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
