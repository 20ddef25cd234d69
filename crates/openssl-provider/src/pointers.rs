//! Pointers that pass between OpenSSL and the provider: values that OpenSSL holds for us, of which it sees
//! only the addresses, and the program's buffers.

use std::ffi::c_int;
use std::ptr;

use crate::failure::{Failure, Outcome, Reason, status};
use crate::ffi::core::Core;
use crate::ffi::functions::Opaque;
use crate::ffi::guard;

/// A held value that can put errors on OpenSSL's queue.
pub trait Held {
    /// The core with the error queue. It must live as long as this value.
    fn core(&self) -> *const Core;
}

/// Gives a value to OpenSSL to hold; null for `None`.
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

/// Calls a function with a value that OpenSSL holds. Returns 1 for success, otherwise 0 with an error on the
/// queue.
///
/// # Safety
/// Null, or from [`hold`] of a `T`, and nothing else uses it meanwhile.
pub unsafe fn with<T: Held>(held: Opaque, function: impl FnOnce(&mut T) -> Outcome) -> c_int {
    // SAFETY: the caller's promise.
    let Some(held) = (unsafe { held.cast::<T>().as_mut() }) else { return 0 };
    // SAFETY: it lives as long as the held value. Do not count a reference to it: this stack would own the
    // reference, and may be a job's, which can be abandoned.
    let core = unsafe { &*held.core() };
    status(core, || function(held))
}

/// The bytes of a program's buffer.
///
/// # Safety
/// `data` has `len` bytes, or is null, and lives for `'a`.
pub unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    if data.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } }
}

/// Writes a function's result to a program's buffer, if it fits. Without a buffer, only reports the length
/// that is needed.
///
/// # Safety
/// `out` is null or has `room` bytes; `out_len` has room for a length.
pub unsafe fn output<B: AsRef<[u8]>>(
    out: *mut u8,
    out_len: *mut usize,
    room: usize,
    needed: usize,
    make: impl FnOnce() -> Outcome<B>,
) -> Outcome {
    if out_len.is_null() {
        return Err(Failure::new(Reason::Parameter, "no place for the length of the result"));
    }
    if out.is_null() {
        // SAFETY: the caller's promise.
        unsafe { out_len.write(needed) };
        return Ok(());
    }
    if room < needed {
        return Err(Failure::new(
            Reason::Room,
            format!("there is room for {room} bytes; {needed} are needed"),
        ));
    }
    let made = make()?;
    let made = made.as_ref();
    if made.len() > room {
        return Err(Failure::new(
            Reason::Room,
            format!("there is room for {room} bytes; {} are needed", made.len()),
        ));
    }
    // SAFETY: the caller's promise, and it fits.
    unsafe {
        out.copy_from_nonoverlapping(made.as_ptr(), made.len());
        out_len.write(made.len());
    }
    Ok(())
}
