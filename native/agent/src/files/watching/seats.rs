//! The bounds of all watches of the sandbox, so that programs inside always find room for their own: the kernel counts
//! instances and watches of both together.

use std::cell::Cell;
use std::fs::read_to_string;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::wire::fault::{Code, Fault};

/// Of the 128 inotify instances that the kernel gives a user.
const MAX_STREAMS: usize = 16;
/// Most folders of one stream.
pub const MAX_FOLDERS: usize = 8_192;
/// Most folders of all streams; half of what the kernel gives a user where that is less.
const MAX_ALL_FOLDERS: usize = 32_768;
const KERNELS_BOUND: &str = "/proc/sys/fs/inotify/max_user_watches";

#[derive(Default)]
pub struct Seats {
    streams: Cell<usize>,
    folders: Arc<AtomicUsize>,
}

/// The place of a stream, which is freed when this is dropped.
pub struct Seat {
    seats: Rc<Seats>,
}

/// The folders that one stream has taken, which are freed when this is dropped.
pub struct Share {
    all: Arc<AtomicUsize>,
    own: usize,
    most: usize,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.streams.update(|streams| streams - 1);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.free_all();
    }
}

impl Seat {
    pub fn take(seats: &Rc<Seats>) -> Result<Self, Fault> {
        if seats.streams.get() >= MAX_STREAMS {
            return Err(
                exhausted(format!("{MAX_STREAMS} streams watch files of the sandbox."))
                    .hint("End one of them, then try again."),
            );
        }
        seats.streams.update(|streams| streams + 1);
        Ok(Self {
            seats: Rc::clone(seats),
        })
    }

    pub fn folders(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.seats.folders)
    }
}

impl Share {
    pub fn new(all: Arc<AtomicUsize>) -> Self {
        let kernels = read_to_string(KERNELS_BOUND).ok();
        let kernels = kernels.and_then(|text| text.trim().parse::<usize>().ok());
        let most = kernels.map_or(MAX_FOLDERS, |watches| watches / 2);
        Self {
            all,
            own: 0,
            most: most.min(MAX_ALL_FOLDERS),
        }
    }

    /// Takes one more folder.
    pub fn take(&mut self, path: &str) -> Result<(), Fault> {
        if self.own >= MAX_FOLDERS {
            return Err(too_many(path));
        }
        let all = self.all.fetch_add(1, Ordering::Relaxed);
        self.own += 1;
        match all < self.most {
            true => Ok(()),
            false => Err(exhausted(format!(
                "The sandbox's streams watch {} folders, the most of all together.",
                self.most
            ))
            .hint("End another watch, watch a folder further down, or leave out its folders.")),
        }
    }

    pub fn free(&mut self, folders: usize) {
        self.own -= folders;
        self.all.fetch_sub(folders, Ordering::Relaxed);
    }

    pub fn free_all(&mut self) {
        self.free(self.own);
    }
}

pub fn too_many(path: &str) -> Fault {
    exhausted(format!("'{path}' has more than {MAX_FOLDERS} folders."))
        .hint("Watch a folder further down, or leave out its folders.")
}

pub fn exhausted(detail: String) -> Fault {
    Fault::new(Code::ResourceExhausted, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_streams_watch_at_once() {
        let seats = Rc::default();
        let mut taken: Vec<_> = (0..16).map(|_| Seat::take(&seats).unwrap()).collect();
        assert!(Seat::take(&seats).is_err());
        taken.pop();
        assert!(Seat::take(&seats).is_ok());
    }

    #[test]
    fn a_stream_has_8192_folders_and_gives_them_back() {
        let all = Arc::default();
        let mut share = Share {
            all: Arc::clone(&all),
            own: 0,
            most: 32_768,
        };
        for _ in 0..8_192 {
            share.take("x").unwrap();
        }
        let fault = share.take("src").unwrap_err();
        assert_eq!(fault.detail, "'src' has more than 8192 folders.");
        share.free(1);
        share.take("x").unwrap();
        drop(share);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn all_streams_together_have_a_bound() {
        let all = Arc::new(AtomicUsize::new(99));
        let mut share = Share {
            all: Arc::clone(&all),
            own: 0,
            most: 100,
        };
        share.take("x").unwrap();
        assert_eq!(share.take("x").unwrap_err().code, Code::ResourceExhausted);
        drop(share);
        assert_eq!(all.load(Ordering::Relaxed), 99);
    }

    #[test]
    fn the_bound_is_at_most_half_of_the_kernels() {
        let share = Share::new(Arc::default());
        let kernels: usize = read_to_string(KERNELS_BOUND)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        assert_eq!(share.most, (kernels / 2).min(32_768));
    }
}
