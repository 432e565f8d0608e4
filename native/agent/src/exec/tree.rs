//! Ends a process and all its descendants, however they detached themselves.
//!
//! The root is a subreaper, so an orphan of its tree becomes its child and never leaves the tree. Every
//! process found is stopped before any is killed, until a scan finds none that still runs: a stopped process
//! can neither fork nor react. Nothing here allocates, since a supervisor runs it after a fork.

use std::ffi::CStr;

/// More than the process limit of any sandbox.
const MAX_PROCESSES: usize = 1 << 15;
/// Rounds of stopping and killing, and scans in each of them.
const MAX_ROUNDS: usize = 2_000;
const MAX_LOOKS: usize = 50;
const ROUND_PAUSE_US: libc::c_uint = 1_000;
const LOOK_PAUSE_US: libc::c_uint = 200;

#[derive(Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
    /// Its letter in /proc/<pid>/stat.
    state: u8,
    in_tree: bool,
}

/// Memory for one scan of all processes.
pub struct Snapshot {
    processes: [Process; MAX_PROCESSES],
    count: usize,
}

impl Snapshot {
    pub const EMPTY: Self = Self {
        processes: [Process {
            pid: 0,
            parent: 0,
            state: 0,
            in_tree: false,
        }; MAX_PROCESSES],
        count: 0,
    };

    /// Scans /proc and marks the descendants of `root`. Counts those that live and those that wait to be reaped.
    fn take(&mut self, root: i32) -> usize {
        self.count = 0;
        for_each_process(|pid| {
            if self.count < MAX_PROCESSES
                && let Some((state, parent)) = read_stat(pid)
            {
                self.processes[self.count] = Process {
                    pid,
                    parent,
                    state,
                    in_tree: false,
                };
                self.count += 1;
            }
        });
        self.mark(root)
    }

    fn mark(&mut self, root: i32) -> usize {
        let processes = &mut self.processes[..self.count];
        // Sorted by pid, a parent is found by bisection, and mostly before its children. An unstable sort
        // works in place.
        processes.sort_unstable_by_key(|process| process.pid);
        let mut marked = 0;
        loop {
            let before = marked;
            for index in 0..processes.len() {
                let Process {
                    parent, in_tree, ..
                } = processes[index];
                if in_tree {
                    continue;
                }
                let parent_in_tree = parent == root
                    || processes
                        .binary_search_by_key(&parent, |process| process.pid)
                        .is_ok_and(|at| processes[at].in_tree);
                if parent_in_tree {
                    processes[index].in_tree = true;
                    marked += 1;
                }
            }
            if marked == before {
                return marked;
            }
        }
    }

    fn tree(&self) -> impl Iterator<Item = &Process> {
        self.processes[..self.count]
            .iter()
            .filter(|process| process.in_tree)
    }
}

/// Kills every descendant of `root`; `reap` collects those that ended. Returns false when some did not end in time.
pub fn kill_descendants(snapshot: &mut Snapshot, root: i32, mut reap: impl FnMut()) -> bool {
    for _ in 0..MAX_ROUNDS {
        if !freeze(snapshot, root) {
            return true;
        }
        for process in snapshot.tree() {
            signal(process.pid, libc::SIGKILL);
        }
        pause(ROUND_PAUSE_US);
        reap();
    }
    false
}

/// Stops the tree until a scan finds no process that runs. Returns false when there is no tree. A process in
/// an uninterruptible sleep cannot stop yet, so the scans are bounded.
fn freeze(snapshot: &mut Snapshot, root: i32) -> bool {
    for _ in 0..MAX_LOOKS {
        if snapshot.take(root) == 0 {
            return false;
        }
        let mut running = false;
        for process in snapshot.tree() {
            if !matches!(process.state, b'T' | b't' | b'Z' | b'X') {
                running = true;
                signal(process.pid, libc::SIGSTOP);
            }
        }
        if !running {
            break;
        }
        pause(LOOK_PAUSE_US);
    }
    true
}

fn pause(microseconds: libc::c_uint) {
    // SAFETY: usleep takes a number and touches no memory.
    unsafe { libc::usleep(microseconds) };
}

fn signal(pid: i32, signal: i32) {
    // SAFETY: kill takes numbers and touches no memory.
    unsafe { libc::kill(pid, signal) };
}

fn for_each_process(mut visit: impl FnMut(i32)) {
    // SAFETY: the kernel fills the buffer, which is aligned for its records, with whole ones, and `at` is always where
    // one begins. Each has its own length and a name that ends in NUL. The descriptor is this function's own.
    unsafe {
        let fd = libc::open(
            c"/proc".as_ptr(),
            libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC,
        );
        if fd < 0 {
            return;
        }
        let mut buffer = [0u64; 1024];
        loop {
            let read = libc::syscall(
                libc::SYS_getdents64,
                fd,
                buffer.as_mut_ptr(),
                size_of_val(&buffer),
            );
            if read <= 0 {
                break;
            }
            let mut at = 0;
            while at < read as usize {
                let entry = buffer
                    .as_ptr()
                    .cast::<u8>()
                    .add(at)
                    .cast::<libc::dirent64>();
                let name = CStr::from_ptr((&raw const (*entry).d_name).cast());
                if let Some(pid) = parse_number(name.to_bytes()) {
                    visit(pid);
                }
                at += usize::from((*entry).d_reclen);
            }
        }
        libc::close(fd);
    }
}

/// State and parent of a process; None when it is gone.
fn read_stat(pid: i32) -> Option<(u8, i32)> {
    let mut path = [0u8; 32];
    write_path(&mut path, pid);
    let mut text = [0u8; 512];
    // SAFETY: the path ends in NUL, and the kernel writes within the length of `text`. The descriptor is this
    // function's own.
    let read = unsafe {
        let fd = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return None;
        }
        let read = libc::read(fd, text.as_mut_ptr().cast(), text.len());
        libc::close(fd);
        read
    };
    parse_stat(text.get(..usize::try_from(read).ok()?)?)
}

/// `pid (name) state parent …`, where the name may hold anything, parentheses too.
fn parse_stat(text: &[u8]) -> Option<(u8, i32)> {
    let close = text.iter().rposition(|&byte| byte == b')')?;
    let mut fields = text.get(close + 2..)?.split(|&byte| byte == b' ');
    let state = *fields.next()?.first()?;
    Some((state, parse_number(fields.next()?)?))
}

fn parse_number(text: &[u8]) -> Option<i32> {
    if text.is_empty() || text.len() > 9 {
        return None;
    }
    text.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + i32::from(byte - b'0'))
    })
}

fn write_path(path: &mut [u8; 32], pid: i32) {
    let mut digits = [0u8; 10];
    let mut rest = pid;
    let mut at = digits.len();
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let mut length = 0;
    for part in [b"/proc/".as_slice(), &digits[at..], b"/stat\0"] {
        path[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_hide_state_and_parent() {
        assert_eq!(parse_stat(b"12 (a) b) R 7 1 1 0"), Some((b'R', 7)));
        assert_eq!(parse_stat(b"12 (sh"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn paths_name_the_process() {
        let mut path = [0; 32];
        write_path(&mut path, 4_194_304);
        assert_eq!(
            CStr::from_bytes_until_nul(&path).unwrap(),
            c"/proc/4194304/stat"
        );
    }

    #[test]
    fn descendants_are_found_whatever_the_order_of_their_numbers() {
        let mut snapshot = Box::new(Snapshot::EMPTY);
        for (index, (pid, parent)) in [(9, 30), (30, 5), (5, 1), (7, 1), (8, 9)]
            .iter()
            .enumerate()
        {
            snapshot.processes[index] = Process {
                pid: *pid,
                parent: *parent,
                state: b'S',
                in_tree: false,
            };
        }
        snapshot.count = 5;
        assert_eq!(snapshot.mark(5), 3);
        let mut pids: Vec<_> = snapshot.tree().map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [8, 9, 30]);
    }

    #[test]
    fn the_own_process_is_seen_in_proc() {
        let own = std::process::id() as i32;
        let mut seen = false;
        for_each_process(|pid| seen |= pid == own);
        assert!(seen);
        assert!(read_stat(own).is_some());
    }
}
