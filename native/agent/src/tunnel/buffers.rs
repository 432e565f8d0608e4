//! Buffers that relays take only while bytes flow, so that an idle connection holds none.

use std::cell::RefCell;

use crate::wire::frame::HEADER_BYTES;

/// Most bytes of one data frame. A relay that waits for a slow side holds one buffer for each direction.
pub const CHUNK_BYTES: usize = 128 << 10;
/// Buffers kept for reuse while any connection is open.
const SPARE: usize = 4;

#[derive(Default)]
pub struct Buffers(RefCell<Vec<Vec<u8>>>);

impl Buffers {
    /// A buffer for a frame's header and `CHUNK_BYTES`, with arbitrary contents.
    pub fn take(&self) -> Vec<u8> {
        let spare = self.0.borrow_mut().pop();
        spare.unwrap_or_else(|| vec![0; HEADER_BYTES + CHUNK_BYTES])
    }

    pub fn give(&self, buffer: Vec<u8>) {
        let mut spare = self.0.borrow_mut();
        if spare.len() < SPARE {
            spare.push(buffer);
        }
    }

    pub fn clear(&self) {
        self.0.take();
    }
}
