//! RSA computed by OpenSSL's own code.

use std::ffi::{c_char, c_int};
use std::ptr::{self, NonNull};

use super::{OpenSsl, check, made};
use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::libcrypto::{EvpPkey, EvpPkeyCtx, LibCtx, Libcrypto};
use crate::ffi::params::{Built, Param};

/// The operations of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Sign,
    Verify,
    VerifyRecover,
    Encrypt,
    Decrypt,
}

/// The checks of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Both halves, and that they belong together.
    Pair,
    /// The private half.
    Private,
    /// The public half.
    Public,
    /// The public half, by cheap tests only.
    PublicQuick,
}

/// An RSA key of OpenSSL's default provider.
pub struct Pkey {
    libcrypto: Libcrypto,
    context: *mut LibCtx,
    key: NonNull<EvpPkey>,
}

// SAFETY: all threads may use keys.
unsafe impl Send for Pkey {}
// SAFETY: all threads may use keys.
unsafe impl Sync for Pkey {}

/// A context of an operation.
pub struct PkeyCtx(Libcrypto, NonNull<EvpPkeyCtx>);

impl Drop for PkeyCtx {
    fn drop(&mut self) {
        // SAFETY: we own it.
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

    /// A key from its numbers, by OpenSSL's names. `selection` says which halves.
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

    /// The security in bits.
    pub fn security(&self) -> Outcome<usize> {
        // SAFETY: a live key.
        let bits = unsafe { (self.libcrypto.pkey_security_bits)(self.key.as_ptr()) };
        usize::try_from(bits).map_err(|_| Failure::raised())
    }

    /// Checks the key with OpenSSL.
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

    /// Signs, recovers, encrypts or decrypts `input` with the key. Writes to `out`, and returns the number of
    /// bytes written.
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

    /// Begins to verify a signature. An error if OpenSSL does not accept the parameters.
    pub fn begin_verify(&self, parameters: &mut Built) -> Outcome<PkeyCtx> {
        let context = self.context()?;
        // SAFETY: live objects, and an array of parameters.
        check(unsafe { (self.libcrypto.verify_init)(context.1.as_ptr(), parameters.array()) })?;
        Ok(context)
    }

    /// Checks that a signature is that of a digest.
    pub fn verify(&self, parameters: &mut Built, signature: &[u8], digest: &[u8]) -> Outcome {
        let context = self.begin_verify(parameters)?;
        // SAFETY: live objects, and slices with their lengths.
        unsafe {
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
        // SAFETY: we own it.
        unsafe { (self.libcrypto.pkey_free)(self.key.as_ptr()) };
    }
}
