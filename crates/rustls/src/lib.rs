//! RSA signatures by zariz for [rustls], the TLS library: in the handshakes of servers, and of clients that
//! have a certificate.
//!
//! ```no_run
//! use rustls::ServerConfig;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (certificates, key) = (Vec::new(), rustls::pki_types::PrivateKeyDer::Pkcs8(Vec::new().into()));
//! # #[cfg(feature = "aws-lc-rs")] {
//! let provider = zariz_rustls::default_provider(); // or zariz_rustls::with(another provider)
//! let config = ServerConfig::builder_with_provider(provider.into())
//!     .with_safe_default_protocol_versions()?
//!     .with_no_client_auth()
//!     .with_single_cert(certificates, key)?;
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! [`with`] takes any [`CryptoProvider`] and replaces the loading of private keys: RSA keys become
//! [`SigningKey`]s of zariz, and all others go to the provider's own loader. Everything else, such as key
//! exchange, ciphers and the verification of certificates, stays with the provider.
//!
//! Signatures are PKCS#1 v1.5 (only in TLS 1.2) and PSS, with SHA-256, SHA-384 and SHA-512. Each is blinded
//! and checked, in constant time, as [`zariz::rsa`] says.
//!
//! # What it gains
//! rustls asks for a signature by a call that returns it: a thread that serves a connection, or the
//! executor's thread under an async server, waits until it is made. So with [`with`] each call computes one
//! signature, on the engine that is fastest for a single one.
//!
//! With [`with_batcher`], threads that sign at once share batches: those of a server with a thread for each
//! connection. An async server on one thread never has two signatures at once, so it gains nothing there.
#![forbid(unsafe_code)]
#![deny(clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod key;
mod provider;

pub use key::SigningKey;
#[cfg(feature = "aws-lc-rs")]
pub use provider::default_provider;
pub use provider::{KeyProvider, with, with_batcher};

#[cfg(doc)]
use rustls::crypto::CryptoProvider;
