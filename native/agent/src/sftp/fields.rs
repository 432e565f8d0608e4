//! The fields of a packet, in the order in which they are read: big-endian numbers, and strings of any bytes.

/// The packet is shorter than it announces.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

impl From<Malformed> for std::io::Error {
    fn from(_: Malformed) -> Self {
        std::io::ErrorKind::InvalidData.into()
    }
}

pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    pub fn string(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u32()? as usize;
        let (string, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(string)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (array, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*array)
    }
}
