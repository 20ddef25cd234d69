//! Signatures whose right answers are known: what concurrent tests make.

use std::ffi::c_int;

use super::ffi;
use super::key::Key;
use super::keys::{PEM_1024, PEM_2048, PEM_3072, native};
use super::operation::{Ctx, Operation, operate};
use super::params::Params;
use super::world::{Side, World};

/// A key to sign with by the provider under test, and a digest's signature as OpenSSL makes it.
pub struct Known<'w> {
    pub key: Key<'w>,
    digest: [u8; 32],
    signature: Vec<u8>,
}

impl<'w> Known<'w> {
    /// With a key in the provider under test.
    pub fn new(world: &'w World, pem: &[u8], number: u8) -> Self {
        Self::with(world, native(world, Side::Subject, pem), pem, number)
    }

    /// With a key in OpenSSL's own provider, as its decoders make them: the provider under test imports it
    /// when it is used.
    pub fn imported(world: &'w World, pem: &[u8], number: u8) -> Self {
        Self::with(world, native(world, Side::Reference, pem), pem, number)
    }

    fn with(world: &'w World, key: Key<'w>, pem: &[u8], number: u8) -> Self {
        let reference = native(world, Side::Reference, pem);
        let digest = [number; 32];
        let signature =
            operate(world, Side::Reference, &reference, Operation::Sign, &params(), &digest).expect("signed");
        Self { key, digest, signature }
    }

    /// Some, of keys of several sizes; the last is imported when it is used.
    pub fn several(world: &'w World) -> Vec<Self> {
        let pems = [PEM_2048, PEM_1024, PEM_2048, PEM_3072];
        let mut known: Vec<Self> = pems.iter().zip(1..).map(|(pem, number)| Self::new(world, pem, number)).collect();
        known.push(Self::imported(world, PEM_2048, 5));
        known
    }

    /// A context that signs.
    pub fn context(&'w self, world: &'w World) -> Ctx<'w> {
        Ctx::ready(world, Side::Subject, &self.key, Operation::Sign, &params()).expect("ready")
    }

    /// Signs in place, and returns what OpenSSL returns: 1 for success.
    pub fn sign_into(&self, ctx: *mut ffi::PkeyCtx, out: &mut [u8]) -> c_int {
        let mut size = out.len();
        // SAFETY: a live context, and as much space as it says.
        unsafe { ffi::EVP_PKEY_sign(ctx, out.as_mut_ptr(), &mut size, self.digest.as_ptr(), self.digest.len()) }
    }

    pub fn is(&self, signature: &[u8]) -> bool {
        self.signature == signature
    }

    pub fn size(&self) -> usize {
        self.signature.len()
    }

    /// Signs once, in a context of its own. Whether it is right.
    pub fn signs(&self, world: &World) -> bool {
        let signature = operate(world, Side::Subject, &self.key, Operation::Sign, &params(), &self.digest);
        signature.is_ok_and(|signature| self.is(&signature))
    }
}

fn params() -> Params {
    Params::new().text("digest", "SHA256")
}
