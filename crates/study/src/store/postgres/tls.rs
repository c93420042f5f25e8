//! TLS as libpq's `sslmode` has it.
//!
//! ```text
//! disable       never
//! prefer        if the server offers it; nothing is verified (the default)
//! require       always; nothing is verified, unless sslrootcert is given: then as verify-ca
//! verify-ca     always; the certificate must be signed by a known authority
//! verify-full   always; and it must be for the host that was asked for
//! ```
//!
//! Known authorities are those in the PEM file `sslrootcert`, or the system's with `sslrootcert=system` or none. (libpq
//! without one looks in the user's home; this library reads no such place.) Over a Unix socket there is no TLS.

use std::str::FromStr;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslMode;

use crate::store::address::if_plain;

/// How much TLS is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Mode {
    /// What to ask of the server.
    pub fn negotiation(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => SslMode::Require,
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => {
                let text = if_plain(text);
                return Err(format!(
                    "has sslmode={text}; write disable, prefer, require, verify-ca or verify-full"
                ));
            }
        })
    }
}

/// The settings of TLS for a mode and an `sslrootcert`; on failure, what is wrong with the address.
pub(super) fn settings(mode: Mode, root: Option<&str>) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let refuse = |error: &dyn std::fmt::Display| format!("cannot be used with TLS: {error}");
    let algorithms = provider.signature_verification_algorithms;
    let verifier: Arc<dyn ServerCertVerifier> = match (mode, root) {
        (Mode::Disable | Mode::Prefer, _) | (Mode::Require, None) => {
            Arc::new(AnyHost { algorithms, authorities: None })
        }
        (Mode::Require | Mode::VerifyCa, root) => {
            let authorities = Some(known_authorities(root, &provider)?);
            Arc::new(AnyHost { algorithms, authorities })
        }
        (Mode::VerifyFull, root) => known_authorities(root, &provider)?,
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refuse(&error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

fn known_authorities(
    root: Option<&str>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, String> {
    let mut roots = RootCertStore::empty();
    match root {
        None | Some("system") => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(file) => {
            let refuse = |error: &dyn std::fmt::Display| {
                format!("has sslrootcert={}, which cannot be read: {error}", if_plain(file))
            };
            let certificates =
                CertificateDer::pem_file_iter(file).map_err(|error| refuse(&error))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| refuse(&error))?;
                roots.add(certificate).map_err(|error| refuse(&error))?;
            }
        }
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| {
            let file = root.unwrap_or("system");
            format!("has sslrootcert={}, which names no authority: {error}", if_plain(file))
        })
}

/// Takes a certificate whatever host it is for: one of a known authority or, where none are given, any. `prefer` and
/// `require` promise encryption, not who is at the other end.
#[derive(Debug)]
struct AnyHost {
    algorithms: WebPkiSupportedAlgorithms,
    authorities: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        // The host is looked at last, when everything else was found good.
        match authorities.verify_server_cert(certificate, intermediates, host, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
