//! Records of TLS that carry one handshake message, which clients may cut into pieces of any size.

use super::cursor::Cursor;
use super::unread::Unread;

/// First byte of a record with a handshake.
pub const HANDSHAKE: u8 = 22;
const MAJOR_VERSION: usize = 3;
const LARGEST: usize = 1 << 14;
/// Type and length of a handshake message.
const MESSAGE_HEADER: usize = 4;

/// Returns the first handshake message with its header. It must end with a record, and nothing else lies between.
pub fn first_message(bytes: &[u8]) -> Result<Vec<u8>, Unread> {
    let mut message = Vec::new();
    let mut cursor = Cursor::new(bytes);
    loop {
        message.extend_from_slice(record(&mut cursor)?);
        if message.len() < MESSAGE_HEADER {
            continue;
        }
        let length = MESSAGE_HEADER + Cursor::new(&message[1..]).number(3).unwrap_or(usize::MAX);
        if message.len() == length {
            return Ok(message);
        }
        if message.len() > length {
            return Err(Unread::Malformed("more than a hello in its record"));
        }
    }
}

fn record<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], Unread> {
    let kind = cursor.number(1).ok_or(Unread::Incomplete)?;
    if kind != usize::from(HANDSHAKE) {
        return Err(Unread::Malformed(
            "another record before the end of the hello",
        ));
    }
    let major = cursor.number(1).ok_or(Unread::Incomplete)?;
    if major != MAJOR_VERSION {
        return Err(Unread::Malformed("no version of TLS"));
    }
    cursor.take(1).ok_or(Unread::Incomplete)?;
    let length = cursor.number(2).ok_or(Unread::Incomplete)?;
    if length == 0 || length > LARGEST {
        return Err(Unread::Malformed("a record of a wrong size"));
    }
    cursor.take(length).ok_or(Unread::Incomplete)
}
