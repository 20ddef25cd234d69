//! Digests by OpenSSL's names, and how zariz signs them.

use zariz::rsa::Hash;

use crate::failure::{Failure, Outcome, Reason};
use crate::openssl::{Md, OpenSsl};

/// A name of this length or longer is an error.
const MAX_NAME: usize = 50;

/// How zariz signs a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As one of its own hashes.
    Hash(Hash),
    /// Only with PKCS#1 v1.5, by the digest's prefix.
    Prefix(&'static [u8]),
    /// Not at all: OpenSSL does.
    Foreign,
}

/// The bytes of MD5's `DigestInfo` before the digest (RFC 8017 section 9.2 note 1).
const MD5: &[u8] = &[
    0x30, 0x20, 0x30, 0x0c, 0x06, 0x08, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x05, 0x05, 0x00, 0x04,
    0x10,
];
/// The bytes of RIPEMD-160's `DigestInfo` before the digest (1.3.36.3.2.1).
const RIPEMD160: &[u8] =
    &[0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x24, 0x03, 0x02, 0x01, 0x05, 0x00, 0x04, 0x14];
/// MD5-SHA1 has no prefix: TLS up to 1.1 signs two digests without a name.
const NONE: &[u8] = &[];

/// The digests that RSA signs, by OpenSSL's main names.
const SIGNED: &[(&str, Kind)] = &[
    ("SHA1", Kind::Hash(Hash::Sha1)),
    ("SHA2-224", Kind::Hash(Hash::Sha224)),
    ("SHA2-256", Kind::Hash(Hash::Sha256)),
    ("SHA2-384", Kind::Hash(Hash::Sha384)),
    ("SHA2-512", Kind::Hash(Hash::Sha512)),
    ("SHA2-512/224", Kind::Hash(Hash::Sha512_224)),
    ("SHA2-512/256", Kind::Hash(Hash::Sha512_256)),
    ("SHA3-224", Kind::Hash(Hash::Sha3_224)),
    ("SHA3-256", Kind::Hash(Hash::Sha3_256)),
    ("SHA3-384", Kind::Hash(Hash::Sha3_384)),
    ("SHA3-512", Kind::Hash(Hash::Sha3_512)),
    ("MD5", Kind::Prefix(MD5)),
    ("MD5-SHA1", Kind::Prefix(NONE)),
    ("RIPEMD-160", Kind::Prefix(RIPEMD160)),
    ("MD4", Kind::Foreign),
    ("MDC2", Kind::Foreign),
];

/// The digest that a program chose.
#[derive(Clone)]
pub struct Digest {
    /// The program's name for it.
    pub name: String,
    /// OpenSSL's implementation.
    pub md: Md,
    /// How zariz signs it.
    pub kind: Kind,
}

impl Digest {
    /// Finds the digest by its name.
    pub fn fetch(openssl: &OpenSsl, name: &str, properties: Option<&str>) -> Outcome<Self> {
        if name.len() >= MAX_NAME {
            return Err(Failure::new(Reason::Digest, "the digest's name is too long"));
        }
        let md = Md::fetch(openssl, name, properties)?;
        let known = SIGNED.iter().find(|(known, _)| md.name().eq_ignore_ascii_case(known));
        let kind = known.map_or(Kind::Foreign, |&(_, kind)| kind);
        Ok(Self { name: name.to_owned(), md, kind })
    }

    /// Whether RSA signs it in every version of OpenSSL. OpenSSL decides about others.
    pub fn is_signed(&self) -> bool {
        SIGNED.iter().any(|(known, _)| self.md.name().eq_ignore_ascii_case(known))
    }

    /// zariz's hash, if zariz has it.
    pub fn hash(&self) -> Option<Hash> {
        match self.kind {
            Kind::Hash(hash) => Some(hash),
            _ => None,
        }
    }

    /// Whether OpenSSL has the same main name for both.
    pub fn same(&self, other: &Self) -> bool {
        self.md.name() == other.md.name()
    }
}
