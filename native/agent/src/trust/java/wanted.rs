//! The certificate that a keystore must hold, and the entries that it replaces.

/// The name of the certificate in keystores, in which names have no case.
pub const ALIAS: &str = "sandhaven";

/// Certificates, in DER.
pub struct Wanted<'a> {
    pub certificate: &'a [u8],
    /// The earlier certificate, which it replaces.
    pub before: Option<&'a [u8]>,
}

/// Decision about an entry of a keystore.
#[derive(PartialEq)]
pub enum Fate {
    Stays,
    /// The entry is the wanted certificate, under any name.
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
