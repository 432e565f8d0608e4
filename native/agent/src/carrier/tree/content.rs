//! Writes the content of new files. A new file is one hole, so pieces of zeros are left out.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// No file system has smaller pages, and few have larger blocks.
const PIECE: u64 = 4096;
const ZEROS: [u8; PIECE as usize] = [0; PIECE as usize];

/// Pieces of zeros stay holes: an archive stores some holes of a file with very many as zeros, and the file
/// must need no more blocks than before.
pub fn write(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let mut due = 0;
    let mut next = 0;
    while next < bytes.len() {
        let to_edge = (PIECE - (at + next as u64) % PIECE) as usize;
        let piece = &bytes[next..bytes.len().min(next + to_edge)];
        let end = next + piece.len();
        if piece == &ZEROS[..piece.len()] {
            file.write_all_at(&bytes[due..next], at + due as u64)?;
            due = end;
        }
        next = end;
    }
    file.write_all_at(&bytes[due..], at + due as u64)
}
