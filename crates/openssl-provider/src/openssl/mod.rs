//! OpenSSL's own code, for operations that zariz does not do: digests, and RSA with rare keys and paddings.
//!
//! It runs in a library context of our own, with only OpenSSL's default provider: what the program has loaded
//! and prefers has no effect there, and no call leads back to us.

mod digest;
mod key;

use std::ffi::{CString, c_int};
use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::libcrypto::{LibCtx, Libcrypto};
pub use digest::{DigestValue, Md, MdCtx};
pub use key::{Check, Operation, Pkey};

/// Checks a call of OpenSSL.
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

/// libcrypto, and our library context in it, which is made when it is first needed.
pub struct OpenSsl {
    pub libcrypto: Libcrypto,
    context: OnceLock<Option<LibraryContext>>,
}

struct LibraryContext(NonNull<LibCtx>);

// SAFETY: library contexts may be used by all threads.
unsafe impl Send for LibraryContext {}
// SAFETY: as above.
unsafe impl Sync for LibraryContext {}

impl OpenSsl {
    /// With that libcrypto.
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
            // SAFETY: it is ours, and all that is made in it keeps a reference to its parts.
            unsafe { (self.libcrypto.lib_ctx_free)(context.0.as_ptr()) };
        }
    }
}
