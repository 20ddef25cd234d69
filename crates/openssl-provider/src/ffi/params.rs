//! `OSSL_PARAM`: named values that OpenSSL and a provider hand to each other.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;

use zeroize::Zeroizing;

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

// SAFETY: the shared ones are constants that describe parameters and hold no data.
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

    /// Describes a string that is handed out by its address.
    pub const fn describe_utf8_ptr(key: &'static CStr) -> Self {
        Self::new(key.as_ptr(), UTF8_PTR, ptr::null_mut(), 0)
    }

    /// Describes bytes that are handed out by their address.
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
        // SAFETY: only parameters before the end are looked at (see `Params`): their keys are strings.
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

    /// An integer that fits.
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
        let digit = |i: usize| if cfg!(target_endian = "little") { bytes[i] } else { bytes[bytes.len() - 1 - i] };
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

    /// Answers with bytes: fails where they do not fit, and says the length needed where no room is given.
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

    /// Answers with an integer, in whatever length is asked for.
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

    /// Answers with a big-endian number, zero-padded to the length asked for.
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

    /// Answers with a real number.
    pub fn put_real(&mut self, value: f64) -> bool {
        self.data_type == REAL && self.data_size == size_of::<f64>() && self.put(&value.to_ne_bytes())
    }

    /// Answers with a string.
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

    /// Answers with a constant string: by its address, or copied, as is asked for.
    pub fn put_constant(&mut self, text: &'static CStr) -> bool {
        if self.data_type != UTF8_PTR {
            return self.put_text(&text.to_string_lossy());
        }
        // SAFETY: as above; the string lives for ever.
        unsafe { self.put_address(text) }
    }

    /// Answers with a string's address.
    ///
    /// # Safety
    /// The string outlives whoever asks.
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

    /// Answers with the address of bytes.
    ///
    /// # Safety
    /// The bytes outlive whoever asks.
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

    /// Answers with bytes.
    pub fn put_octets(&mut self, bytes: &[u8]) -> bool {
        self.data_type == OCTET_STRING && self.put(bytes)
    }
}

/// The parameters of an array, one after the other.
pub struct Params<'a>(*const Param, PhantomData<&'a Param>);

impl<'a> Params<'a> {
    /// Those of an array, which may be null.
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

/// Parameters to be answered.
pub struct Answers(*mut Param);

impl Answers {
    /// Those of an array, which may be null.
    ///
    /// # Safety
    /// The array ends with a null key, may be written to, and outlives this.
    pub unsafe fn new(array: *mut Param) -> Self {
        Self(array)
    }

    /// Answers the one of that name, if it is asked for; false where the answer does not fit.
    pub fn put(&mut self, name: &CStr, answer: impl FnOnce(&mut Param) -> bool) -> bool {
        let mut next = self.0;
        if next.is_null() {
            return true;
        }
        // SAFETY: it stops at the end of the array.
        unsafe {
            while !(*next).key.is_null() {
                if (*next).key() == name {
                    return answer(&mut *next);
                }
                next = next.add(1);
            }
        }
        true
    }
}

/// Parameters of ours, for OpenSSL to read.
#[derive(Default)]
pub struct Built {
    params: Vec<Param>,
    /// What the parameters point to; boxes do not move.
    data: Vec<Zeroizing<Box<[u8]>>>,
}

impl Built {
    fn push(&mut self, key: &'static CStr, data_type: c_uint, bytes: Vec<u8>, size: usize) {
        let mut data = Zeroizing::new(bytes.into_boxed_slice());
        self.params.push(Param::new(key.as_ptr(), data_type, data.as_mut_ptr().cast(), size));
        self.data.push(data);
    }

    /// A big-endian number.
    pub fn number(&mut self, key: &'static CStr, number: &[u8]) {
        let mut bytes = if number.is_empty() { vec![0] } else { number.to_vec() };
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        let size = bytes.len();
        self.push(key, UNSIGNED, bytes, size);
    }

    /// A string.
    pub fn text(&mut self, key: &'static CStr, text: &str) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.push(key, UTF8_STRING, bytes, text.len());
    }

    /// Bytes.
    pub fn octets(&mut self, key: &'static CStr, bytes: &[u8]) {
        self.push(key, OCTET_STRING, bytes.to_vec(), bytes.len());
    }

    /// An integer.
    pub fn int(&mut self, key: &'static CStr, value: c_int) {
        self.push(key, INTEGER, value.to_ne_bytes().to_vec(), size_of::<c_int>());
    }

    /// An unsigned integer.
    pub fn unsigned(&mut self, key: &'static CStr, value: usize) {
        self.push(key, UNSIGNED, value.to_ne_bytes().to_vec(), size_of::<usize>());
    }

    /// The array.
    pub fn array(&mut self) -> *mut Param {
        self.params.push(Param::END);
        self.params.as_mut_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parameter over some bytes.
    fn over(data_type: c_uint, bytes: &mut [u8]) -> Param {
        Param::new(c"x".as_ptr(), data_type, bytes.as_mut_ptr().cast(), bytes.len())
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn integers_of_every_length() {
        let int = |data_type, bytes: &[u8]| over(data_type, &mut bytes.to_vec()).int();
        assert_eq!(int(INTEGER, &[0xff]), Some(-1));
        assert_eq!(int(INTEGER, &[0xfe, 0xff, 0xff, 0xff]), Some(-2));
        assert_eq!(int(INTEGER, &[0; 8]), Some(0));
        assert_eq!(int(INTEGER, &[0xff; 16]), Some(-1));
        assert_eq!(int(INTEGER, &[0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
        assert_eq!(int(UNSIGNED, &[0xff]), Some(255));
        assert_eq!(int(UNSIGNED, &[0xff; 8]), None);
        assert_eq!(int(UNSIGNED, &[1, 2, 0, 0, 0, 0, 0, 0, 0]), Some(0x201));
        assert_eq!(int(UNSIGNED, &[]), None);
        assert_eq!(int(UTF8_STRING, &[1]), None);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn integers_are_put_into_what_is_there() {
        let put = |data_type, size: usize, value| {
            let mut bytes = vec![0xaa; size];
            over(data_type, &mut bytes).put_int(value).then_some(bytes)
        };
        assert_eq!(put(INTEGER, 4, -2), Some(vec![0xfe, 0xff, 0xff, 0xff]));
        assert_eq!(put(INTEGER, 1, 127), Some(vec![127]));
        assert_eq!(put(INTEGER, 1, 128), None);
        assert_eq!(put(INTEGER, 1, -128), Some(vec![0x80]));
        assert_eq!(put(UNSIGNED, 1, 255), Some(vec![255]));
        assert_eq!(put(UNSIGNED, 1, 256), None);
        assert_eq!(put(UNSIGNED, 4, -1), None);
        assert_eq!(put(UNSIGNED, 16, 5).map(|bytes| bytes.iter().map(|&byte| u32::from(byte)).sum()), Some(5));
        assert_eq!(put(UNSIGNED, 0, 0), None);
        assert_eq!(put(OCTET_STRING, 4, 0), None);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn numbers_are_padded_and_stripped() {
        let mut bytes = [0xaa; 6];
        assert!(over(UNSIGNED, &mut bytes).put_number(&[1, 2, 3]));
        assert_eq!(bytes, [3, 2, 1, 0, 0, 0]);
        assert_eq!(over(UNSIGNED, &mut bytes).number().as_deref(), Some(&vec![1, 2, 3]));
        assert!(!over(UNSIGNED, &mut bytes[..2]).put_number(&[1, 2, 3]));
        assert_eq!(over(UNSIGNED, &mut [0; 3]).number().as_deref(), Some(&vec![]));
        // Without room, it tells how much is needed.
        let mut asked = Param::describe_unsigned(c"x");
        assert!(asked.put_number(&[1, 2, 3]));
        assert_eq!(asked.return_size, 3);
    }

    #[test]
    fn text_ends_at_its_zero_and_fits_or_fails() {
        let mut bytes = *b"ab\0c";
        assert_eq!(over(UTF8_STRING, &mut bytes).text(), Some("ab"));
        assert!(over(UTF8_STRING, &mut bytes).put_text("xyz"));
        assert_eq!(bytes, *b"xyz\0");
        assert!(!over(UTF8_STRING, &mut bytes).put_text("much too long"));
        assert_eq!(over(OCTET_STRING, &mut bytes).text(), None);
    }
}
