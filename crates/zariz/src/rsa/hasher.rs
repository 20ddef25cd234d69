//! Digests of messages in pieces.

use std::fmt;

use sha2::digest::{ExtendableOutput, FixedOutput, Update};
use zeroize::Zeroizing;

use super::hash::Hash;

/// A digest under way, from [`Hash::hasher`]: for messages too long to hold in memory.
#[derive(Clone)]
pub struct Hasher(State);

impl fmt::Debug for Hasher {
    /// Shows nothing of what was hashed: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Hasher").finish_non_exhaustive()
    }
}

/// One state for each hash: those with a digest of fixed length, and those with one of any length, which is
/// cut.
macro_rules! hashers {
    ($($fixed:ident: $fixed_state:ty,)*; $($any:ident: $any_state:ty,)*) => {
        #[derive(Clone)]
        enum State {
            $($fixed($fixed_state),)*
            $($any($any_state),)*
        }

        impl Hasher {
            pub(super) fn new(hash: Hash) -> Self {
                Self(match hash {
                    $(Hash::$fixed => State::$fixed(Default::default()),)*
                    $(Hash::$any => State::$any(Default::default()),)*
                })
            }

            /// Adds the next piece of the message.
            pub fn update(&mut self, bytes: &[u8]) {
                match &mut self.0 {
                    $(State::$fixed(state) => state.update(bytes),)*
                    $(State::$any(state) => state.update(bytes),)*
                }
            }

            /// The digest of all pieces, of [`Hash::size`] bytes.
            pub fn finish(self) -> Vec<u8> {
                match self.0 {
                    $(State::$fixed(state) => Zeroizing::new(<[u8; _]>::from(state.finalize_fixed())).to_vec(),)*
                    $(State::$any(state) => {
                        let mut out = vec![0; Hash::$any.size()];
                        state.finalize_xof_into(&mut out);
                        out
                    })*
                }
            }
        }
    };
}

hashers! {
    Sha1: sha1::Sha1,
    Sha224: sha2::Sha224,
    Sha256: sha2::Sha256,
    Sha384: sha2::Sha384,
    Sha512: sha2::Sha512,
    Sha512_224: sha2::Sha512_224,
    Sha512_256: sha2::Sha512_256,
    Sha3_224: sha3::Sha3_224,
    Sha3_256: sha3::Sha3_256,
    Sha3_384: sha3::Sha3_384,
    Sha3_512: sha3::Sha3_512,
    ;
    Shake128: shake::Shake128,
    Shake256: shake::Shake256,
}
