//! OpenSSL's functions for providers and configurations, its library contexts and its queue of errors.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::ptr::{null, null_mut};

use crate::error::NotFound;
use crate::library::{OPENSSL, Open};

/// A parameter, as `openssl/core.h` lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Param {
    pub key: *const c_char,
    pub data_type: c_uint,
    pub data: *mut c_void,
    pub data_size: usize,
    pub return_size: usize,
}

/// A line of a configuration, as `openssl/conf.h` lays it out.
#[repr(C)]
pub struct ConfValue {
    pub section: *mut c_char,
    pub name: *mut c_char,
    pub value: *mut c_char,
}

/// Types that only OpenSSL sees into.
pub enum LibCtx {}
pub enum OsslProvider {}
pub enum Conf {}
pub enum Bio {}
pub enum Stack {}

type ErrGet = unsafe extern "C" fn(
    *mut *const c_char,
    *mut c_int,
    *mut *const c_char,
    *mut *const c_char,
    *mut c_int,
) -> c_ulong;

/// The functions we call, as `openssl/{provider,crypto,conf,bio,err,stack}.h` declare them.
#[derive(Clone, Copy)]
pub struct Api {
    pub version: unsafe extern "C" fn(c_int) -> *const c_char,
    pub info: unsafe extern "C" fn(c_int) -> *const c_char,
    pub ctx_new: unsafe extern "C" fn() -> *mut LibCtx,
    pub ctx_free: unsafe extern "C" fn(*mut LibCtx),
    pub free: unsafe extern "C" fn(*mut c_void, *const c_char, c_int),
    pub search_path: unsafe extern "C" fn(*mut LibCtx, *const c_char) -> c_int,
    pub load: unsafe extern "C" fn(*mut LibCtx, *const c_char) -> *mut OsslProvider,
    pub unload: unsafe extern "C" fn(*mut OsslProvider) -> c_int,
    pub gettable: unsafe extern "C" fn(*const OsslProvider) -> *const Param,
    pub get: unsafe extern "C" fn(*const OsslProvider, *mut Param) -> c_int,
    pub default_config: unsafe extern "C" fn() -> *mut c_char,
    pub conf_new: unsafe extern "C" fn(*mut LibCtx, *const c_void) -> *mut Conf,
    pub conf_free: unsafe extern "C" fn(*mut Conf),
    pub conf_load: unsafe extern "C" fn(*mut Conf, *const c_char, *mut c_long) -> c_int,
    pub conf_load_bio: unsafe extern "C" fn(*mut Conf, *mut Bio, *mut c_long) -> c_int,
    pub conf_string: unsafe extern "C" fn(*const Conf, *const c_char, *const c_char) -> *mut c_char,
    pub conf_section: unsafe extern "C" fn(*const Conf, *const c_char) -> *mut Stack,
    pub conf_apply: unsafe extern "C" fn(*const Conf, *const c_char, c_ulong) -> c_int,
    pub bio_new: unsafe extern "C" fn(*const c_void, c_int) -> *mut Bio,
    pub bio_free: unsafe extern "C" fn(*mut Bio) -> c_int,
    pub stack_size: unsafe extern "C" fn(*const Stack) -> c_int,
    pub stack_value: unsafe extern "C" fn(*const Stack, c_int) -> *mut c_void,
    next_error: ErrGet,
    reason: unsafe extern "C" fn(c_ulong) -> *const c_char,
    clear: unsafe extern "C" fn(),
}

impl Api {
    /// The functions of the system's OpenSSL, which must be 3.0 or later.
    pub fn load() -> Result<Self, NotFound> {
        // SAFETY: the names are those of OpenSSL alone.
        let open = unsafe { Open::first("OpenSSL", OPENSSL, "libssl3") }?;
        // SAFETY: the types in `Api` are those of OpenSSL's headers, the same in all versions since 3.0.
        unsafe {
            Ok(Self {
                version: open.symbol("OpenSSL_version")?,
                info: open.symbol("OPENSSL_info")?,
                ctx_new: open.symbol("OSSL_LIB_CTX_new")?,
                ctx_free: open.symbol("OSSL_LIB_CTX_free")?,
                free: open.symbol("CRYPTO_free")?,
                search_path: open.symbol("OSSL_PROVIDER_set_default_search_path")?,
                load: open.symbol("OSSL_PROVIDER_load")?,
                unload: open.symbol("OSSL_PROVIDER_unload")?,
                gettable: open.symbol("OSSL_PROVIDER_gettable_params")?,
                get: open.symbol("OSSL_PROVIDER_get_params")?,
                default_config: open.symbol("CONF_get1_default_config_file")?,
                conf_new: open.symbol("NCONF_new_ex")?,
                conf_free: open.symbol("NCONF_free")?,
                conf_load: open.symbol("NCONF_load")?,
                conf_load_bio: open.symbol("NCONF_load_bio")?,
                conf_string: open.symbol("NCONF_get_string")?,
                conf_section: open.symbol("NCONF_get_section")?,
                conf_apply: open.symbol("CONF_modules_load")?,
                bio_new: open.symbol("BIO_new_mem_buf")?,
                bio_free: open.symbol("BIO_free")?,
                stack_size: open.symbol("OPENSSL_sk_num")?,
                stack_value: open.symbol("OPENSSL_sk_value")?,
                next_error: open.symbol("ERR_get_error_all")?,
                reason: open.symbol("ERR_reason_error_string")?,
                clear: open.symbol("ERR_clear_error")?,
            })
        }
    }

    /// Empties this thread's queue of errors.
    pub fn clear_errors(self) {
        // SAFETY: no arguments.
        unsafe { (self.clear)() };
    }

    /// Everything on this thread's queue of errors, the first first; empties it.
    pub fn errors(self) -> String {
        let mut errors: Vec<String> = Vec::new();
        loop {
            let mut data = null();
            // SAFETY: null for a result that is not needed, and else room for it.
            let code =
                unsafe { (self.next_error)(null_mut(), null_mut(), null_mut(), &raw mut data, null_mut()) };
            if code == 0 {
                break;
            }
            // SAFETY: both are null or texts that end in a zero, which last until the next call.
            let [reason, data] = unsafe { [text((self.reason)(code)), text(data)] };
            let error = match (reason.is_empty(), data.is_empty()) {
                (false, false) => format!("{reason}: {data}"),
                (false, true) => reason,
                (true, _) => data,
            };
            // Outer layers repeat the reason.
            if !error.is_empty() && !errors.iter().any(|known| known.starts_with(&error)) {
                errors.push(error);
            }
        }
        if errors.is_empty() { "it does not say why".into() } else { errors.join("; ") }
    }
}

/// A library context of our own.
pub struct Context {
    pub api: Api,
    pub pointer: *mut LibCtx,
}

impl Context {
    pub fn new(api: Api) -> Result<Self, String> {
        // SAFETY: no arguments; null is handled.
        let pointer = unsafe { (api.ctx_new)() };
        if pointer.is_null() { Err(api.errors()) } else { Ok(Self { api, pointer }) }
    }

    /// Makes OpenSSL look for modules in this folder.
    pub fn search_in(&self, folder: &CString) {
        // SAFETY: a live context, and a text that ends in a zero, which is copied.
        unsafe { (self.api.search_path)(self.pointer, folder.as_ptr()) };
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: ours, and nothing uses it any more.
        unsafe { (self.api.ctx_free)(self.pointer) };
    }
}

/// A text of OpenSSL's; empty for null.
///
/// # Safety
/// Null, or a live text that ends in a zero.
pub unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
