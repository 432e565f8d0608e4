//! The kernel's part of a watch: an inotify instance, in the account of who makes it, and the events of its queue.

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use super::seats::exhausted;
use crate::files::location::Path;
use crate::wire::fault::Fault;

/// Events of one reading, after which no further ones are read.
const EVENTS: usize = 1_000;
const BUFFER_BYTES: usize = 16 << 10;

pub const WATCHED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::EXCL_UNLINK)
    .union(WatchFlags::ONLYDIR);
pub const OF_TOP: WatchFlags = WatchFlags::DELETE_SELF.union(WatchFlags::MOVE_SELF);
const ENDS: ReadFlags = ReadFlags::DELETE_SELF
    .union(ReadFlags::MOVE_SELF)
    .union(ReadFlags::UNMOUNT)
    .union(ReadFlags::IGNORED);

pub struct Kernel(OwnedFd);

pub struct Event {
    pub watch: i32,
    flags: ReadFlags,
    /// The same for both events of a rename.
    pub cookie: u32,
    /// In the watched folder; empty where the event is of that itself.
    pub name: Vec<u8>,
}

impl Event {
    pub fn is(&self, flags: ReadFlags) -> bool {
        self.flags.contains(flags)
    }

    pub fn is_folder(&self) -> bool {
        self.is(ReadFlags::ISDIR)
    }

    /// True where the watched folder itself has ended or moved.
    pub fn is_end(&self) -> bool {
        self.flags.intersects(ENDS)
    }
}

impl Kernel {
    pub fn begin(path: &Path) -> Result<Self, Fault> {
        let instance = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        instance.map(Self).map_err(|errno| match errno {
            Errno::MFILE => exhausted(
                "The sandbox's programs have all inotify instances of its user.".to_owned(),
            )
            .hint("End programs that watch files, then try again."),
            errno => path.fault(errno),
        })
    }

    /// Becomes readable with the next event.
    pub fn readable(&self) -> Result<OwnedFd, Fault> {
        Ok(self.0.try_clone()?)
    }

    /// Watches an open folder, whatever its path names by now.
    pub fn watch(&self, folder: impl AsFd, flags: WatchFlags, path: &Path) -> Result<i32, Fault> {
        let name = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
        inotify::add_watch(&self.0, name, flags).map_err(|errno| match errno {
            Errno::NOSPC => exhausted("The sandbox has no inotify watches left.".to_owned())
                .hint("End programs that watch files, or watch a folder further down."),
            errno => path.fault(errno),
        })
    }

    pub fn unwatch(&self, watch: i32) {
        let _ = inotify::remove_watch(&self.0, watch);
    }

    /// Adds the next events. Returns true when there are no more.
    pub fn read(&self, events: &mut Vec<Event>, path: &Path) -> Result<bool, Fault> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.0, &mut buffer);
        while events.len() < EVENTS || !reader.is_buffer_empty() {
            match reader.next() {
                Ok(event) => events.push(Event {
                    watch: event.wd(),
                    flags: event.events(),
                    cookie: event.cookie(),
                    name: event
                        .file_name()
                        .map_or(Vec::new(), |name| name.to_bytes().into()),
                }),
                Err(Errno::AGAIN) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(path.fault(errno)),
            }
        }
        Ok(false)
    }
}
