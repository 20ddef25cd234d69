//! `OSSL_PARAM`: named values that OpenSSL and a provider pass to each other.

mod built;
mod requested;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;

use zeroize::Zeroizing;

pub use built::Built;
pub use requested::Requested;

/// `OSSL_PARAM`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Param {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

// SAFETY: shared ones are constants that describe parameters and hold no data.
unsafe impl Sync for Param {}

const INTEGER: c_uint = 1;
const UNSIGNED: c_uint = 2;
const REAL: c_uint = 3;
const UTF8_STRING: c_uint = 4;
const OCTET_STRING: c_uint = 5;
const UTF8_PTR: c_uint = 6;
const OCTET_PTR: c_uint = 7;
const UNMODIFIED: usize = usize::MAX;

impl Param {
    /// The end of an array.
    pub const END: Self = Self::new(ptr::null(), 0, ptr::null_mut(), 0);

    const fn new(key: *const c_char, data_type: c_uint, data: *mut c_void, data_size: usize) -> Self {
        Self { key, data_type, data, data_size, return_size: UNMODIFIED }
    }

    /// Describes a signed integer.
    pub const fn describe_int(key: &'static CStr) -> Self {
        Self::new(key.as_ptr(), INTEGER, ptr::null_mut(), size_of::<c_int>())
    }

    /// Describes an unsigned integer of any length.
    pub const fn describe_unsigned(key: &'static CStr) -> Self {
        Self::new(key.as_ptr(), UNSIGNED, ptr::null_mut(), 0)
    }

    /// Describes a real number.
    pub const fn describe_real(key: &'static CStr) -> Self {
        Self::new(key.as_ptr(), REAL, ptr::null_mut(), size_of::<f64>())
    }

    /// Describes a string.
    pub const fn describe_utf8(key: &'static CStr) -> Self {
        Self::new(key.as_ptr(), UTF8_STRING, ptr::null_mut(), 0)
    }

    /// Describes a string that is passed by address.
    pub const fn describe_utf8_ptr(key: &'static CStr) -> Self {
        Self::new(key.as_ptr(), UTF8_PTR, ptr::null_mut(), 0)
    }

    /// Describes bytes that are passed by address.
    pub const fn describe_octets_ptr(key: &'static CStr) -> Self {
        Self::new(key.as_ptr(), OCTET_PTR, ptr::null_mut(), 0)
    }

    /// Describes bytes.
    pub const fn describe_octets(key: &'static CStr) -> Self {
        Self::new(key.as_ptr(), OCTET_STRING, ptr::null_mut(), 0)
    }

    /// Asks for a string's address.
    pub fn utf8_ptr(key: &'static CStr, place: &mut *const c_char) -> Self {
        Self::new(key.as_ptr(), UTF8_PTR, ptr::from_mut(place).cast(), 0)
    }

    /// The name.
    fn key(&self) -> &CStr {
        // SAFETY: parameters after the end are never read (see `Params`), and the keys of others are strings.
        unsafe { CStr::from_ptr(self.key) }
    }

    fn bytes(&self) -> &[u8] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: OpenSSL's promise: `data` has `data_size` bytes.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.data_size) }
    }

    /// Whether it is a string.
    pub fn is_text(&self) -> bool {
        matches!(self.data_type, UTF8_STRING | UTF8_PTR)
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        let bytes = match self.data_type {
            UTF8_STRING => self.bytes(),
            UTF8_PTR if self.data_size == 0 => self.pointed_string()?,
            UTF8_PTR => self.pointed()?,
            _ => return None,
        };
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        std::str::from_utf8(&bytes[..end]).ok()
    }

    /// Bytes.
    pub fn octets(&self) -> Option<&[u8]> {
        match self.data_type {
            OCTET_STRING => Some(self.bytes()),
            OCTET_PTR => self.pointed(),
            _ => None,
        }
    }

    /// A string passed by address.
    fn pointed_string(&self) -> Option<&[u8]> {
        let place = self.data.cast::<*const c_char>();
        if place.is_null() {
            return None;
        }
        // SAFETY: OpenSSL's promise: `data` points to a pointer to a string.
        unsafe {
            let start = place.read_unaligned();
            if start.is_null() { None } else { Some(CStr::from_ptr(start).to_bytes()) }
        }
    }

    fn pointed(&self) -> Option<&[u8]> {
        let place = self.data.cast::<*const u8>();
        if place.is_null() {
            return None;
        }
        // SAFETY: OpenSSL's promise: `data` points to a pointer to `data_size` bytes.
        unsafe {
            let start = place.read_unaligned();
            if start.is_null() { None } else { Some(std::slice::from_raw_parts(start, self.data_size)) }
        }
    }

    /// An integer, if it fits.
    pub fn int(&self) -> Option<i64> {
        let bytes = self.bytes();
        let (mut out, negative) = match self.data_type {
            INTEGER => (0, bytes.last().is_some_and(|&top| cfg!(target_endian = "little") && top >= 0x80)),
            UNSIGNED => (0, false),
            _ => return None,
        };
        if bytes.is_empty() || cfg!(target_endian = "big") && bytes.len() > 8 {
            return None;
        }
        let sign = if negative { 0xff } else { 0 };
        let digit =
            |i: usize| if cfg!(target_endian = "little") { bytes[i] } else { bytes[bytes.len() - 1 - i] };
        for i in (0..bytes.len()).rev() {
            if i >= 8 && digit(i) != sign {
                return None;
            }
            if i < 8 {
                out = out << 8 | u64::from(digit(i));
            }
        }
        if negative && bytes.len() < 8 {
            out |= u64::MAX << (8 * bytes.len());
        }
        if self.data_type == UNSIGNED || !negative { i64::try_from(out).ok() } else { Some(out as i64) }
    }

    /// A number of any length, big-endian, without leading zeros.
    pub fn number(&self) -> Option<Zeroizing<Vec<u8>>> {
        if self.data_type != UNSIGNED {
            return None;
        }
        let mut out = Zeroizing::new(self.bytes().to_vec());
        if cfg!(target_endian = "little") {
            out.reverse();
        }
        let zeros = out.iter().take_while(|&&byte| byte == 0).count();
        Some(Zeroizing::new(out[zeros..].to_vec()))
    }
}

/// The parameters of an array, one after the other.
pub struct Params<'a>(*const Param, PhantomData<&'a Param>);

impl<'a> Params<'a> {
    /// The parameters of an array, which may be null.
    ///
    /// # Safety
    /// The array ends with a null key, and lives for `'a`.
    pub unsafe fn new(array: *const Param) -> Self {
        Self(array, PhantomData)
    }

    /// The one of that name.
    pub fn get(&self, name: &CStr) -> Option<&'a Param> {
        let mut next = self.0;
        if next.is_null() {
            return None;
        }
        // SAFETY: it stops at the end of the array.
        unsafe {
            while !(*next).key.is_null() {
                if (*next).key() == name {
                    return Some(&*next);
                }
                next = next.add(1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
