//! Standard input, replaced by what is made of its text.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;

/// Of longer text the program makes what it can by itself.
const MAX_BYTES: u64 = 4 << 20;

/// Returns whether standard input is now what `make` made of its text; otherwise it is untouched, also where its text
/// exhausts the stack or the memory of the process that reads it.
pub fn replace(make: fn(String) -> Option<String>) -> bool {
    replaced(make).unwrap_or(false)
}

fn replaced(make: fn(String) -> Option<String>) -> io::Result<bool> {
    let mut output = memory_file()?;
    // SAFETY: this process has one thread, so its copy may do what it could do itself.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            silence();
            end(text().ok().flatten().and_then(make), output)
        }
        child => {
            if !succeeded(child)? {
                return Ok(false);
            }
            output.rewind()?;
            // SAFETY: both descriptors are open; standard input is nobody's to close.
            let duplicated = unsafe { libc::dup2(output.as_raw_fd(), libc::STDIN_FILENO) };
            Ok(duplicated == libc::STDIN_FILENO)
        }
    }
}

/// The copy's part: writes what was made, and never returns to what its original does next.
fn end(made: Option<String>, mut output: File) -> ! {
    let written = made.is_some_and(|text| output.write_all(text.as_bytes()).is_ok());
    // SAFETY: ends the copy at once.
    unsafe { libc::_exit(i32::from(!written)) }
}

/// The text of a file, read without moving its position; none of a pipe, nor of what is no UTF-8.
fn text() -> io::Result<Option<String>> {
    // SAFETY: descriptor 0 is open, as the runtime has ensured, and stays so: the file is never dropped.
    let input = ManuallyDrop::new(unsafe { File::from_raw_fd(libc::STDIN_FILENO) });
    let length = input.metadata()?.len();
    if length > MAX_BYTES {
        return Ok(None);
    }
    let mut bytes = vec![0; length as usize];
    input.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8(bytes).ok())
}

/// The program itself says what is wrong with its text.
fn silence() {
    // SAFETY: standard error of this copy is used by nothing that needs it.
    unsafe { libc::close(libc::STDERR_FILENO) };
}

fn succeeded(child: libc::pid_t) -> io::Result<bool> {
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call.
        if unsafe { libc::waitpid(child, &mut status, 0) } == child {
            return Ok(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn memory_file() -> io::Result<File> {
    // SAFETY: the name is a C string; the descriptor that comes back is owned by the file alone.
    unsafe {
        match libc::memfd_create(c"code".as_ptr(), libc::MFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(File::from_raw_fd(descriptor)),
        }
    }
}
