//! Writes the parameters that OpenSSL requests.

use std::ffi::{CStr, c_char};
use std::ptr;

use zeroize::Zeroizing;

use super::{INTEGER, OCTET_PTR, OCTET_STRING, Param, REAL, UNSIGNED, UTF8_PTR, UTF8_STRING};

/// The requested parameters.
pub struct Requested(*mut Param);

impl Requested {
    /// The parameters of an array, which may be null.
    ///
    /// # Safety
    /// The array ends with a null key, may be written to, and outlives this.
    pub unsafe fn new(array: *mut Param) -> Self {
        Self(array)
    }

    /// Writes the parameter of that name, if it was requested. Returns false if the value does not fit.
    pub fn put(&mut self, name: &CStr, write: impl FnOnce(&mut Param) -> bool) -> bool {
        let mut next = self.0;
        if next.is_null() {
            return true;
        }
        // SAFETY: it stops at the end of the array.
        unsafe {
            while !(*next).key.is_null() {
                if (*next).key() == name {
                    return write(&mut *next);
                }
                next = next.add(1);
            }
        }
        true
    }
}

impl Param {
    /// Writes bytes. Fails if they do not fit. Without space for data, reports only the length.
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.return_size = bytes.len();
        if self.data.is_null() {
            return true;
        }
        if self.data_size < bytes.len() {
            return false;
        }
        // SAFETY: OpenSSL's promise: `data` has `data_size` bytes, and it is not ours.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.cast(), bytes.len()) };
        true
    }

    /// Writes an integer, in the requested length.
    pub fn put_int(&mut self, value: i64) -> bool {
        if !matches!(self.data_type, INTEGER | UNSIGNED) || self.data_type == UNSIGNED && value < 0 {
            return false;
        }
        let size = if self.data.is_null() { 8 } else { self.data_size };
        let fits = match (self.data_type, size) {
            (_, 8..) => true,
            (_, 0) => false,
            (UNSIGNED, size) => value >> (8 * size) == 0,
            (_, size) => value >> (8 * size - 1) == 0 || value >> (8 * size - 1) == -1,
        };
        let mut bytes = vec![if value < 0 { 0xff } else { 0 }; size.max(8)];
        bytes[..8].copy_from_slice(&value.to_le_bytes());
        bytes.truncate(size);
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        fits && self.put(&bytes)
    }

    /// Writes a big-endian number, zero-padded to the requested length.
    pub fn put_number(&mut self, number: &[u8]) -> bool {
        if self.data_type != UNSIGNED {
            return false;
        }
        let mut bytes = Zeroizing::new(number.to_vec());
        bytes.reverse();
        // A number has at least one digit.
        let size = bytes.len().max(1);
        let room = if self.data.is_null() { size } else { self.data_size.max(size) };
        let mut padded = Zeroizing::new(vec![0; room]);
        padded[..bytes.len()].copy_from_slice(&bytes);
        if cfg!(target_endian = "big") {
            padded.reverse();
        }
        let done = self.put(&padded);
        if self.data.is_null() || !done {
            self.return_size = size;
        }
        done
    }

    /// Writes a real number.
    pub fn put_real(&mut self, value: f64) -> bool {
        self.data_type == REAL && self.data_size == size_of::<f64>() && self.put(&value.to_ne_bytes())
    }

    /// Writes a string.
    pub fn put_text(&mut self, text: &str) -> bool {
        if self.data_type != UTF8_STRING {
            return false;
        }
        let done = self.put(text.as_bytes());
        if done && !self.data.is_null() && self.data_size > text.len() {
            // SAFETY: within the `data_size` bytes of `data`.
            unsafe { self.data.cast::<u8>().add(text.len()).write(0) };
        }
        done
    }

    /// Writes a constant string: its address or a copy, as requested.
    pub fn put_constant(&mut self, text: &'static CStr) -> bool {
        if self.data_type != UTF8_PTR {
            return self.put_text(&text.to_string_lossy());
        }
        // SAFETY: a constant string lives for ever.
        unsafe { self.put_address(text) }
    }

    /// Writes a string's address.
    ///
    /// # Safety
    /// The string outlives the caller's use of it.
    pub unsafe fn put_address(&mut self, text: &CStr) -> bool {
        if self.data_type != UTF8_PTR {
            return self.put_text(&text.to_string_lossy());
        }
        self.return_size = text.count_bytes();
        if !self.data.is_null() {
            // SAFETY: OpenSSL's promise: `data` has room for a pointer.
            unsafe { self.data.cast::<*const c_char>().write_unaligned(text.as_ptr()) };
        }
        true
    }

    /// Writes the address of bytes.
    ///
    /// # Safety
    /// The bytes outlive the caller's use of them.
    pub unsafe fn put_octets_address(&mut self, bytes: &[u8]) -> bool {
        if self.data_type != OCTET_PTR {
            return self.put_octets(bytes);
        }
        self.return_size = bytes.len();
        if !self.data.is_null() {
            // SAFETY: OpenSSL's promise: `data` has room for a pointer.
            unsafe { self.data.cast::<*const u8>().write_unaligned(bytes.as_ptr()) };
        }
        true
    }

    /// Writes bytes.
    pub fn put_octets(&mut self, bytes: &[u8]) -> bool {
        self.data_type == OCTET_STRING && self.put(bytes)
    }
}
