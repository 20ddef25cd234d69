//! Hash and mask-generation functions, from the RustCrypto crates.

use std::fmt;

use sha2::digest::{ExtendableOutput, FixedOutput, Update};
use zeroize::Zeroizing;

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-1: for old OAEP and PSS parameters only.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-512/224.
    Sha512_224,
    /// SHA-512/256.
    Sha512_256,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// SHAKE128 with 256 bits of output (RFC 8702).
    Shake128,
    /// SHAKE256 with 512 bits of output (RFC 8702).
    Shake256,
}

/// A mask-generation function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mgf {
    /// MGF1 of RFC 8017, with a hash.
    Mgf1(Hash),
    /// SHAKE128 itself (RFC 8702).
    Shake128,
    /// SHAKE256 itself (RFC 8702).
    Shake256,
}

impl Hash {
    /// Every hash.
    pub const ALL: &'static [Self] = &[
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha512_224,
        Self::Sha512_256,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Shake128,
        Self::Shake256,
    ];

    /// The standard's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA-1",
            Self::Sha224 => "SHA-224",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
            Self::Sha512_224 => "SHA-512/224",
            Self::Sha512_256 => "SHA-512/256",
            Self::Sha3_224 => "SHA3-224",
            Self::Sha3_256 => "SHA3-256",
            Self::Sha3_384 => "SHA3-384",
            Self::Sha3_512 => "SHA3-512",
            Self::Shake128 => "SHAKE128",
            Self::Shake256 => "SHAKE256",
        }
    }

    /// The length of a digest in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 | Self::Sha512_224 | Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha512_256 | Self::Sha3_256 | Self::Shake128 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 | Self::Shake256 => 64,
        }
    }

    /// The DER of the hash's algorithm identifier with its NULL, at the start of a `DigestInfo`; `None` where
    /// PKCS#1 v1.5 does not name the hash.
    pub(super) fn identifier(self) -> Option<&'static [u8]> {
        // SEQUENCE { SEQUENCE { the identifier }, OCTET STRING }, all of them shorter than 128 bytes.
        self.digest_info().map(|info| &info[2..4 + usize::from(info[3])])
    }

    /// Starts a digest that takes its message piece by piece.
    pub fn hasher(self) -> Hasher {
        Hasher::new(self)
    }

    /// The digest of the concatenation of `parts`.
    pub fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        let mut hasher = self.hasher();
        parts.iter().for_each(|part| hasher.update(part));
        hasher.finish()
    }

    /// The DER of `DigestInfo` up to the digest (RFC 8017 section 9.2 note 1; NIST's object identifiers for
    /// SHA-3); `None` where PKCS#1 v1.5 does not name the hash.
    pub fn digest_info(self) -> Option<&'static [u8]> {
        macro_rules! nist {
            // SEQUENCE { SEQUENCE { OID 2.16.840.1.101.3.4.2.$arc, NULL }, OCTET STRING of $size bytes }
            ($arc:literal, $size:literal) => {{
                const PREFIX: &[u8] = &[
                    0x30,
                    0x11 + $size,
                    0x30,
                    0x0d,
                    0x06,
                    0x09,
                    0x60,
                    0x86,
                    0x48,
                    0x01,
                    0x65,
                    0x03,
                    0x04,
                    0x02,
                    $arc,
                    0x05,
                    0x00,
                    0x04,
                    $size,
                ];
                PREFIX
            }};
        }
        const SHA1: &[u8] =
            &[0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14];
        Some(match self {
            Self::Sha1 => SHA1,
            Self::Sha256 => nist!(1, 32),
            Self::Sha384 => nist!(2, 48),
            Self::Sha512 => nist!(3, 64),
            Self::Sha224 => nist!(4, 28),
            Self::Sha512_224 => nist!(5, 28),
            Self::Sha512_256 => nist!(6, 32),
            Self::Sha3_224 => nist!(7, 28),
            Self::Sha3_256 => nist!(8, 32),
            Self::Sha3_384 => nist!(9, 48),
            Self::Sha3_512 => nist!(10, 64),
            Self::Shake128 | Self::Shake256 => return None,
        })
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Mgf {
    /// `out ← out ⊕ mask(seed)`. Masks are wiped: they hide plaintexts.
    pub(super) fn apply(self, seed: &[u8], out: &mut [u8]) {
        match self {
            Self::Mgf1(hash) => {
                for (counter, chunk) in out.chunks_mut(hash.size()).enumerate() {
                    let mask = Zeroizing::new(hash.digest(&[seed, &(counter as u32).to_be_bytes()]));
                    xor(chunk, &mask);
                }
            }
            Self::Shake128 => xor(out, &xof(shake::Shake128::default(), seed, out.len())),
            Self::Shake256 => xor(out, &xof(shake::Shake256::default(), seed, out.len())),
        }
    }
}

fn xor(out: &mut [u8], mask: &[u8]) {
    out.iter_mut().zip(mask).for_each(|(out, mask)| *out ^= mask);
}

fn xof(mut hash: impl ExtendableOutput, seed: &[u8], size: usize) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(vec![0; size]);
    hash.update(seed);
    hash.finalize_xof_into(&mut out);
    out
}

/// The bytes of the longest digest.
pub(super) const LONGEST: usize = 64;

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
            fn new(hash: Hash) -> Self {
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
                self.finish_into(&mut Zeroizing::new([0; _])).to_vec()
            }

            /// The digest of all pieces, at the front of `out`.
            pub(super) fn finish_into(self, out: &mut [u8; LONGEST]) -> &[u8] {
                match self.0 {
                    $(State::$fixed(state) => {
                        let out = &mut out[..Hash::$fixed.size()];
                        out.copy_from_slice(&Zeroizing::new(<[u8; _]>::from(state.finalize_fixed()))[..]);
                        out
                    })*
                    $(State::$any(state) => {
                        let out = &mut out[..Hash::$any.size()];
                        state.finalize_xof_into(out);
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
