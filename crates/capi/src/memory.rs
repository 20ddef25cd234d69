//! Bytes that cross the interface.

use std::ptr;
use std::slice;

use zeroize::Zeroize;

use crate::failure::{Failure, ZARIZ_OUTPUT_LENGTH};

/// Bytes of the caller. The library only reads them. `data` may be NULL if `len` is 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    /// The first byte.
    pub data: *const u8,
    /// How many bytes there are.
    pub len: usize,
}

/// Bytes that the library allocated. The caller owns them, and must free them with zariz_buffer_free.
#[repr(C)]
pub struct Buffer {
    /// The first byte, or NULL if there are none.
    pub data: *mut u8,
    /// How many bytes there are.
    pub len: usize,
}

/// Wipes and frees the bytes of a buffer, and makes it empty. NULL and an empty buffer are left alone. A
/// buffer may be freed on any thread, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_buffer_free(buffer: *mut Buffer) {
    // SAFETY: the buffer is NULL or may be written, and its bytes are those that `Buffer::of` allocated.
    unsafe {
        let Some(buffer) = buffer.as_mut() else { return };
        if !buffer.data.is_null() {
            let mut bytes = Box::from_raw(ptr::slice_from_raw_parts_mut(buffer.data, buffer.len));
            bytes.zeroize();
        }
        *buffer = Buffer::EMPTY;
    }
}

impl Buffer {
    pub(crate) const EMPTY: Self = Self { data: ptr::null_mut(), len: 0 };

    /// A copy of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::EMPTY;
        }
        let bytes: &mut [u8] = Box::leak(Box::from(bytes));
        Self { data: bytes.as_mut_ptr(), len: bytes.len() }
    }

    /// Gives the caller a copy of these bytes.
    ///
    /// # Safety
    /// `out` is NULL, or may be written.
    pub(crate) unsafe fn give(out: *mut Self, bytes: &[u8]) -> Result<(), Failure> {
        if out.is_null() {
            return Err(Failure::null("the buffer for the result"));
        }
        // SAFETY: as the caller promises.
        unsafe { out.write(Self::of(bytes)) };
        Ok(())
    }
}

/// The bytes at a pointer.
///
/// # Safety
/// `data` is NULL, or points to `len` bytes that nobody changes meanwhile.
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize, what: &str) -> Result<&'a [u8], Failure> {
    match (data.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::null(what)),
        (_, len) if isize::try_from(len).is_err() => {
            Err(Failure::argument(format_args!("{what} cannot have {len} bytes")))
        }
        // SAFETY: as the caller promises, and no longer than an object may be.
        _ => Ok(unsafe { slice::from_raw_parts(data, len) }),
    }
}

impl Bytes {
    /// # Safety
    /// As for [`bytes`].
    pub(crate) unsafe fn get<'a>(&self, what: &str) -> Result<&'a [u8], Failure> {
        // SAFETY: as the caller promises.
        unsafe { bytes(self.data, self.len, what) }
    }
}

/// The objects of an array.
///
/// # Safety
/// `array` is NULL, or points to `count` objects that nobody else uses meanwhile.
pub(crate) unsafe fn array<'a, T>(array: *mut T, count: usize, what: &str) -> Result<&'a mut [T], Failure> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_array(array, count, what)?;
    // SAFETY: as the caller promises, aligned, and no longer than an object may be.
    Ok(unsafe { slice::from_raw_parts_mut(array, count) })
}

/// The objects of an array that are only read.
///
/// # Safety
/// `array` is NULL, or points to `count` objects that nobody changes meanwhile.
pub(crate) unsafe fn list<'a, T>(array: *const T, count: usize, what: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    check_array(array, count, what)?;
    // SAFETY: as the caller promises, aligned, and no longer than an object may be.
    Ok(unsafe { slice::from_raw_parts(array, count) })
}

fn check_array<T>(array: *const T, count: usize, what: &str) -> Result<(), Failure> {
    if array.is_null() {
        return Err(Failure::null(what));
    }
    if !array.is_aligned()
        || count.checked_mul(size_of::<T>()).is_none_or(|size| isize::try_from(size).is_err())
    {
        return Err(Failure::argument(format_args!("{what} cannot be an array of {count}")));
    }
    Ok(())
}

/// Copies a result to the caller's memory. Inputs of the caller may be in the same place.
///
/// # Safety
/// `out` is NULL, or `capacity` bytes may be written there.
pub(crate) unsafe fn put(result: &[u8], out: *mut u8, capacity: usize) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::null("the memory for the result"));
    }
    if result.len() > capacity {
        let message = format!("the result has {} bytes, but there is room for {capacity}", result.len());
        return Err(Failure::new(ZARIZ_OUTPUT_LENGTH, message));
    }
    // SAFETY: as the caller promises; the result is the library's own memory.
    unsafe { ptr::copy_nonoverlapping(result.as_ptr(), out, result.len()) };
    Ok(())
}

/// Writes a number for the caller.
///
/// # Safety
/// `out` is NULL, or may be written.
pub(crate) unsafe fn put_value<T>(value: T, out: *mut T, what: &str) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: as the caller promises.
    unsafe { out.write(value) };
    Ok(())
}
