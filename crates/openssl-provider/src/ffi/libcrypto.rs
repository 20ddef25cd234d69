//! The libcrypto that loaded the provider, found by the address of one of its functions. So one build serves
//! every OpenSSL, and never brings a second one into a process.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulong, c_void};
use std::mem::{MaybeUninit, transmute_copy};
use std::ptr;

use super::params::Param;

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            pub struct $name {
                private: [u8; 0],
            }
        )*
    };
}

opaque! {
    /// `OSSL_LIB_CTX`.
    LibCtx,
    /// `EVP_MD`.
    EvpMd,
    /// `EVP_MD_CTX`.
    EvpMdCtx,
    /// `EVP_PKEY`.
    EvpPkey,
    /// `EVP_PKEY_CTX`.
    EvpPkeyCtx,
    /// `ASYNC_JOB`.
    AsyncJob,
    /// `ASYNC_WAIT_CTX`.
    WaitCtx,
}

/// `ASYNC_callback_fn`.
pub type AsyncCallback = unsafe extern "C" fn(*mut c_void) -> c_int;
/// Called for a file descriptor when its wait context is freed.
pub type FdCleanup = unsafe extern "C" fn(*mut WaitCtx, *const c_void, c_int, *mut c_void);
/// `ERR_peek_last_error`.
pub type PeekError = unsafe extern "C" fn() -> c_ulong;
type Init = unsafe extern "C" fn(*mut EvpPkeyCtx, *const Param) -> c_int;
type Transform =
    unsafe extern "C" fn(*mut EvpPkeyCtx, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
type Check = unsafe extern "C" fn(*mut EvpPkeyCtx) -> c_int;

macro_rules! libcrypto {
    ($($name:ident = $symbol:literal: $function:ty;)*) => {
        /// Functions of libcrypto, by OpenSSL's names.
        #[derive(Clone, Copy)]
        #[allow(missing_docs)]
        pub struct Libcrypto {
            $(pub $name: $function,)*
        }

        impl Libcrypto {
            /// Finds the functions in the library that contains an address. The error says what is missing.
            pub fn containing(address: *const c_void) -> Result<Self, String> {
                let library = Library::containing(address)?;
                // SAFETY: each symbol is a function of that type: the list below is that of OpenSSL's
                // headers.
                unsafe { Ok(Self { $($name: library.function($symbol)?,)* }) }
            }
        }
    };
}

libcrypto! {
    lib_ctx_new = c"OSSL_LIB_CTX_new": unsafe extern "C" fn() -> *mut LibCtx;
    lib_ctx_free = c"OSSL_LIB_CTX_free": unsafe extern "C" fn(*mut LibCtx);
    param_free = c"OSSL_PARAM_free": unsafe extern "C" fn(*mut Param);

    peek_error = c"ERR_peek_last_error": PeekError;

    md_fetch = c"EVP_MD_fetch": unsafe extern "C" fn(*mut LibCtx, *const c_char, *const c_char) -> *mut EvpMd;
    md_free = c"EVP_MD_free": unsafe extern "C" fn(*mut EvpMd);
    md_up_ref = c"EVP_MD_up_ref": unsafe extern "C" fn(*mut EvpMd) -> c_int;
    md_name = c"EVP_MD_get0_name": unsafe extern "C" fn(*const EvpMd) -> *const c_char;
    md_size = c"EVP_MD_get_size": unsafe extern "C" fn(*const EvpMd) -> c_int;
    md_gettable_ctx_params = c"EVP_MD_gettable_ctx_params": unsafe extern "C" fn(*const EvpMd) -> *const Param;
    md_settable_ctx_params = c"EVP_MD_settable_ctx_params": unsafe extern "C" fn(*const EvpMd) -> *const Param;
    md_ctx_new = c"EVP_MD_CTX_new": unsafe extern "C" fn() -> *mut EvpMdCtx;
    md_ctx_free = c"EVP_MD_CTX_free": unsafe extern "C" fn(*mut EvpMdCtx);
    md_ctx_copy = c"EVP_MD_CTX_copy_ex": unsafe extern "C" fn(*mut EvpMdCtx, *const EvpMdCtx) -> c_int;
    md_ctx_get_params = c"EVP_MD_CTX_get_params": unsafe extern "C" fn(*mut EvpMdCtx, *mut Param) -> c_int;
    md_ctx_set_params = c"EVP_MD_CTX_set_params": unsafe extern "C" fn(*mut EvpMdCtx, *const Param) -> c_int;
    digest_init = c"EVP_DigestInit_ex2": unsafe extern "C" fn(*mut EvpMdCtx, *const EvpMd, *const Param) -> c_int;
    digest_update = c"EVP_DigestUpdate": unsafe extern "C" fn(*mut EvpMdCtx, *const c_void, usize) -> c_int;
    digest_final = c"EVP_DigestFinal_ex": unsafe extern "C" fn(*mut EvpMdCtx, *mut c_uchar, *mut c_uint) -> c_int;

    pkey_security_bits = c"EVP_PKEY_get_security_bits": unsafe extern "C" fn(*const EvpPkey) -> c_int;
    pkey_free = c"EVP_PKEY_free": unsafe extern "C" fn(*mut EvpPkey);
    pkey_todata = c"EVP_PKEY_todata": unsafe extern "C" fn(*const EvpPkey, c_int, *mut *mut Param) -> c_int;
    pkey_ctx_by_name = c"EVP_PKEY_CTX_new_from_name": unsafe extern "C" fn(*mut LibCtx, *const c_char, *const c_char) -> *mut EvpPkeyCtx;
    pkey_ctx_by_key = c"EVP_PKEY_CTX_new_from_pkey": unsafe extern "C" fn(*mut LibCtx, *mut EvpPkey, *const c_char) -> *mut EvpPkeyCtx;
    pkey_ctx_free = c"EVP_PKEY_CTX_free": unsafe extern "C" fn(*mut EvpPkeyCtx);
    pkey_ctx_set_params = c"EVP_PKEY_CTX_set_params": unsafe extern "C" fn(*mut EvpPkeyCtx, *const Param) -> c_int;
    pkey_fromdata_init = c"EVP_PKEY_fromdata_init": unsafe extern "C" fn(*mut EvpPkeyCtx) -> c_int;
    pkey_fromdata = c"EVP_PKEY_fromdata": unsafe extern "C" fn(*mut EvpPkeyCtx, *mut *mut EvpPkey, c_int, *mut Param) -> c_int;
    pkey_keygen_init = c"EVP_PKEY_keygen_init": unsafe extern "C" fn(*mut EvpPkeyCtx) -> c_int;
    pkey_generate = c"EVP_PKEY_generate": unsafe extern "C" fn(*mut EvpPkeyCtx, *mut *mut EvpPkey) -> c_int;
    pkey_check = c"EVP_PKEY_check": Check;
    pkey_private_check = c"EVP_PKEY_private_check": Check;
    pkey_public_check = c"EVP_PKEY_public_check": Check;
    pkey_public_check_quick = c"EVP_PKEY_public_check_quick": Check;
    sign_init = c"EVP_PKEY_sign_init_ex": Init;
    sign = c"EVP_PKEY_sign": Transform;
    verify_init = c"EVP_PKEY_verify_init_ex": Init;
    verify = c"EVP_PKEY_verify": unsafe extern "C" fn(*mut EvpPkeyCtx, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
    verify_recover_init = c"EVP_PKEY_verify_recover_init_ex": Init;
    verify_recover = c"EVP_PKEY_verify_recover": Transform;
    encrypt_init = c"EVP_PKEY_encrypt_init_ex": Init;
    encrypt = c"EVP_PKEY_encrypt": Transform;
    decrypt_init = c"EVP_PKEY_decrypt_init_ex": Init;
    decrypt = c"EVP_PKEY_decrypt": Transform;

    current_job = c"ASYNC_get_current_job": unsafe extern "C" fn() -> *mut AsyncJob;
    pause_job = c"ASYNC_pause_job": unsafe extern "C" fn() -> c_int;
    wait_ctx = c"ASYNC_get_wait_ctx": unsafe extern "C" fn(*mut AsyncJob) -> *mut WaitCtx;
    wait_ctx_get_fd = c"ASYNC_WAIT_CTX_get_fd": unsafe extern "C" fn(*mut WaitCtx, *const c_void, *mut c_int, *mut *mut c_void) -> c_int;
    wait_ctx_set_fd = c"ASYNC_WAIT_CTX_set_wait_fd": unsafe extern "C" fn(*mut WaitCtx, *const c_void, c_int, *mut c_void, Option<FdCleanup>) -> c_int;
    wait_ctx_get_callback = c"ASYNC_WAIT_CTX_get_callback": unsafe extern "C" fn(*mut WaitCtx, *mut Option<AsyncCallback>, *mut *mut c_void) -> c_int;
    wait_ctx_set_status = c"ASYNC_WAIT_CTX_set_status": unsafe extern "C" fn(*mut WaitCtx, c_int) -> c_int;
}

/// A library of this process.
struct Library {
    handle: *mut c_void,
    name: String,
    /// Its address in memory.
    base: *mut c_void,
    /// Functions of other libraries may also be found under the handle.
    among_others: bool,
}

/// Finds the library that contains an address.
fn place_of(address: *const c_void) -> Option<libc::Dl_info> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address is allowed; the structure is written unless the result is zero.
    unsafe { if libc::dladdr(address, found.as_mut_ptr()) == 0 { None } else { Some(found.assume_init()) } }
}

impl Library {
    fn containing(address: *const c_void) -> Result<Self, String> {
        let place =
            place_of(address).ok_or("the libcrypto that loads the provider cannot be found in memory")?;
        let (file, base) = (place.dli_fname, place.dli_fbase);
        // SAFETY: the loader's own name of a loaded library, and the program itself; nothing is loaded.
        let [own, program] = unsafe {
            [(file, libc::RTLD_NOW | libc::RTLD_NOLOAD), (ptr::null(), libc::RTLD_NOW)]
                .map(|(file, flags)| libc::dlopen(file, flags))
        };
        // If OpenSSL is inside the program, it is no library: its functions are among those of the whole
        // process, if the program exports them.
        let (handle, other, among_others) =
            if own.is_null() || own == program { (program, own, true) } else { (own, program, false) };
        if !other.is_null() {
            // SAFETY: it was opened here, and is no longer used.
            unsafe { libc::dlclose(other) };
        }
        // SAFETY: the loader's string, which lives as long as the library.
        let name = unsafe { CStr::from_ptr(file) }.to_string_lossy().into_owned();
        if handle.is_null() {
            return Err(format!("the loader does not know {name}"));
        }
        let library = Self { handle, name, base, among_others };
        // The loader's name of a program is the name that started it, which may be the name of a library. So
        // check one function.
        library.address(c"OSSL_LIB_CTX_new", true)?;
        Ok(library)
    }

    /// The address of a function. With `check`, it must be in this library. Finding the library of an address
    /// takes the loader about 40 µs, so not every function is checked.
    fn address(&self, name: &CStr, check: bool) -> Result<*mut c_void, String> {
        // SAFETY: an open library and a string.
        let symbol = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if symbol.is_null() {
            return Err(format!(
                "{} has no {}: the provider needs OpenSSL 3.0 or later as a shared library",
                self.name,
                name.to_string_lossy()
            ));
        }
        if check && place_of(symbol).is_none_or(|place| place.dli_fbase != self.base) {
            return Err(format!(
                "{} belongs to another OpenSSL than {}, which loads the provider",
                name.to_string_lossy(),
                self.name
            ));
        }
        Ok(symbol)
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `F` is a function pointer, and the symbol has its type.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let symbol = self.address(name, self.among_others)?;
        // SAFETY: the caller's promise, and the sizes are the same.
        Ok(unsafe { transmute_copy(&symbol) })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: it was opened here. The library stays loaded, since it called us.
        unsafe { libc::dlclose(self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// libssl needs libcrypto, so the loader also finds OpenSSL's functions under its handle.
    #[test]
    fn functions_of_another_library_are_refused() {
        // SAFETY: a system library is loaded; the functions are not called.
        let [of_ssl, of_crypto] = unsafe {
            let ssl = libc::dlopen(c"libssl.so.3".as_ptr(), libc::RTLD_NOW);
            if ssl.is_null() {
                return; // it is not installed
            }
            [c"SSL_new", c"OSSL_LIB_CTX_new"].map(|name| libc::dlsym(ssl, name.as_ptr()))
        };
        let why = Libcrypto::containing(of_ssl).map(|_| ()).expect_err("libssl is no libcrypto");
        assert!(why.contains("belongs to another OpenSSL"), "{why}");
        assert_eq!(Libcrypto::containing(of_crypto).map(|_| ()), Ok(()));
    }
}
