//! How a digest, or other data in its place, becomes the number that is signed, and back.

use std::ffi::CStr;

use zariz::rsa::hazmat::{pkcs1v15, pss};
use zariz::rsa::{Hash, Mgf};

use crate::digest::{Digest, Kind};
use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::params::Built;
use crate::padding::{PAD_MODE, Padding};
use crate::salt::Salt;

/// Parameters.
pub const DIGEST: &CStr = c"digest";
pub const MGF1_DIGEST: &CStr = c"mgf1-digest";
pub const SALTLEN: &CStr = c"saltlen";

/// Padding, digests and salt.
#[derive(Clone)]
pub struct Scheme {
    pub padding: Padding,
    /// Without a digest, the data is signed unchanged.
    pub digest: Option<Digest>,
    /// The digest of the mask, if it is not that of the message.
    pub mgf1: Option<Digest>,
    pub salt: Salt,
}

/// A key's lengths.
#[derive(Clone, Copy)]
pub struct Lengths {
    pub bits: usize,
    /// In bytes.
    pub size: usize,
}

impl Scheme {
    /// PKCS#1 v1.5 without a digest.
    pub fn new(salt: Salt) -> Self {
        Self { padding: Padding::Pkcs1, digest: None, mgf1: None, salt }
    }

    /// The digest of the mask.
    pub fn mgf1(&self) -> Option<&Digest> {
        self.mgf1.as_ref().or(self.digest.as_ref())
    }

    /// The hash and mask of PSS, if zariz supports them.
    fn pss(&self) -> Option<(Hash, Mgf)> {
        Some((self.digest.as_ref()?.hash()?, Mgf::Mgf1(self.mgf1()?.hash()?)))
    }

    /// Checks the digest's length.
    fn check_digest(&self, digest: &[u8]) -> Outcome {
        let expected = self.digest.as_ref().map_or(digest.len(), |digest| digest.md.size());
        if digest.len() == expected {
            return Ok(());
        }
        Err(Failure::new(
            Reason::Length,
            format!("the digest has {} bytes; it should have {expected}", digest.len()),
        ))
    }

    /// The number that is raised to `d`; `None` if zariz does not support the scheme.
    pub fn encode(&self, digest: &[u8], key: Lengths) -> Outcome<Option<Vec<u8>>> {
        self.check_digest(digest)?;
        let kind = self.digest.as_ref().map(|digest| digest.kind);
        let block = match (self.padding, kind) {
            (Padding::Pkcs1, None) => pkcs1v15::pad_signature(&[digest], key.size)?,
            (Padding::Pkcs1, Some(Kind::Prefix(prefix))) => {
                pkcs1v15::pad_signature(&[prefix, digest], key.size)?
            }
            (Padding::Pkcs1, Some(Kind::Hash(hash))) => match hash.digest_info() {
                Some(prefix) => pkcs1v15::pad_signature(&[prefix, digest], key.size)?,
                None => return Ok(None),
            },
            (Padding::None, None) if digest.len() == key.size => digest.to_vec(),
            (Padding::None, None) => {
                let (size, given) = (key.size, digest.len());
                let text = format!("{given} bytes given; without padding the key takes exactly {size}");
                return Err(Failure::new(Reason::Length, text));
            }
            (Padding::Pss, Some(_)) => match self.pss() {
                Some((hash, mgf)) => {
                    let salt = self.salt.to_sign(hash, key.bits)?;
                    pss::encode(hash, mgf, salt, digest, key.bits)?
                }
                None => return Ok(None),
            },
            (Padding::X931, _) => return Ok(None),
            (Padding::Pkcs1, Some(Kind::Foreign)) => return Ok(None),
            _ => return Err(self.does_not_fit()),
        };
        Ok(Some(block))
    }

    /// Whether zariz can verify signatures and recover signed data.
    pub fn decodes(&self) -> bool {
        match (self.padding, self.digest.as_ref().map(|digest| digest.kind)) {
            (Padding::Pkcs1, kind) => kind != Some(Kind::Foreign),
            (Padding::Pss, Some(_)) => self.pss().is_some(),
            (padding, _) => padding != Padding::X931,
        }
    }

    /// Checks that `block`, an opened signature, is that of the digest.
    pub fn check(&self, mut block: Vec<u8>, digest: &[u8], key: Lengths) -> Outcome {
        self.check_digest(digest)?;
        if let (Padding::Pss, Some((hash, mgf))) = (self.padding, self.pss()) {
            let salt = self.salt.to_verify(hash, key.bits)?;
            return Ok(pss::verify(hash, mgf, salt, digest, &mut block, key.bits)?);
        }
        if self.recover(&block)? == digest { Ok(()) } else { Err(bad_signature()) }
    }

    /// The signed data inside an opened signature: the digest, or other data in its place.
    pub fn recover<'a>(&self, block: &'a [u8]) -> Outcome<&'a [u8]> {
        let prefix = match (self.padding, self.digest.as_ref().map(|digest| digest.kind)) {
            (Padding::None, None) => return Ok(block),
            (Padding::Pkcs1, None) => &[],
            (Padding::Pkcs1, Some(Kind::Prefix(prefix))) => prefix,
            (Padding::Pkcs1, Some(Kind::Hash(hash))) => hash.digest_info().ok_or_else(bad_signature)?,
            _ => return Err(self.does_not_fit()),
        };
        let payload = pkcs1v15::unpad_signature_vartime(block)?;
        let digest = payload.strip_prefix(prefix).ok_or_else(bad_signature)?;
        self.check_digest(digest).map_err(|_| bad_signature())?;
        Ok(digest)
    }

    fn does_not_fit(&self) -> Failure {
        let text = match self.padding {
            Padding::Oaep | Padding::Tls => "this padding is for encryption",
            Padding::Pss => "PSS is for signing and verifying digests",
            _ => "with a digest, only X.931, PKCS#1 v1.5 and PSS padding are allowed",
        };
        Failure::new(Reason::Padding, text)
    }

    /// The scheme's parameters, for OpenSSL.
    pub fn parameters(&self) -> Built {
        let mut out = Built::default();
        out.int(PAD_MODE, self.padding as i32);
        if let Some(digest) = &self.digest {
            out.text(DIGEST, &digest.name);
        }
        if self.padding == Padding::Pss {
            if let Some(mgf1) = &self.mgf1 {
                out.text(MGF1_DIGEST, &mgf1.name);
            }
            out.int(SALTLEN, self.salt.number());
        }
        out
    }
}

/// For a signature that is not that of the digest, or no signature at all.
pub fn bad_signature() -> Failure {
    Failure::new(Reason::Signature, "the signature does not verify")
}
