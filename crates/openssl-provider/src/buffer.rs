//! The program's buffers: reading their bytes, and writing results to them.

use crate::failure::{Failure, Outcome, Reason};

/// The bytes of a program's buffer.
///
/// # Safety
/// `data` has `len` bytes, or is null, and lives for `'a`.
pub unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    if data.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } }
}

/// Writes a function's result to a program's buffer, if it has enough room; without a buffer, only reports
/// the room that is needed.
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
        return Err(Failure::new(Reason::Room, format!("there is room for {room} bytes; {needed} are needed")));
    }
    let made = make()?;
    let made = made.as_ref();
    if made.len() > room {
        return Err(Failure::new(Reason::Room, format!("there is room for {room} bytes; {} are needed", made.len())));
    }
    // SAFETY: the caller's promise, and it fits.
    unsafe {
        out.copy_from_nonoverlapping(made.as_ptr(), made.len());
        out_len.write(made.len());
    }
    Ok(())
}
