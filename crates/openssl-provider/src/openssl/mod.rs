//! OpenSSL's own code, for what zariz does not do: digests, and RSA with rare keys and paddings.
//!
//! It runs in a library context of our own, with only OpenSSL's default provider. So what the program has
//! loaded or prefers has no effect, and no call leads back to zariz.

mod digest;
mod key;

use std::ffi::{CString, c_int};
use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::libcrypto::{LibCtx, Libcrypto};
pub use digest::{DigestValue, Md, MdCtx};
pub use key::{Check, Operation, Pkey};

/// Turns the return code of an OpenSSL call into a result.
#[track_caller]
fn check(done: c_int) -> Outcome {
    if done == 1 { Ok(()) } else { Err(Failure::raised()) }
}

#[track_caller]
fn made<T>(object: *mut T) -> Outcome<NonNull<T>> {
    NonNull::new(object).ok_or_else(Failure::raised)
}

fn string(text: &str) -> Outcome<CString> {
    CString::new(text).map_err(|_| Failure::new(Reason::Parameter, "a name with a zero byte in it"))
}

/// libcrypto, and our library context in it, made when first needed.
pub struct OpenSsl {
    pub libcrypto: Libcrypto,
    context: OnceLock<Option<LibraryContext>>,
}

struct LibraryContext(NonNull<LibCtx>);

// SAFETY: all threads may use library contexts.
unsafe impl Send for LibraryContext {}
// SAFETY: all threads may use library contexts.
unsafe impl Sync for LibraryContext {}

impl OpenSsl {
    /// Uses this libcrypto.
    pub fn new(libcrypto: Libcrypto) -> Self {
        Self { libcrypto, context: OnceLock::new() }
    }

    fn context(&self) -> Outcome<*mut LibCtx> {
        // SAFETY: it has no preconditions.
        let make = || NonNull::new(unsafe { (self.libcrypto.lib_ctx_new)() }).map(LibraryContext);
        self.context.get_or_init(make).as_ref().map(|context| context.0.as_ptr()).ok_or_else(Failure::raised)
    }
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        if let Some(Some(context)) = self.context.get() {
            // SAFETY: we own it. Everything made in it keeps a reference to its parts.
            unsafe { (self.libcrypto.lib_ctx_free)(context.0.as_ptr()) };
        }
    }
}
