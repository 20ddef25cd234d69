//! OpenSSL's core: its tables, and the functions that it gives to a provider.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use super::libcrypto::PeekError;
use super::params::Param;

/// `OSSL_DISPATCH`: a function and its number. Number 0 ends a table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry {
    pub id: c_int,
    pub function: Option<unsafe extern "C" fn()>,
}

impl Entry {
    /// The end of a table.
    pub const END: Self = Self { id: 0, function: None };
}

/// `OSSL_ALGORITHM`: names, properties and functions of an implementation.
#[repr(C)]
pub struct Algorithm {
    pub names: *const c_char,
    pub properties: *const c_char,
    pub implementation: *const Entry,
    pub description: *const c_char,
}

// SAFETY: it points only to constants.
unsafe impl Sync for Algorithm {}

/// `OSSL_ITEM`: a reason and its text.
#[repr(C)]
pub struct ReasonString {
    pub code: c_uint,
    pub text: *const c_char,
}

// SAFETY: it points only to constants.
unsafe impl Sync for ReasonString {}

/// `OSSL_CORE_HANDLE`.
#[repr(C)]
pub struct Handle {
    private: [u8; 0],
}

const GET_PARAMS: c_int = 2;
const NEW_ERROR: c_int = 5;
const SET_ERROR_DEBUG: c_int = 6;
const VSET_ERROR: c_int = 7;

type GetParams = unsafe extern "C" fn(*const Handle, *mut Param) -> c_int;
type NewError = unsafe extern "C" fn(*const Handle);
type SetErrorDebug = unsafe extern "C" fn(*const Handle, *const c_char, c_int, *const c_char);
type VsetError = unsafe extern "C" fn(*const Handle, u32, *const c_char, *mut c_void);

/// The functions of OpenSSL's core for one instance of the provider.
#[derive(Clone, Copy)]
pub struct Core {
    handle: *const Handle,
    get_params: GetParams,
    new_error: NewError,
    set_error_debug: Option<SetErrorDebug>,
    vset_error: VsetError,
    peek_error: Option<PeekError>,
}

// SAFETY: OpenSSL's core functions may be called from any thread; its own providers do so.
unsafe impl Send for Core {}
// SAFETY: OpenSSL's core functions may be called from any thread; its own providers do so.
unsafe impl Sync for Core {}

impl Core {
    /// Reads the table that OpenSSL gives to a provider. `None` if a required function is missing.
    ///
    /// # Safety
    /// `table` ends with number 0, its functions have the types that `openssl/core_dispatch.h` declares, and
    /// all of it and `handle` live as long as the provider.
    pub unsafe fn new(handle: *const Handle, mut table: *const Entry) -> Option<Self> {
        let (mut get_params, mut new_error, mut set_error_debug, mut vset_error) = (None, None, None, None);
        // SAFETY: the caller's promise; each cast is to the type that belongs to the number.
        unsafe {
            while let Entry { id: id @ 1.., function } = *table {
                match id {
                    GET_PARAMS => get_params = function.map(|f| std::mem::transmute::<_, GetParams>(f)),
                    NEW_ERROR => new_error = function.map(|f| std::mem::transmute::<_, NewError>(f)),
                    SET_ERROR_DEBUG => {
                        set_error_debug = function.map(|f| std::mem::transmute::<_, SetErrorDebug>(f))
                    }
                    VSET_ERROR => vset_error = function.map(|f| std::mem::transmute::<_, VsetError>(f)),
                    _ => {}
                }
                table = table.add(1);
            }
        }
        let (get_params, new_error, vset_error) = (get_params?, new_error?, vset_error?);
        Some(Self { handle, get_params, new_error, set_error_debug, vset_error, peek_error: None })
    }

    /// An address inside the libcrypto that loaded us.
    pub fn address(&self) -> *const c_void {
        self.get_params as *const c_void
    }

    /// The values of these settings in the provider's section of the configuration; `None` for each that is
    /// not set.
    pub fn settings<const N: usize>(&self, names: [&'static CStr; N]) -> [Option<String>; N] {
        let mut values = [ptr::null::<c_char>(); N];
        let mut params = Vec::with_capacity(N + 1);
        for (name, value) in names.iter().zip(&mut values) {
            params.push(Param::utf8_ptr(name, value));
        }
        params.push(Param::END);
        // SAFETY: the array is ended, and every parameter has room for a pointer.
        unsafe { (self.get_params)(self.handle, params.as_mut_ptr()) };
        drop(params);
        values.map(|value| {
            // SAFETY: OpenSSL left it null, or set it to a string that lives as long as the configuration.
            (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_string_lossy().into_owned())
        })
    }

    /// Sets the function of libcrypto that reads the error queue: the core's table has none.
    pub fn with_peek(self, peek_error: PeekError) -> Self {
        Self { peek_error: Some(peek_error), ..self }
    }

    /// Whether OpenSSL's queue has an error.
    pub fn has_error(&self) -> bool {
        // SAFETY: it has no preconditions.
        self.peek_error.is_some_and(|peek| unsafe { peek() } != 0)
    }

    /// Puts an error on OpenSSL's queue.
    pub fn raise(&self, reason: c_uint, text: &str, file: &str, line: u32) {
        // The text is a format string. Without a per cent sign, nothing is read from the argument list.
        let format = CString::new(text.replace('%', "%%").replace('\0', "?")).unwrap_or_default();
        let file = CString::new(file).unwrap_or_default();
        // A `va_list` depends on the system: a pointer to a structure of at most 32 bytes, or a pointer to
        // anything. OpenSSL passes it to `vsnprintf`, which reads nothing from it.
        let mut arguments = [0u64; 4];
        // SAFETY: the strings end with zeros and are copied. The comment above is about the arguments.
        unsafe {
            (self.new_error)(self.handle);
            if let Some(set_error_debug) = self.set_error_debug {
                set_error_debug(self.handle, file.as_ptr(), line as c_int, ptr::null());
            }
            (self.vset_error)(self.handle, reason, format.as_ptr(), arguments.as_mut_ptr().cast());
        }
    }
}
