//! The certificate that a keystore is to hold, and the entries that go for it.

/// The name of the certificate in keystores, in which names have no case.
pub const ALIAS: &str = "sandhaven";

/// Certificates, in DER.
pub struct Wanted<'a> {
    pub certificate: &'a [u8],
    /// The one that had its part before.
    pub before: Option<&'a [u8]>,
}

/// Of an entry of a keystore.
#[derive(PartialEq)]
pub enum Fate {
    Stays,
    /// It is the wanted one, by whatever name.
    IsWanted,
    Goes,
}

impl Wanted<'_> {
    pub fn fate(&self, has_alias: bool, certificate: &[u8]) -> Fate {
        if certificate == self.certificate {
            Fate::IsWanted
        } else if has_alias || self.before == Some(certificate) {
            Fate::Goes
        } else {
            Fate::Stays
        }
    }
}
