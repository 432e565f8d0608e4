//! A placeholder, and the value that takes its place.

use memchr::memmem::find;
use zeroize::Zeroizing;

#[derive(Clone, Copy)]
pub struct Swap<'a> {
    pub placeholder: &'a str,
    pub value: &'a str,
}

impl Swap<'_> {
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        find(bytes, self.placeholder.as_bytes()).is_some()
    }

    /// Returns the bytes with the value in place of each placeholder; None without a placeholder.
    pub fn replaced(&self, bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let placeholder = self.placeholder.as_bytes();
        let mut at = find(bytes, placeholder)?;
        let mut rest = bytes;
        let mut out = Zeroizing::new(Vec::with_capacity(self.longest(bytes)));
        loop {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(self.value.as_bytes());
            rest = &rest[at + placeholder.len()..];
            match find(rest, placeholder) {
                Some(next) => at = next,
                None => break,
            }
        }
        out.extend_from_slice(rest);
        Some(out)
    }

    /// Growing memory would leave copies.
    fn longest(&self, bytes: &[u8]) -> usize {
        let most = bytes.len() / self.placeholder.len();
        bytes.len() + most * self.value.len()
    }
}
