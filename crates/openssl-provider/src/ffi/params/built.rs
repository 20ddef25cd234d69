//! Parameters for OpenSSL to read.

use std::ffi::{CStr, c_int, c_uint};

use zeroize::Zeroizing;

use super::{INTEGER, OCTET_STRING, Param, UNSIGNED, UTF8_STRING};

/// An array of parameters.
#[derive(Default)]
pub struct Built {
    params: Vec<Param>,
    /// The data of the parameters. Boxes keep their addresses.
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
