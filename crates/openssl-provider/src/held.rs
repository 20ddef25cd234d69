//! Values that OpenSSL holds for us: boxes, which it sees only as addresses.

use std::ffi::c_int;
use std::ptr;

use crate::failure::{Outcome, status};
use crate::ffi::core::Core;
use crate::ffi::functions::Opaque;
use crate::ffi::guard;

/// Something that can put errors on OpenSSL's queue.
pub trait Held {
    /// The core whose queue it is. It lives as long as this value.
    fn core(&self) -> *const Core;
}

/// Gives something to OpenSSL to hold; null for nothing.
pub fn hold<T>(value: Option<T>) -> Opaque {
    value.map_or(ptr::null_mut(), |value| Box::into_raw(Box::new(value)).cast())
}

/// Takes back and drops a value that OpenSSL held.
///
/// # Safety
/// Null, or from [`hold`] of a `T`, and given back once.
pub unsafe fn release<T>(held: Opaque) {
    if !held.is_null() {
        // SAFETY: the caller's promise.
        guard((), || drop(unsafe { Box::from_raw(held.cast::<T>()) }));
    }
}

/// Calls a function with a value that OpenSSL holds: 1 for success, else 0 and an error on the queue.
///
/// # Safety
/// Null, or from [`hold`] of a `T`, and nothing else uses it meanwhile.
pub unsafe fn with<T: Held>(held: Opaque, function: impl FnOnce(&mut T) -> Outcome) -> c_int {
    // SAFETY: the caller's promise.
    let Some(held) = (unsafe { held.cast::<T>().as_mut() }) else { return 0 };
    // SAFETY: it lives as long as what is held. A reference that is counted would be owned by this stack,
    // which may be a job's, and forgotten.
    let core = unsafe { &*held.core() };
    status(core, || function(held))
}
