//! Blind signatures: the server signs a message that it does not see (RSABSSA, RFC 9474). Privacy Pass issues
//! its publicly verifiable tokens so (RFC 9578).
//!
//! The client prepares its message and blinds it; the server signs what it gets; the client finalizes, and
//! has an ordinary PSS signature of the prepared message. The server cannot tell which request it came from.
//!
//! ```
//! use zariz::rsa::blind::{PrivateKey, Variant};
//!
//! # #[cfg(feature = "keygen")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = PrivateKey::generate(Variant::RECOMMENDED, 2048)?;
//!
//! let client = server.public_key(); // sent to the client
//! let prepared = client.variant().prepare(b"a token")?;
//! let blinded = client.blind(&prepared)?;
//!
//! let blind_signature = server.blind_sign(&blinded.message)?;
//!
//! let signature = client.finalize(&prepared, &blind_signature, &blinded.inverse)?;
//! client.verify(&prepared, &signature)?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "keygen"))]
//! # fn main() {}
//! ```
//!
//! # Keys
//! A key of a blind signer signs whatever it is sent. Used for anything else, or for two variants, it would
//! forge (RFC 9474 section 6.2). So [`PrivateKey`] and [`PublicKey`] are types of their own, each is for one
//! [`Variant`], and neither signs, verifies, encrypts or decrypts in any other way. Files of keys are marked
//! as id-RSASSA-PSS with the variant's hash and salt; a file cannot say "blind", so the caller must still
//! keep it apart from those of ordinary PSS keys.
//!
//! # What the client must know
//! A server can choose a false key by which it recognises messages that it can guess (section 7.3 of the
//! RFC). The randomized variants add 32 random bytes to the message against this. The deterministic ones are
//! safe only for messages that the server cannot guess, or if the key is known to be honest.
//!
//! Blinding and finalizing take time that depends on lengths and on the public key alone, like private
//! operations: the inverse too is computed in constant time.

mod client;
mod error;
mod private;
mod public;
#[cfg(test)]
mod tests;
mod variant;

pub use client::{Blinded, FinalizeJob, Inverse};
pub use error::Error;
pub use private::{BlindSignJob, PrivateKey, blind_sign_many};
pub use public::{PublicKey, Signed};
pub use variant::{UnknownVariant, Variant};
