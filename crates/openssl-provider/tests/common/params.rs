//! Lists of `OSSL_PARAM`: to set parameters, and to read them back.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::marker::PhantomData;
use std::{fmt, ptr};

use super::ffi;

/// Parameters to set, in order.
#[derive(Clone, Default, PartialEq)]
pub struct Params(Vec<(CString, Value)>);

/// A parameter's value: its type, and its bytes in `OSSL_PARAM`'s form.
#[derive(Clone, PartialEq)]
struct Value {
    data_type: c_uint,
    bytes: Vec<u8>,
    size: usize,
}

impl Params {
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, key: &str, data_type: c_uint, mut bytes: Vec<u8>, size: usize) -> Self {
        // Never a null pointer, which would mean that the parameter is not set.
        bytes.reserve(1);
        self.0.push((CString::new(key).expect("a name"), Value { data_type, bytes, size }));
        self
    }

    /// A text.
    pub fn text(self, key: &str, value: &str) -> Self {
        let text = CString::new(value).expect("a text").into_bytes_with_nul();
        self.with(key, ffi::UTF8_STRING, text, value.len())
    }

    /// A signed integer of the size of an `int`.
    pub fn int(self, key: &str, value: c_int) -> Self {
        self.with(key, ffi::INTEGER, value.to_ne_bytes().to_vec(), size_of::<c_int>())
    }

    /// An unsigned integer of the size of an `unsigned int`.
    pub fn uint(self, key: &str, value: c_uint) -> Self {
        self.with(key, ffi::UNSIGNED, value.to_ne_bytes().to_vec(), size_of::<c_uint>())
    }

    /// An unsigned integer of the size of a `size_t`.
    pub fn size(self, key: &str, value: usize) -> Self {
        self.with(key, ffi::UNSIGNED, value.to_ne_bytes().to_vec(), size_of::<usize>())
    }

    /// A large unsigned number, given big-endian.
    pub fn number(self, key: &str, big_endian: &[u8]) -> Self {
        let mut bytes = big_endian.to_vec();
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        let size = bytes.len();
        self.with(key, ffi::UNSIGNED, bytes, size)
    }

    /// Bytes.
    pub fn bytes(self, key: &str, value: &[u8]) -> Self {
        self.with(key, ffi::OCTET_STRING, value.to_vec(), value.len())
    }

    /// This list, followed by another.
    pub fn and(mut self, other: &Params) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// The first value of that name.
    pub fn find(&self, key: &str) -> Option<Reading> {
        let (_, value) = self.0.iter().find(|(found, _)| found.to_bytes() == key.as_bytes())?;
        Some(Reading { data_type: value.data_type, bytes: value.bytes[..value.size].to_vec() })
    }

    /// The list in OpenSSL's form.
    pub fn list(&self) -> List<'_> {
        let params = self.0.iter().map(|(key, value)| ffi::Param {
            key: key.as_ptr(),
            data_type: value.data_type,
            // OpenSSL only reads parameters that are being set.
            data: value.bytes.as_ptr().cast_mut().cast(),
            data_size: value.size,
            return_size: usize::MAX,
        });
        List { params: params.chain([ffi::Param::END]).collect(), of: PhantomData }
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut map = f.debug_map();
        for (key, value) in &self.0 {
            let reading = Reading { data_type: value.data_type, bytes: value.bytes[..value.size].to_vec() };
            map.entry(&key.to_string_lossy(), &reading);
        }
        map.finish()
    }
}

/// An array of `OSSL_PARAM` that points into [`Params`].
pub struct List<'a> {
    params: Vec<ffi::Param>,
    of: PhantomData<&'a Params>,
}

impl List<'_> {
    pub fn as_ptr(&self) -> *const ffi::Param {
        self.params.as_ptr()
    }

    pub fn as_mut_ptr(&mut self) -> *mut ffi::Param {
        self.params.as_mut_ptr()
    }
}

/// A value that was read back.
#[derive(Clone, PartialEq, Eq)]
pub struct Reading {
    data_type: c_uint,
    bytes: Vec<u8>,
}

impl Reading {
    /// An unsigned integer.
    #[track_caller]
    pub fn unsigned(&self) -> u64 {
        assert!(matches!(self.data_type, ffi::UNSIGNED | ffi::INTEGER), "{self:?}");
        let big = self.big_endian();
        assert!(big.len() <= 8, "{self:?}");
        big.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    /// A signed integer of the size of an `int`, if the value is one.
    pub fn int(&self) -> Option<c_int> {
        let bytes = self.bytes[..].try_into().ok().filter(|_| self.data_type == ffi::INTEGER)?;
        Some(c_int::from_ne_bytes(bytes))
    }

    pub fn is_text(&self) -> bool {
        matches!(self.data_type, ffi::UTF8_STRING | ffi::UTF8_PTR)
    }

    /// A floating-point number.
    #[track_caller]
    pub fn real(&self) -> f64 {
        assert_eq!(self.data_type, ffi::REAL, "{self:?}");
        f64::from_ne_bytes(self.bytes[..].try_into().expect("a double"))
    }

    /// A text.
    #[track_caller]
    pub fn text(&self) -> &str {
        assert!(self.is_text(), "{self:?}");
        str::from_utf8(&self.bytes).expect("text")
    }

    /// The number without leading zeros.
    pub fn big_endian(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        let start = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len());
        bytes[start..].to_vec()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.data_type {
            ffi::UTF8_STRING | ffi::UTF8_PTR => write!(f, "{:?}", String::from_utf8_lossy(&self.bytes)),
            ffi::INTEGER if self.bytes.len() == size_of::<c_int>() => {
                write!(f, "{}", c_int::from_ne_bytes(self.bytes[..].try_into().expect("an int")))
            }
            ffi::INTEGER | ffi::UNSIGNED => write!(f, "0x{}", hex(&self.big_endian())),
            ffi::REAL => write!(f, "{}", f64::from_ne_bytes(self.bytes[..].try_into().expect("a double"))),
            _ => write!(f, "bytes {}", hex(&self.bytes)),
        }
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The names and types of a list of descriptions, as returned by `gettable` and `settable` functions.
///
/// # Safety
/// A list that ends like OpenSSL's, or null.
pub unsafe fn names(mut list: *const ffi::Param) -> BTreeMap<String, c_uint> {
    let mut names = BTreeMap::new();
    if list.is_null() {
        return names;
    }
    loop {
        // SAFETY: the caller's promise: the list goes on up to a null key.
        let param = unsafe { *list };
        if param.key.is_null() {
            return names;
        }
        // SAFETY: keys are constant texts.
        let key = unsafe { CStr::from_ptr(param.key) }.to_string_lossy().into_owned();
        names.insert(key, param.data_type);
        // SAFETY: the list goes on.
        list = unsafe { list.add(1) };
    }
}

/// Reads one parameter: `None` if the call fails or leaves it unset.
pub fn read(
    key: &str,
    data_type: c_uint,
    size: usize,
    get: impl FnOnce(*mut ffi::Param) -> c_int,
) -> Option<Reading> {
    let key = CString::new(key).expect("a name");
    let pointer = matches!(data_type, ffi::UTF8_PTR | ffi::OCTET_PTR);
    let mut text: *const c_char = ptr::null();
    let mut buffer = vec![0; size];
    let param = ffi::Param {
        key: key.as_ptr(),
        data_type,
        data: if pointer { (&raw mut text).cast() } else { buffer.as_mut_ptr().cast() },
        data_size: if pointer { 0 } else { size },
        return_size: usize::MAX,
    };
    let mut params = [param, ffi::Param::END];
    let done = get(params.as_mut_ptr());
    let returned = params[0].return_size;
    if done != 1 || returned == usize::MAX {
        return None;
    }
    let bytes = if pointer {
        if text.is_null() {
            Vec::new()
        } else {
            // SAFETY: a pointer to as many bytes as reported, without the zero of a text.
            unsafe { std::slice::from_raw_parts(text.cast(), returned) }.to_vec()
        }
    } else {
        assert!(returned <= size, "{key:?}: more than was requested: {returned} bytes");
        buffer.truncate(returned);
        buffer
    };
    Some(Reading { data_type, bytes })
}

/// A whole list that OpenSSL made, for example by `EVP_PKEY_todata`.
///
/// # Safety
/// A list that ends like OpenSSL's, whose values are as long as it says.
pub unsafe fn read_all(mut list: *const ffi::Param) -> BTreeMap<String, Reading> {
    let mut values = BTreeMap::new();
    loop {
        // SAFETY: the caller's promise: the list goes on up to a null key.
        let param = unsafe { *list };
        if param.key.is_null() {
            return values;
        }
        // SAFETY: keys are texts, values as long as they say.
        let (key, bytes) = unsafe {
            let bytes = std::slice::from_raw_parts(param.data.cast::<u8>(), param.data_size);
            (CStr::from_ptr(param.key).to_string_lossy().into_owned(), bytes.to_vec())
        };
        values.insert(key, Reading { data_type: param.data_type, bytes });
        // SAFETY: the list goes on.
        list = unsafe { list.add(1) };
    }
}
