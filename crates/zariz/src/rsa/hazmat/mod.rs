//! The parts of RSA: paddings without the operation, and the operation without a padding.
//!
//! This is for programs that do one of the two themselves, such as a provider for OpenSSL or a hardware
//! module's driver. Every other program uses [`PrivateKey`](super::PrivateKey) and
//! [`PublicKey`](super::PublicKey).
//!
//! **Hazardous material.** Nothing here is secure alone:
//!
//! * A number that [`primitive`] computes is neither a signature nor a ciphertext. Without a padding,
//!   signatures can be multiplied to forge others, and short messages can be read from their ciphertexts.
//! * A program that shows whether the padding of a ciphertext was bad lets an attacker decrypt
//!   (Bleichenbacher's and Manger's attacks). Errors, alerts and the time it takes can all show it.
//! * Nothing here looks at [`PublicKey::usage`](super::PublicKey::usage): the caller must call
//!   [`Usage::allows`](super::Usage::allows) or
//!   [`Usage::allows_encryption`](super::Usage::allows_encryption).

pub mod oaep;
pub mod pkcs1v15;
pub mod premaster;
pub mod primitive;
pub mod pss;
