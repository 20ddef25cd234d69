//! OpenSSL's own code, for what zariz does not do: digests, and RSA with keys and paddings that are rare.
//!
//! It runs in a library context that is ours alone, where nothing but OpenSSL's default provider is: what the program has
//! loaded and prefers does not matter there, and nothing leads back to us.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::libcrypto::{EvpMd, EvpMdCtx, EvpPkey, EvpPkeyCtx, LibCtx, Libcrypto};
use crate::ffi::params::{Built, Param};

/// The longest digest in bytes (`EVP_MAX_MD_SIZE`).
const MAX_DIGEST: usize = 64;

/// Says that OpenSSL has put an error on its queue.
fn check(done: c_int) -> Outcome {
    if done == 1 { Ok(()) } else { Err(Failure::Raised) }
}

fn made<T>(object: *mut T) -> Outcome<NonNull<T>> {
    NonNull::new(object).ok_or(Failure::Raised)
}

fn string(text: &str) -> Outcome<CString> {
    CString::new(text).map_err(|_| Failure::new(Reason::Parameter, "a name with a zero byte in it"))
}

/// libcrypto, and our library context in it, which is made when it is first needed.
pub struct OpenSsl {
    pub libcrypto: Libcrypto,
    context: OnceLock<Option<Context>>,
}

struct Context(NonNull<LibCtx>);

// SAFETY: library contexts may be used by all threads.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl OpenSsl {
    /// With that libcrypto.
    pub fn new(libcrypto: Libcrypto) -> Self {
        Self { libcrypto, context: OnceLock::new() }
    }

    fn context(&self) -> Outcome<*mut LibCtx> {
        // SAFETY: it has no preconditions.
        let make = || NonNull::new(unsafe { (self.libcrypto.lib_ctx_new)() }).map(Context);
        self.context.get_or_init(make).as_ref().map(|context| context.0.as_ptr()).ok_or(Failure::Raised)
    }
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        if let Some(Some(context)) = self.context.get() {
            // SAFETY: it is ours, and all that is made in it keeps a reference to its parts.
            unsafe { (self.libcrypto.lib_ctx_free)(context.0.as_ptr()) };
        }
    }
}

/// A digest.
pub struct Md {
    libcrypto: Libcrypto,
    md: NonNull<EvpMd>,
}

// SAFETY: a digest does not change, and its references are counted atomically.
unsafe impl Send for Md {}
// SAFETY: as above.
unsafe impl Sync for Md {}

impl Md {
    /// The digest of that name, with those properties.
    pub fn fetch(openssl: &OpenSsl, name: &str, properties: Option<&str>) -> Outcome<Self> {
        let (name, properties) = (string(name)?, properties.map(string).transpose()?);
        let properties = properties.as_ref().map_or(ptr::null(), |properties| properties.as_ptr());
        let libcrypto = openssl.libcrypto;
        // SAFETY: a live context and strings.
        let md = made(unsafe { (libcrypto.md_fetch)(openssl.context()?, name.as_ptr(), properties) })?;
        Ok(Self { libcrypto, md })
    }

    /// OpenSSL's main name of it.
    pub fn name(&self) -> &str {
        // SAFETY: a live digest; its name lives as long.
        unsafe { CStr::from_ptr((self.libcrypto.md_name)(self.md.as_ptr())) }.to_str().unwrap_or("")
    }

    /// The length of a digest in bytes; 0 where it has none of its own.
    pub fn size(&self) -> usize {
        // SAFETY: a live digest.
        usize::try_from(unsafe { (self.libcrypto.md_size)(self.md.as_ptr()) }).unwrap_or(0)
    }

    /// What a digest in the making can be asked.
    pub fn gettable(&self) -> *const Param {
        // SAFETY: a live digest.
        unsafe { (self.libcrypto.md_gettable_ctx_params)(self.md.as_ptr()) }
    }

    /// What a digest in the making can be told.
    pub fn settable(&self) -> *const Param {
        // SAFETY: a live digest.
        unsafe { (self.libcrypto.md_settable_ctx_params)(self.md.as_ptr()) }
    }
}

impl Clone for Md {
    fn clone(&self) -> Self {
        // SAFETY: a live digest; one more reference to it. It cannot fail.
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

/// A digest in the making.
pub struct MdCtx {
    libcrypto: Libcrypto,
    context: NonNull<EvpMdCtx>,
}

// SAFETY: whoever has it may use it on any thread, one at a time.
unsafe impl Send for MdCtx {}

impl MdCtx {
    fn empty(libcrypto: Libcrypto) -> Outcome<Self> {
        // SAFETY: it has no preconditions.
        Ok(Self { libcrypto, context: made(unsafe { (libcrypto.md_ctx_new)() })? })
    }

    /// Of nothing yet.
    ///
    /// # Safety
    /// `params` is null or an array of parameters.
    pub unsafe fn new(md: &Md, params: *const Param) -> Outcome<Self> {
        let out = Self::empty(md.libcrypto)?;
        // SAFETY: live objects, and the caller's promise.
        check(unsafe { (out.libcrypto.digest_init)(out.context.as_ptr(), md.md.as_ptr(), params) }).map(|()| out)
    }

    /// Takes a piece of the message.
    pub fn update(&mut self, bytes: &[u8]) -> Outcome {
        // SAFETY: a live context, and as many bytes as are said.
        check(unsafe { (self.libcrypto.digest_update)(self.context.as_ptr(), bytes.as_ptr().cast(), bytes.len()) })
    }

    /// The digest of all pieces.
    pub fn finish(&mut self) -> Outcome<DigestValue> {
        let (mut bytes, mut len) = ([0; MAX_DIGEST], 0);
        // SAFETY: a live context, and room for the longest digest.
        check(unsafe { (self.libcrypto.digest_final)(self.context.as_ptr(), bytes.as_mut_ptr(), &mut len) })?;
        Ok(DigestValue { bytes, len: len as usize })
    }

    /// Another one of the same pieces.
    pub fn copy(&self) -> Outcome<Self> {
        let out = Self::empty(self.libcrypto)?;
        // SAFETY: live contexts.
        check(unsafe { (self.libcrypto.md_ctx_copy)(out.context.as_ptr(), self.context.as_ptr()) }).map(|()| out)
    }

    /// Answers questions.
    ///
    /// # Safety
    /// `params` is an array of parameters that may be written.
    pub unsafe fn get_params(&mut self, params: *mut Param) -> Outcome {
        // SAFETY: a live context, and the caller's promise.
        check(unsafe { (self.libcrypto.md_ctx_get_params)(self.context.as_ptr(), params) })
    }

    /// Takes instructions.
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
        // SAFETY: it is ours.
        unsafe { (self.libcrypto.md_ctx_free)(self.context.as_ptr()) };
    }
}

/// The value of a digest, which owns nothing: a job that holds one may be forgotten.
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

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Sign,
    Verify,
    VerifyRecover,
    Encrypt,
    Decrypt,
}

/// What is checked of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Both halves, and that they belong together.
    Pair,
    /// The private half.
    Private,
    /// The public half.
    Public,
    /// The public half, by the tests that are cheap.
    PublicQuick,
}

/// An RSA key of OpenSSL's default provider.
pub struct Pkey {
    libcrypto: Libcrypto,
    context: *mut LibCtx,
    key: NonNull<EvpPkey>,
}

// SAFETY: keys may be used by all threads.
unsafe impl Send for Pkey {}
// SAFETY: as above.
unsafe impl Sync for Pkey {}

/// A context of an operation.
struct PkeyCtx(Libcrypto, NonNull<EvpPkeyCtx>);

impl Drop for PkeyCtx {
    fn drop(&mut self) {
        // SAFETY: it is ours.
        unsafe { (self.0.pkey_ctx_free)(self.1.as_ptr()) };
    }
}

const RSA: *const c_char = c"RSA".as_ptr();

impl Pkey {
    fn of_name(openssl: &OpenSsl) -> Outcome<(PkeyCtx, *mut LibCtx)> {
        let (libcrypto, context) = (openssl.libcrypto, openssl.context()?);
        // SAFETY: a live context and a string.
        let pkey_ctx = made(unsafe { (libcrypto.pkey_ctx_by_name)(context, RSA, ptr::null()) })?;
        Ok((PkeyCtx(libcrypto, pkey_ctx), context))
    }

    /// A key from its numbers, by OpenSSL's names; `selection` says which halves.
    pub fn from_numbers(openssl: &OpenSsl, selection: c_int, numbers: &mut Built) -> Outcome<Self> {
        let (by, context) = Self::of_name(openssl)?;
        let mut key = ptr::null_mut();
        // SAFETY: live objects, and an array of parameters.
        unsafe {
            check((by.0.pkey_fromdata_init)(by.1.as_ptr()))?;
            check((by.0.pkey_fromdata)(by.1.as_ptr(), &mut key, selection, numbers.array()))?;
        }
        Ok(Self { libcrypto: by.0, context, key: made(key)? })
    }

    /// A new key.
    pub fn generate(openssl: &OpenSsl, parameters: &mut Built) -> Outcome<Self> {
        let (by, context) = Self::of_name(openssl)?;
        let mut key = ptr::null_mut();
        // SAFETY: live objects, and an array of parameters.
        unsafe {
            check((by.0.pkey_keygen_init)(by.1.as_ptr()))?;
            check((by.0.pkey_ctx_set_params)(by.1.as_ptr(), parameters.array()))?;
            check((by.0.pkey_generate)(by.1.as_ptr(), &mut key))?;
        }
        Ok(Self { libcrypto: by.0, context, key: made(key)? })
    }

    fn context(&self) -> Outcome<PkeyCtx> {
        let made_ctx = made(
            // SAFETY: a live context and key.
            unsafe { (self.libcrypto.pkey_ctx_by_key)(self.context, self.key.as_ptr(), ptr::null()) },
        );
        Ok(PkeyCtx(self.libcrypto, made_ctx?))
    }

    /// Reads the key's numbers.
    pub fn numbers<T>(&self, selection: c_int, read: impl FnOnce(*const Param) -> T) -> Outcome<T> {
        let mut params = ptr::null_mut();
        // SAFETY: a live key; the array is ours to free.
        unsafe {
            check((self.libcrypto.pkey_todata)(self.key.as_ptr(), selection, &mut params))?;
            let out = read(params);
            (self.libcrypto.param_free)(params);
            Ok(out)
        }
    }

    /// Whether OpenSSL finds the key good.
    pub fn check(&self, what: Check) -> Outcome {
        let context = self.context()?;
        let function = match what {
            Check::Pair => self.libcrypto.pkey_check,
            Check::Private => self.libcrypto.pkey_private_check,
            Check::Public => self.libcrypto.pkey_public_check,
            Check::PublicQuick => self.libcrypto.pkey_public_check_quick,
        };
        // SAFETY: a live context.
        check(unsafe { function(context.1.as_ptr()) })
    }

    /// Does something with the key: signs, recovers, encrypts or decrypts `input`. Writes to `out`, and returns how many bytes
    /// that is.
    pub fn transform(
        &self,
        operation: Operation,
        parameters: &mut Built,
        input: &[u8],
        out: &mut [u8],
    ) -> Outcome<usize> {
        let (init, function) = match operation {
            Operation::Sign => (self.libcrypto.sign_init, self.libcrypto.sign),
            Operation::VerifyRecover => (self.libcrypto.verify_recover_init, self.libcrypto.verify_recover),
            Operation::Encrypt => (self.libcrypto.encrypt_init, self.libcrypto.encrypt),
            Operation::Decrypt => (self.libcrypto.decrypt_init, self.libcrypto.decrypt),
            Operation::Verify => return Err(Failure::new(Reason::Internal, "verifying gives no bytes")),
        };
        let (context, mut size) = (self.context()?, out.len());
        // SAFETY: live objects, an array of parameters, and slices with their lengths.
        unsafe {
            check(init(context.1.as_ptr(), parameters.array()))?;
            check(function(context.1.as_ptr(), out.as_mut_ptr(), &mut size, input.as_ptr(), input.len()))?;
        }
        Ok(size)
    }

    /// Whether a signature is that of a digest.
    pub fn verify(&self, parameters: &mut Built, signature: &[u8], digest: &[u8]) -> Outcome {
        let context = self.context()?;
        // SAFETY: live objects, an array of parameters, and slices with their lengths.
        unsafe {
            check((self.libcrypto.verify_init)(context.1.as_ptr(), parameters.array()))?;
            check((self.libcrypto.verify)(
                context.1.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                digest.as_ptr(),
                digest.len(),
            ))
        }
    }
}

impl Drop for Pkey {
    fn drop(&mut self) {
        // SAFETY: it is ours.
        unsafe { (self.libcrypto.pkey_free)(self.key.as_ptr()) };
    }
}
