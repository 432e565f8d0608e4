//! The cryptography of this agent's TLS: one kind of key and signature (P-256), one exchange of keys (X25519), two
//! ciphers. Both ends are the installation's own, so nothing else is needed, or compiled in.

use rustix::rand::{GetRandomFlags, getrandom};
use rustls::crypto::ring::cipher_suite::{
    TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256,
};
use rustls::crypto::ring::kx_group::X25519;
use rustls::crypto::ring::sign::any_ecdsa_type;
use rustls::crypto::{
    CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom, WebPkiSupportedAlgorithms,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme};
use std::sync::Arc;
use webpki::ring::ECDSA_P256_SHA256;

static SIGNATURES: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[ECDSA_P256_SHA256],
    mapping: &[(SignatureScheme::ECDSA_NISTP256_SHA256, &[ECDSA_P256_SHA256])],
};

pub fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256],
        kx_groups: vec![X25519],
        signature_verification_algorithms: SIGNATURES,
        secure_random: &Kernel,
        key_provider: &EcdsaKeys,
    }
}

#[derive(Debug)]
struct Kernel;

impl SecureRandom for Kernel {
    fn fill(&self, mut rest: &mut [u8]) -> Result<(), GetRandomFailed> {
        while !rest.is_empty() {
            let filled =
                getrandom(&mut *rest, GetRandomFlags::empty()).map_err(|_| GetRandomFailed)?;
            rest = &mut rest[filled..];
        }
        Ok(())
    }
}

#[derive(Debug)]
struct EcdsaKeys;

impl KeyProvider for EcdsaKeys {
    fn load_private_key(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        any_ecdsa_type(&key)
    }
}
