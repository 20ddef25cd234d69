//! Signatures for concurrent tests. Each is of a different digest, so a signature that went to another
//! request is noticed.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ffi;
use super::key::Key;
use super::keys::{PEM_1024, PEM_2048, PEM_3072, native};
use super::operation::{Ctx, Operation, operate, verify};
use super::params::Params;
use super::world::{Side, World};

/// A digest that is signed only once.
pub type Digest = [u8; 32];

/// A key to sign with in the provider under test, and to verify with in OpenSSL's.
pub struct Known<'w> {
    pub key: Key<'w>,
    reference: Key<'w>,
    world: &'w World,
    /// Part of all of its digests.
    number: u8,
    /// How many digests were made.
    digests: AtomicU64,
}

impl<'w> Known<'w> {
    /// With a key in the provider under test.
    pub fn new(world: &'w World, pem: &[u8], number: u8) -> Self {
        Self::with(world, native(world, Side::Subject, pem), pem, number)
    }

    /// With a key in OpenSSL's own provider, where its decoders put it. The provider under test imports the
    /// key when it is used.
    pub fn imported(world: &'w World, pem: &[u8], number: u8) -> Self {
        Self::with(world, native(world, Side::Reference, pem), pem, number)
    }

    fn with(world: &'w World, key: Key<'w>, pem: &[u8], number: u8) -> Self {
        let reference = native(world, Side::Reference, pem);
        Self { key, reference, world, number, digests: AtomicU64::new(0) }
    }

    /// Keys of several sizes. The last is imported when it is used.
    pub fn several(world: &'w World) -> Vec<Self> {
        let pems = [PEM_2048, PEM_1024, PEM_2048, PEM_3072];
        let mut known: Vec<Self> =
            pems.iter().zip(1..).map(|(pem, number)| Self::new(world, pem, number)).collect();
        known.push(Self::imported(world, PEM_2048, 5));
        known
    }

    /// A context for signing.
    pub fn context(&'w self, world: &'w World) -> Ctx<'w> {
        Ctx::ready(world, Side::Subject, &self.key, Operation::Sign, &params()).expect("ready")
    }

    /// A digest for the next signature.
    pub fn digest(&self) -> Digest {
        let mut digest = [self.number; 32];
        digest[..8].copy_from_slice(&self.digests.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        digest
    }

    /// Whether OpenSSL accepts this as the digest's signature.
    pub fn is(&self, digest: &Digest, signature: &[u8]) -> bool {
        verify(self.world, Side::Reference, &self.reference, &params(), signature, digest).is_ok()
    }

    pub fn size(&self) -> usize {
        self.reference.size()
    }

    /// Signs once, in a new context. Returns whether the signature is right.
    pub fn signs(&self, world: &World) -> bool {
        let digest = self.digest();
        let signature = operate(world, Side::Subject, &self.key, Operation::Sign, &params(), &digest);
        signature.is_ok_and(|signature| self.is(&digest, &signature))
    }
}

/// Signs into a buffer, and returns OpenSSL's result: 1 for success.
pub fn sign_into(ctx: *mut ffi::PkeyCtx, digest: &Digest, out: &mut [u8]) -> c_int {
    let mut size = out.len();
    // SAFETY: a live context; the buffer has the given length.
    unsafe { ffi::EVP_PKEY_sign(ctx, out.as_mut_ptr(), &mut size, digest.as_ptr(), digest.len()) }
}

fn params() -> Params {
    Params::new().text("digest", "SHA256")
}
