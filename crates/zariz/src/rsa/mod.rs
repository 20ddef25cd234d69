//! RSA: keys, signatures and decryption, one at a time or in batches.
//!
//! A private operation is two powers, modulo p and q. A batch has one request for each lane of the engine;
//! with fewer, the two powers of a request share the lanes. Requests of several keys may share a batch
//! ([`sign_many`]). Every private operation is blinded, and its result is checked with the public exponent
//! before it is returned.
//!
//! ```
//! use zariz::rsa::{Algorithm, PrivateKey};
//!
//! # #[cfg(feature = "keygen")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = PrivateKey::generate(2048)?;
//! let messages: [&[u8]; 2] = [b"first", b"second"];
//! for (message, signature) in messages.iter().zip(key.sign_batch(Algorithm::RS256, &messages)) {
//!     key.public_key().verify(Algorithm::RS256, message, &signature?)?;
//! }
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "keygen"))]
//! # fn main() {}
//! ```

mod algorithm;
pub mod blind;
mod blinding;
mod components;
mod decrypt;
mod encoding;
mod encrypt;
mod error;
#[cfg(feature = "keygen")]
mod generate;
mod hash;
pub mod hazmat;
mod mask;
mod message;
mod missing;
mod names;
mod other_format;
mod parse;
mod private;
mod private_op;
mod pss_parameters;
mod public;
mod public_op;
mod recover;
mod secrets;
mod sign;
mod traits;
mod usage;
mod validate;
mod verify;

pub use algorithm::{Algorithm, Padding, UnknownAlgorithm};
pub use components::{Components, CrtComponents, PrimeComponents};
pub use decrypt::{DecryptJob, decrypt_many};
#[cfg(feature = "batcher")]
pub(crate) use decrypt::{check_ciphertext, decode};
pub use error::{Error, KeyError};
#[cfg(feature = "keygen")]
pub use generate::{KeyGenerator, KeyMethod, Keys};
pub use hash::{Hash, Hasher, Mgf};
pub use message::Message;
pub use other_format::OtherFormat;
pub use private::PrivateKey;
pub use private_op::check_failures;
pub use pss_parameters::PssParameters;
pub use public::PublicKey;
#[cfg(feature = "batcher")]
pub(crate) use sign::encoded;
pub use sign::{SignJob, sign_many};
pub use traits::{Signature, SigningKey, VerifyingKey};
pub use usage::Usage;
pub use verify::{Signed, VerifyJob, verify_many};
