//! Signatures of messages: `EVP_DigestSign` and `EVP_DigestVerify`, in one call or several.

use std::collections::BTreeMap;
use std::ffi::{CString, c_uint};
use std::marker::PhantomData;
use std::ptr;

use super::call;
use super::failure::Failure;
use super::ffi;
use super::key::Key;
use super::operation::{get, set};
use super::params::{Params, Reading, names};
use super::world::{Side, World, text};

/// A message that is being signed or verified.
#[derive(Debug)]
pub struct Stream<'k> {
    ctx: *mut ffi::MdCtx,
    of: PhantomData<&'k ()>,
}

// SAFETY: a context may be passed to another thread.
unsafe impl Send for Stream<'_> {}

impl<'k> Stream<'k> {
    /// A context for neither yet.
    pub fn empty() -> Self {
        // SAFETY: no arguments.
        let ctx = unsafe { ffi::EVP_MD_CTX_new() };
        assert!(!ctx.is_null());
        Self { ctx, of: PhantomData }
    }

    /// A message to sign. Without a digest's name, the key's default is used.
    pub fn sign(
        world: &'k World,
        side: Side,
        key: &'k Key,
        digest: Option<&str>,
        params: &Params,
    ) -> Result<Self, Failure> {
        let stream = Self::empty();
        stream.init(world, side, key, digest, params, true)?;
        Ok(stream)
    }

    /// A message to verify.
    pub fn verify(
        world: &'k World,
        side: Side,
        key: &'k Key,
        digest: Option<&str>,
        params: &Params,
    ) -> Result<Self, Failure> {
        let stream = Self::empty();
        stream.init(world, side, key, digest, params, false)?;
        Ok(stream)
    }

    /// Initialises the context, also again.
    pub fn init(
        &self,
        world: &'k World,
        side: Side,
        key: &'k Key,
        digest: Option<&str>,
        params: &Params,
        sign: bool,
    ) -> Result<(), Failure> {
        let digest = digest.map(|digest| CString::new(digest).expect("a name"));
        let digest = digest.as_ref().map_or(ptr::null(), |digest| digest.as_ptr());
        let (query, list) = (side.query().as_ptr(), params.list());
        let (none, context) = (ptr::null_mut(), world.context());
        if sign {
            call!(EVP_DigestSignInit_ex(self.ctx, none, digest, context, query, key.raw(), list.as_ptr()))
        } else {
            call!(EVP_DigestVerifyInit_ex(self.ctx, none, digest, context, query, key.raw(), list.as_ptr()))
        }?;
        // SAFETY: a live context that is initialised: it has a provider, which has a name.
        let provider =
            unsafe { text(ffi::OSSL_PROVIDER_get0_name(ffi::EVP_PKEY_CTX_get0_provider(self.pkey_ctx()))) };
        assert_eq!(provider, Some(side.provider()), "who signs or verifies");
        Ok(())
    }

    fn pkey_ctx(&self) -> *mut ffi::PkeyCtx {
        // SAFETY: a live context.
        unsafe { ffi::EVP_MD_CTX_get_pkey_ctx(self.ctx) }
    }

    pub fn set(&self, params: &Params) -> Result<(), Failure> {
        set(self.pkey_ctx(), params)
    }

    pub fn get(&self, name: &str, data_type: c_uint, size: usize) -> Option<Reading> {
        get(self.pkey_ctx(), name, data_type, size)
    }

    pub fn gettable(&self) -> BTreeMap<String, c_uint> {
        // SAFETY: a live context; the list is the provider's.
        unsafe { names(ffi::EVP_PKEY_CTX_gettable_params(self.pkey_ctx())) }
    }

    pub fn settable(&self) -> BTreeMap<String, c_uint> {
        // SAFETY: a live context; the list is the provider's.
        unsafe { names(ffi::EVP_PKEY_CTX_settable_params(self.pkey_ctx())) }
    }

    /// Adds a piece of the message to sign.
    pub fn signs(&self, message: &[u8]) -> Result<(), Failure> {
        call!(EVP_DigestSignUpdate(self.ctx, message.as_ptr().cast(), message.len()))
    }

    /// Adds a piece of the message to verify.
    pub fn verifies(&self, message: &[u8]) -> Result<(), Failure> {
        call!(EVP_DigestVerifyUpdate(self.ctx, message.as_ptr().cast(), message.len()))
    }

    /// The signature of all pieces.
    pub fn signature(&self) -> Result<Vec<u8>, Failure> {
        let mut size = 0;
        call!(EVP_DigestSignFinal(self.ctx, ptr::null_mut(), &mut size))?;
        let mut signature = vec![0; size];
        call!(EVP_DigestSignFinal(self.ctx, signature.as_mut_ptr(), &mut size))?;
        signature.truncate(size);
        Ok(signature)
    }

    /// Checks that this is the signature of all pieces.
    pub fn is_signed(&self, signature: &[u8]) -> Result<(), Failure> {
        call!(EVP_DigestVerifyFinal(self.ctx, signature.as_ptr(), signature.len()))
    }

    /// The signature of a message in one call.
    pub fn signature_of(&self, message: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut size = 0;
        let (data, length) = (message.as_ptr(), message.len());
        call!(EVP_DigestSign(self.ctx, ptr::null_mut(), &mut size, data, length))?;
        let mut signature = vec![0; size];
        call!(EVP_DigestSign(self.ctx, signature.as_mut_ptr(), &mut size, data, length))?;
        signature.truncate(size);
        Ok(signature)
    }

    /// Checks that this is the signature of a message, in one call.
    pub fn is_signature_of(&self, signature: &[u8], message: &[u8]) -> Result<(), Failure> {
        let (data, length) = (message.as_ptr(), message.len());
        call!(EVP_DigestVerify(self.ctx, signature.as_ptr(), signature.len(), data, length))
    }

    /// A copy in its present state.
    pub fn copied(&self) -> Result<Self, Failure> {
        let copy = Self::empty();
        call!(EVP_MD_CTX_copy_ex(copy.ctx, self.ctx))?;
        Ok(copy)
    }

    pub fn raw(&self) -> *mut ffi::MdCtx {
        self.ctx
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { ffi::EVP_MD_CTX_free(self.ctx) };
    }
}

/// Signs a message in one call.
pub fn sign(
    world: &World,
    side: Side,
    key: &Key,
    digest: Option<&str>,
    params: &Params,
    message: &[u8],
) -> Result<Vec<u8>, Failure> {
    Stream::sign(world, side, key, digest, params)?.signature_of(message)
}

/// Verifies a message's signature in one call.
pub fn verify(
    world: &World,
    side: Side,
    key: &Key,
    digest: Option<&str>,
    params: &Params,
    signature: &[u8],
    message: &[u8],
) -> Result<(), Failure> {
    Stream::verify(world, side, key, digest, params)?.is_signature_of(signature, message)
}
