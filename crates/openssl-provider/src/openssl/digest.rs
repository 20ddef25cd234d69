//! OpenSSL's digests.

use std::ffi::CStr;
use std::ptr::{self, NonNull};

use super::{OpenSsl, check, made, string};
use crate::failure::Outcome;
use crate::ffi::libcrypto::{EvpMd, EvpMdCtx, Libcrypto};
use crate::ffi::params::Param;

/// The longest digest in bytes (`EVP_MAX_MD_SIZE`).
const MAX_DIGEST: usize = 64;

/// A digest.
pub struct Md {
    libcrypto: Libcrypto,
    md: NonNull<EvpMd>,
}

// SAFETY: a digest does not change, and its references are counted atomically.
unsafe impl Send for Md {}
// SAFETY: a digest does not change, and its references are counted atomically.
unsafe impl Sync for Md {}

impl Md {
    /// Finds the digest with that name and these properties.
    pub fn fetch(openssl: &OpenSsl, name: &str, properties: Option<&str>) -> Outcome<Self> {
        let (name, properties) = (string(name)?, properties.map(string).transpose()?);
        let properties = properties.as_ref().map_or(ptr::null(), |properties| properties.as_ptr());
        let libcrypto = openssl.libcrypto;
        // SAFETY: a live context and strings.
        let md = made(unsafe { (libcrypto.md_fetch)(openssl.context()?, name.as_ptr(), properties) })?;
        Ok(Self { libcrypto, md })
    }

    /// OpenSSL's main name of the digest.
    pub fn name(&self) -> &str {
        // SAFETY: a live digest; its name lives as long.
        unsafe { CStr::from_ptr((self.libcrypto.md_name)(self.md.as_ptr())) }.to_str().unwrap_or("")
    }

    /// The length of a digest in bytes; 0 if it has no fixed length.
    pub fn size(&self) -> usize {
        // SAFETY: a live digest.
        usize::try_from(unsafe { (self.libcrypto.md_size)(self.md.as_ptr()) }).unwrap_or(0)
    }

    /// The parameters that can be read while digesting.
    pub fn gettable(&self) -> *const Param {
        // SAFETY: a live digest.
        unsafe { (self.libcrypto.md_gettable_ctx_params)(self.md.as_ptr()) }
    }

    /// The parameters that can be set while digesting.
    pub fn settable(&self) -> *const Param {
        // SAFETY: a live digest.
        unsafe { (self.libcrypto.md_settable_ctx_params)(self.md.as_ptr()) }
    }
}

impl Clone for Md {
    fn clone(&self) -> Self {
        // SAFETY: a live digest. One more reference to it; this cannot fail.
        unsafe { (self.libcrypto.md_up_ref)(self.md.as_ptr()) };
        Self { libcrypto: self.libcrypto, md: self.md }
    }
}

impl Drop for Md {
    fn drop(&mut self) {
        // SAFETY: our reference.
        unsafe { (self.libcrypto.md_free)(self.md.as_ptr()) };
    }
}

/// The state of a digest computation.
pub struct MdCtx {
    libcrypto: Libcrypto,
    context: NonNull<EvpMdCtx>,
}

// SAFETY: its owner may use it on any thread, one at a time.
unsafe impl Send for MdCtx {}

impl MdCtx {
    fn empty(libcrypto: Libcrypto) -> Outcome<Self> {
        // SAFETY: it has no preconditions.
        Ok(Self { libcrypto, context: made(unsafe { (libcrypto.md_ctx_new)() })? })
    }

    /// The state before any piece of the message.
    ///
    /// # Safety
    /// `params` is null or an array of parameters.
    pub unsafe fn new(md: &Md, params: *const Param) -> Outcome<Self> {
        let out = Self::empty(md.libcrypto)?;
        // SAFETY: live objects, and the caller's promise.
        check(unsafe { (out.libcrypto.digest_init)(out.context.as_ptr(), md.md.as_ptr(), params) })
            .map(|()| out)
    }

    /// Takes a piece of the message.
    pub fn update(&mut self, bytes: &[u8]) -> Outcome {
        // SAFETY: a live context, and a slice with its length.
        check(unsafe {
            (self.libcrypto.digest_update)(self.context.as_ptr(), bytes.as_ptr().cast(), bytes.len())
        })
    }

    /// The digest of all pieces.
    pub fn finish(&mut self) -> Outcome<DigestValue> {
        let (mut bytes, mut len) = ([0; MAX_DIGEST], 0);
        // SAFETY: a live context, and room for the longest digest.
        check(unsafe { (self.libcrypto.digest_final)(self.context.as_ptr(), bytes.as_mut_ptr(), &mut len) })?;
        Ok(DigestValue { bytes, len: len as usize })
    }

    /// A copy of the state.
    pub fn copy(&self) -> Outcome<Self> {
        let out = Self::empty(self.libcrypto)?;
        // SAFETY: live contexts.
        check(unsafe { (self.libcrypto.md_ctx_copy)(out.context.as_ptr(), self.context.as_ptr()) })
            .map(|()| out)
    }

    /// Writes the requested parameters.
    ///
    /// # Safety
    /// `params` is an array of parameters that may be written.
    pub unsafe fn get_params(&mut self, params: *mut Param) -> Outcome {
        // SAFETY: a live context, and the caller's promise.
        check(unsafe { (self.libcrypto.md_ctx_get_params)(self.context.as_ptr(), params) })
    }

    /// Sets parameters.
    ///
    /// # Safety
    /// `params` is an array of parameters.
    pub unsafe fn set_params(&mut self, params: *const Param) -> Outcome {
        // SAFETY: a live context, and the caller's promise.
        check(unsafe { (self.libcrypto.md_ctx_set_params)(self.context.as_ptr(), params) })
    }
}

impl Drop for MdCtx {
    fn drop(&mut self) {
        // SAFETY: we own it.
        unsafe { (self.libcrypto.md_ctx_free)(self.context.as_ptr()) };
    }
}

/// The value of a digest. It owns no memory: a job that holds one may be abandoned.
pub struct DigestValue {
    bytes: [u8; MAX_DIGEST],
    len: usize,
}

impl std::ops::Deref for DigestValue {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
