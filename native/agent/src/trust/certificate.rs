//! The authority's certificate, as the service sends it.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::wire::fault::Fault;

const MAX_BYTES: usize = 16 << 10;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----\n";
const END: &str = "-----END CERTIFICATE-----\n";
const HASH_DIGITS: usize = 8;

pub struct Certificate {
    /// One block of PEM, with the newline at its end.
    pub pem: Vec<u8>,
    pub der: Vec<u8>,
    /// Hash of its subject, by which OpenSSL finds it in a folder of certificates.
    pub subject_hash: String,
}

impl Certificate {
    pub fn parse(pem: String, subject_hash: String) -> Result<Self, Fault> {
        let is_block = pem.starts_with(BEGIN) && pem.find(END) == pem.len().checked_sub(END.len());
        let der = der_of(pem.as_bytes());
        let Some(der) = der.filter(|_| is_block && pem.len() <= MAX_BYTES) else {
            return Err(Fault::invalid(
                "certificate",
                "It is not a certificate in PEM.",
            ));
        };
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if subject_hash.len() != HASH_DIGITS || !subject_hash.as_bytes().iter().all(is_digit) {
            return Err(Fault::invalid(
                "subject_hash",
                "A hash has eight hexadecimal digits.",
            ));
        }
        Ok(Self {
            pem: pem.into_bytes(),
            der,
            subject_hash,
        })
    }
}

/// The first certificate of a text in PEM.
pub fn der_of(pem: &[u8]) -> Option<Vec<u8>> {
    let certificate = CertificateDer::from_pem_slice(pem).ok()?;
    Some(certificate.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

    fn fault(pem: &str, hash: &str) -> Option<&'static str> {
        Certificate::parse(pem.to_owned(), hash.to_owned())
            .err()
            .and_then(|fault| fault.parameter)
    }

    #[test]
    fn one_block_with_a_hash_is_taken() {
        assert_eq!(fault(PEM, "0179095f"), None);
    }

    #[test]
    fn anything_else_is_refused_by_its_field() {
        let two = PEM.repeat(2);
        let long = PEM.replace("AAAA", &"A".repeat(16 << 10));
        let broken = PEM.replace("AAAA", "A*AA");
        for pem in [
            "",
            "AAAA",
            &PEM[1..],
            &PEM[..PEM.len() - 1],
            &two,
            &long,
            &broken,
        ] {
            assert_eq!(fault(pem, "0179095f"), Some("certificate"), "{pem}");
        }
        for hash in ["", "0179095", "0179095F", "../../ab", "0179095f0"] {
            assert_eq!(fault(PEM, hash), Some("subject_hash"), "{hash}");
        }
    }
}
