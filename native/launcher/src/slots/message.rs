//! Requests of rtnetlink (rtnetlink(7)): a header, a fixed part, and attributes, each aligned to four bytes.

const HEADER_BYTES: usize = 16;
const ATTRIBUTE_HEADER_BYTES: usize = 4;
const ALIGNMENT: usize = 4;

pub struct Message(Vec<u8>);

impl Message {
    /// `fixed` is the part that the kind has before its attributes, such as an ifinfomsg.
    pub fn new(kind: u16, flags: u16, fixed: &[u8]) -> Self {
        let flags = flags | (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut bytes = vec![0; 4];
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]);
        let mut message = Message(bytes);
        message.part(fixed);
        message
    }

    pub fn attribute(mut self, kind: u16, value: &[u8]) -> Self {
        self.header(kind, value.len());
        self.part(value);
        self
    }

    /// An attribute that holds a fixed part, which may be empty, and attributes.
    pub fn nested(mut self, kind: u16, fixed: &[u8], fill: impl FnOnce(Self) -> Self) -> Self {
        let start = self.0.len();
        self.header(kind, 0);
        self.part(fixed);
        let mut filled = fill(self);
        let length = (filled.0.len() - start) as u16;
        filled.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        filled
    }

    /// Returns the bytes to send. The kernel's answer has the number.
    pub fn encode(mut self, number: u32) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0[8..12].copy_from_slice(&number.to_ne_bytes());
        self.0
    }

    fn header(&mut self, kind: u16, value_bytes: usize) {
        let length = (ATTRIBUTE_HEADER_BYTES + value_bytes) as u16;
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
    }

    fn part(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(ALIGNMENT), 0);
    }
}

/// Returns the number and the error of the kernel's answer to a request; error 0 means success.
pub fn parse_answer(bytes: &[u8]) -> Option<(u32, i32)> {
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let number = u32::from_ne_bytes(bytes.get(8..12)?.try_into().ok()?);
    let error = bytes.get(HEADER_BYTES..HEADER_BYTES + 4)?;
    (kind == libc::NLMSG_ERROR as u16)
        .then_some((number, -i32::from_ne_bytes(error.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn attributes_are_aligned_and_nested_ones_cover_their_contents() {
        let bytes = Message::new(16, 0, &[])
            .attribute(3, b"ab\0")
            .nested(18, &[7], |inner| inner.attribute(1, &[9, 9, 9, 9, 9]))
            .encode(5);
        let expected: &[u8] = &[
            [44, 0, 0, 0, 16, 0, 5, 0, 5, 0, 0, 0, 0, 0, 0, 0].as_slice(),
            &[7, 0, 3, 0, b'a', b'b', 0, 0],
            &[20, 0, 18, 0, 7, 0, 0, 0],
            &[9, 0, 1, 0, 9, 9, 9, 9, 9, 0, 0, 0],
        ]
        .concat();
        assert_eq!(bytes, expected);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn an_answer_has_a_number_and_an_error() {
        let mut answer = [0; 36];
        answer[4] = 2;
        answer[8] = 7;
        answer[16..20].copy_from_slice(&(-17_i32).to_ne_bytes());
        assert_eq!(parse_answer(&answer), Some((7, 17)));
        answer[4] = 3;
        assert_eq!(parse_answer(&answer), None);
        assert_eq!(parse_answer(&answer[..18]), None);
    }
}
