//! Accepts one client, the service: its certificate is from the service's authority and names the service alone.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme,
};
use std::sync::Arc;

use super::credentials::names_alone;

#[derive(Debug)]
pub struct ServiceAlone {
    /// Checks chain, dates and usage.
    chain: Arc<dyn ClientCertVerifier>,
    identity: String,
}

impl ServiceAlone {
    pub fn new(
        authority: RootCertStore,
        provider: &Arc<CryptoProvider>,
        identity: String,
    ) -> Result<Self, String> {
        let builder =
            WebPkiClientVerifier::builder_with_provider(Arc::new(authority), Arc::clone(provider));
        let chain = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { chain, identity })
    }
}

impl ClientCertVerifier for ServiceAlone {
    /// Strangers do not learn the name of the authority.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self
            .chain
            .verify_client_cert(certificate, intermediates, now)?;
        if !names_alone(certificate, &self.identity) {
            return Err(CertificateError::ApplicationVerificationFailure.into());
        }
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}
