//! The authority of one sandbox, and the certificates that it signs: one for each server name, kept for a while.

use super::day::{date, today};
use super::hidden::Hidden;
use crate::bounds::LEAFS;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::crypto::ring::sign::any_ecdsa_type;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::Zeroizing;

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Key of all its leaf certificates.
    key: KeyPair,
    signing: Arc<dyn SigningKey>,
    leafs: Mutex<HashMap<String, Leaf>>,
}

struct Leaf {
    made_on: u64,
    used: u64,
    certified: Arc<CertifiedKey>,
}

/// The sandbox has the same clock, but its time zone may be wrong.
const DAYS_BEFORE: u64 = 2;
const DAYS_AFTER: u64 = 30;
const SUBJECT: &str = "Opened by Sandhaven";

impl Authority {
    /// The key is base64 of PKCS #8; the subject is the common name of the certificate that the sandbox trusts.
    pub fn new(key: &Hidden, subject: &str) -> Result<Authority, String> {
        let wrong = |_| "the authority has no key on P-256".to_string();
        let der = Zeroizing::new(
            BASE64_STANDARD
                .decode(key.as_bytes())
                .map_err(|_| "the key of the authority is no base64".to_string())?,
        );
        let pkcs8 = PrivatePkcs8KeyDer::from(der.as_slice());
        let signer = KeyPair::from_pkcs8_der_and_sign_algo(&pkcs8, &rcgen::PKCS_ECDSA_P256_SHA256)
            .map_err(wrong)?;
        let mut params = CertificateParams::default();
        params.distinguished_name = named(subject);
        let key = KeyPair::generate().map_err(wrong)?;
        let leaf = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let signing = any_ecdsa_type(&leaf).map_err(|error| error.to_string())?;
        Ok(Authority {
            issuer: Issuer::new(params, signer),
            key,
            signing,
            leafs: Mutex::default(),
        })
    }

    /// Returns a certificate for this name. None for a name that no certificate can hold.
    pub fn leaf(&self, name: &str) -> Option<Arc<CertifiedKey>> {
        let today = today();
        let mut leafs = self.leafs.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = leafs.values().map(|leaf| leaf.used).max().unwrap_or(0);
        if let Some(leaf) = leafs.get_mut(name).filter(|leaf| leaf.made_on == today) {
            leaf.used = newest + 1;
            return Some(leaf.certified.clone());
        }
        let certified = Arc::new(self.sign(name, today)?);
        if leafs.len() >= LEAFS && !leafs.contains_key(name) {
            let oldest = leafs.iter().min_by_key(|(_, leaf)| leaf.used);
            let oldest = oldest.map(|(name, _)| name.clone()).unwrap_or_default();
            leafs.remove(&oldest);
        }
        let leaf = Leaf {
            made_on: today,
            used: newest + 1,
            certified: certified.clone(),
        };
        leafs.insert(name.to_owned(), leaf);
        Some(certified)
    }

    fn sign(&self, name: &str, today: u64) -> Option<CertifiedKey> {
        let day = |days| {
            let (year, month, day) = date(days);
            date_time_ymd(year, month, day)
        };
        let mut params = CertificateParams::new([name.to_owned()]).ok()?;
        params.distinguished_name = named(SUBJECT);
        params.not_before = day(today.saturating_sub(DAYS_BEFORE));
        params.not_after = day(today + DAYS_AFTER);
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&self.key, &self.issuer).ok()?;
        let chain = vec![certificate.der().clone()];
        Some(CertifiedKey::new(chain, self.signing.clone()))
    }
}

fn named(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority() -> Authority {
        let key = KeyPair::generate().unwrap().serialize_der();
        Authority::new(
            &Hidden::from(BASE64_STANDARD.encode(key)),
            "Sandhaven sandbox sb_1",
        )
        .unwrap()
    }

    #[test]
    fn a_leaf_is_kept_for_its_name() {
        let authority = authority();
        let leaf = authority.leaf("api.example.com").unwrap();
        assert!(Arc::ptr_eq(
            &leaf,
            &authority.leaf("api.example.com").unwrap()
        ));
        assert!(!Arc::ptr_eq(
            &leaf,
            &authority.leaf("b.example.com").unwrap()
        ));
    }

    #[test]
    fn the_leaf_that_is_used_least_lately_makes_room() {
        let authority = authority();
        let kept = authority.leaf("kept.example").unwrap();
        let gone = authority.leaf("gone.example").unwrap();
        for number in 0..63 {
            authority.leaf("kept.example").unwrap();
            authority.leaf(&format!("n{number}.example")).unwrap();
        }
        assert_eq!(authority.leafs.lock().unwrap().len(), 64);
        assert!(Arc::ptr_eq(&kept, &authority.leaf("kept.example").unwrap()));
        assert!(!Arc::ptr_eq(
            &gone,
            &authority.leaf("gone.example").unwrap()
        ));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for key in ["", "no base64!", "AAAA"] {
            assert!(Authority::new(&Hidden::from(key.to_owned()), "x").is_err());
        }
    }
}
