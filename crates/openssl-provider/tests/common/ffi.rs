//! The functions of libcrypto that the tests and the fuzz targets call, declared like in OpenSSL's headers
//! (3.0 and later). They are loaded at the first call, from the file that `ZARIZ_LIBCRYPTO` names, otherwise
//! from the system's `libcrypto.so.3`.
#![allow(non_snake_case)] // Their names are OpenSSL's.

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;

/// Types whose contents only OpenSSL knows.
macro_rules! opaque {
    ($($name:ident)*) => { $(#[repr(C)] pub struct $name { _data: [u8; 0] })* };
}
opaque!(LibCtx Provider Pkey PkeyCtx MdCtx Bio EncoderCtx AsyncJob WaitCtx);

/// `OSSL_PARAM`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Param {
    pub key: *const c_char,
    pub data_type: c_uint,
    pub data: *mut c_void,
    pub data_size: usize,
    pub return_size: usize,
}

impl Param {
    /// The end of a list.
    pub const END: Self =
        Self { key: ptr::null(), data_type: 0, data: ptr::null_mut(), data_size: 0, return_size: 0 };
}

/// The types of an `OSSL_PARAM`.
pub const INTEGER: c_uint = 1;
pub const UNSIGNED: c_uint = 2;
pub const REAL: c_uint = 3;
pub const UTF8_STRING: c_uint = 4;
pub const OCTET_STRING: c_uint = 5;
pub const UTF8_PTR: c_uint = 6;
pub const OCTET_PTR: c_uint = 7;

/// `EVP_PKEY_PUBLIC_KEY` and `EVP_PKEY_KEYPAIR`: the selected parts of a key.
pub const PUBLIC_KEY: c_int = 0x86;
pub const KEYPAIR: c_int = 0x87;

/// The results of `ASYNC_start_job`.
pub const ASYNC_ERR: c_int = 0;
pub const ASYNC_NO_JOBS: c_int = 1;
pub const ASYNC_PAUSE: c_int = 2;
pub const ASYNC_FINISH: c_int = 3;

pub type WaitCallback = unsafe extern "C" fn(*mut c_void) -> c_int;
pub type JobFunction = unsafe extern "C" fn(*mut c_void) -> c_int;

fn library() -> &'static Library {
    static LIBRARY: OnceLock<&'static Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let file = std::env::var_os("ZARIZ_LIBCRYPTO").unwrap_or_else(|| "libcrypto.so.3".into());
        // SAFETY: the file is a libcrypto: the system's, or one that the environment names.
        let library = unsafe { Library::new(&file) };
        Box::leak(Box::new(library.unwrap_or_else(|error| panic!("cannot load {}: {error}", file.display()))))
    })
}

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => { $(
        /// # Safety
        /// As OpenSSL's manual page of that name says.
        pub unsafe fn $name($($argument: $type),*) $(-> $result)? {
            type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
            static FOUND: OnceLock<Function> = OnceLock::new();
            let function = FOUND.get_or_init(|| {
                // SAFETY: the type is that of the header; the library is never closed.
                let found = unsafe { library().get::<Function>(stringify!($name)) };
                *found.unwrap_or_else(|error| panic!("libcrypto has no {}: {error}", stringify!($name)))
            });
            // SAFETY: the caller's promise.
            unsafe { function($($argument),*) }
        }
    )* };
}

functions! {
    fn OpenSSL_version(what: c_int) -> *const c_char;
    fn CRYPTO_free(pointer: *mut c_void, file: *const c_char, line: c_int);

    fn OSSL_LIB_CTX_new() -> *mut LibCtx;
    fn OSSL_LIB_CTX_free(ctx: *mut LibCtx);
    fn OSSL_LIB_CTX_load_config(ctx: *mut LibCtx, file: *const c_char) -> c_int;
    fn OSSL_PROVIDER_set_default_search_path(ctx: *mut LibCtx, path: *const c_char) -> c_int;
    fn OSSL_PROVIDER_add_builtin(ctx: *mut LibCtx, name: *const c_char, init: *const c_void) -> c_int;
    fn OSSL_PROVIDER_load(ctx: *mut LibCtx, name: *const c_char) -> *mut Provider;
    fn OSSL_PROVIDER_unload(provider: *mut Provider) -> c_int;
    fn OSSL_PROVIDER_available(ctx: *mut LibCtx, name: *const c_char) -> c_int;
    fn OSSL_PROVIDER_get0_name(provider: *const Provider) -> *const c_char;
    fn OSSL_PROVIDER_gettable_params(provider: *const Provider) -> *const Param;
    fn OSSL_PROVIDER_get_params(provider: *const Provider, params: *mut Param) -> c_int;
    fn OSSL_PROVIDER_self_test(provider: *const Provider) -> c_int;
    fn OSSL_PROVIDER_do_all(
        ctx: *mut LibCtx,
        each: unsafe extern "C" fn(*mut Provider, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;

    fn ERR_get_error_all(
        file: *mut *const c_char,
        line: *mut c_int,
        function: *mut *const c_char,
        data: *mut *const c_char,
        flags: *mut c_int,
    ) -> c_ulong;
    fn ERR_reason_error_string(error: c_ulong) -> *const c_char;
    fn ERR_clear_error();

    fn EVP_PKEY_CTX_new_from_name(ctx: *mut LibCtx, name: *const c_char, query: *const c_char) -> *mut PkeyCtx;
    fn EVP_PKEY_CTX_new_from_pkey(ctx: *mut LibCtx, key: *mut Pkey, query: *const c_char) -> *mut PkeyCtx;
    fn EVP_PKEY_CTX_dup(ctx: *const PkeyCtx) -> *mut PkeyCtx;
    fn EVP_PKEY_CTX_free(ctx: *mut PkeyCtx);
    fn EVP_PKEY_CTX_get0_provider(ctx: *const PkeyCtx) -> *const Provider;
    fn EVP_PKEY_CTX_set_params(ctx: *mut PkeyCtx, params: *const Param) -> c_int;
    fn EVP_PKEY_CTX_get_params(ctx: *mut PkeyCtx, params: *mut Param) -> c_int;
    fn EVP_PKEY_CTX_settable_params(ctx: *const PkeyCtx) -> *const Param;
    fn EVP_PKEY_CTX_gettable_params(ctx: *const PkeyCtx) -> *const Param;
    fn EVP_PKEY_CTX_ctrl_str(ctx: *mut PkeyCtx, name: *const c_char, value: *const c_char) -> c_int;
    fn EVP_PKEY_CTX_set_cb(ctx: *mut PkeyCtx, callback: Option<unsafe extern "C" fn(*mut PkeyCtx) -> c_int>);

    fn EVP_PKEY_fromdata_init(ctx: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_fromdata(ctx: *mut PkeyCtx, key: *mut *mut Pkey, selection: c_int, params: *mut Param) -> c_int;
    fn EVP_PKEY_todata(key: *const Pkey, selection: c_int, params: *mut *mut Param) -> c_int;
    fn OSSL_PARAM_free(params: *mut Param);
    fn EVP_PKEY_free(key: *mut Pkey);
    fn EVP_PKEY_up_ref(key: *mut Pkey) -> c_int;
    fn EVP_PKEY_dup(key: *mut Pkey) -> *mut Pkey;
    fn EVP_PKEY_eq(a: *const Pkey, b: *const Pkey) -> c_int;
    fn EVP_PKEY_get0_provider(key: *const Pkey) -> *const Provider;
    fn EVP_PKEY_gettable_params(key: *const Pkey) -> *const Param;
    fn EVP_PKEY_get_params(key: *const Pkey, params: *mut Param) -> c_int;
    fn EVP_PKEY_settable_params(key: *const Pkey) -> *const Param;
    fn EVP_PKEY_set_params(key: *mut Pkey, params: *mut Param) -> c_int;
    fn EVP_PKEY_get_size(key: *const Pkey) -> c_int;
    fn EVP_PKEY_get_bits(key: *const Pkey) -> c_int;
    fn EVP_PKEY_get_security_bits(key: *const Pkey) -> c_int;
    fn EVP_PKEY_can_sign(key: *const Pkey) -> c_int;
    fn EVP_PKEY_is_a(key: *const Pkey, name: *const c_char) -> c_int;
    fn EVP_PKEY_get_default_digest_name(key: *mut Pkey, name: *mut c_char, size: usize) -> c_int;
    fn EVP_PKEY_check(ctx: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_public_check(ctx: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_public_check_quick(ctx: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_private_check(ctx: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_pairwise_check(ctx: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_param_check(ctx: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_keygen_init(ctx: *mut PkeyCtx) -> c_int;
    fn EVP_PKEY_generate(ctx: *mut PkeyCtx, key: *mut *mut Pkey) -> c_int;

    fn EVP_PKEY_sign_init_ex(ctx: *mut PkeyCtx, params: *const Param) -> c_int;
    fn EVP_PKEY_sign(ctx: *mut PkeyCtx, out: *mut u8, size: *mut usize, data: *const u8, length: usize) -> c_int;
    fn EVP_PKEY_verify_init_ex(ctx: *mut PkeyCtx, params: *const Param) -> c_int;
    fn EVP_PKEY_verify(ctx: *mut PkeyCtx, signature: *const u8, size: usize, data: *const u8, length: usize) -> c_int;
    fn EVP_PKEY_verify_recover_init_ex(ctx: *mut PkeyCtx, params: *const Param) -> c_int;
    fn EVP_PKEY_verify_recover(ctx: *mut PkeyCtx, out: *mut u8, size: *mut usize, data: *const u8, length: usize)
        -> c_int;
    fn EVP_PKEY_encrypt_init_ex(ctx: *mut PkeyCtx, params: *const Param) -> c_int;
    fn EVP_PKEY_encrypt(ctx: *mut PkeyCtx, out: *mut u8, size: *mut usize, data: *const u8, length: usize) -> c_int;
    fn EVP_PKEY_decrypt_init_ex(ctx: *mut PkeyCtx, params: *const Param) -> c_int;
    fn EVP_PKEY_decrypt(ctx: *mut PkeyCtx, out: *mut u8, size: *mut usize, data: *const u8, length: usize) -> c_int;

    fn EVP_MD_CTX_new() -> *mut MdCtx;
    fn EVP_MD_CTX_free(ctx: *mut MdCtx);
    fn EVP_MD_CTX_copy_ex(to: *mut MdCtx, from: *const MdCtx) -> c_int;
    fn EVP_MD_CTX_get_pkey_ctx(ctx: *const MdCtx) -> *mut PkeyCtx;
    fn EVP_DigestSignInit_ex(
        ctx: *mut MdCtx,
        pctx: *mut *mut PkeyCtx,
        digest: *const c_char,
        libctx: *mut LibCtx,
        query: *const c_char,
        key: *mut Pkey,
        params: *const Param,
    ) -> c_int;
    fn EVP_DigestVerifyInit_ex(
        ctx: *mut MdCtx,
        pctx: *mut *mut PkeyCtx,
        digest: *const c_char,
        libctx: *mut LibCtx,
        query: *const c_char,
        key: *mut Pkey,
        params: *const Param,
    ) -> c_int;
    fn EVP_DigestSignUpdate(ctx: *mut MdCtx, data: *const c_void, length: usize) -> c_int;
    fn EVP_DigestSignFinal(ctx: *mut MdCtx, signature: *mut u8, size: *mut usize) -> c_int;
    fn EVP_DigestSign(ctx: *mut MdCtx, signature: *mut u8, size: *mut usize, data: *const u8, length: usize) -> c_int;
    fn EVP_DigestVerifyUpdate(ctx: *mut MdCtx, data: *const c_void, length: usize) -> c_int;
    fn EVP_DigestVerifyFinal(ctx: *mut MdCtx, signature: *const u8, size: usize) -> c_int;
    fn EVP_DigestVerify(ctx: *mut MdCtx, signature: *const u8, size: usize, data: *const u8, length: usize) -> c_int;

    fn BIO_new_mem_buf(data: *const c_void, length: c_int) -> *mut Bio;
    fn BIO_free(bio: *mut Bio) -> c_int;
    fn PEM_read_bio_PrivateKey_ex(
        bio: *mut Bio,
        key: *mut *mut Pkey,
        callback: *mut c_void,
        argument: *mut c_void,
        libctx: *mut LibCtx,
        query: *const c_char,
    ) -> *mut Pkey;
    fn PEM_read_bio_PUBKEY_ex(
        bio: *mut Bio,
        key: *mut *mut Pkey,
        callback: *mut c_void,
        argument: *mut c_void,
        libctx: *mut LibCtx,
        query: *const c_char,
    ) -> *mut Pkey;
    fn d2i_AutoPrivateKey_ex(
        key: *mut *mut Pkey,
        data: *mut *const u8,
        length: c_long,
        libctx: *mut LibCtx,
        query: *const c_char,
    ) -> *mut Pkey;
    fn OSSL_ENCODER_CTX_new_for_pkey(
        key: *const Pkey,
        selection: c_int,
        format: *const c_char,
        structure: *const c_char,
        query: *const c_char,
    ) -> *mut EncoderCtx;
    fn OSSL_ENCODER_CTX_free(ctx: *mut EncoderCtx);
    fn OSSL_ENCODER_to_data(ctx: *mut EncoderCtx, data: *mut *mut u8, length: *mut usize) -> c_int;

    fn ASYNC_is_capable() -> c_int;
    fn ASYNC_init_thread(most: usize, at_first: usize) -> c_int;
    fn ASYNC_cleanup_thread();
    fn ASYNC_start_job(
        job: *mut *mut AsyncJob,
        wait: *mut WaitCtx,
        result: *mut c_int,
        function: JobFunction,
        argument: *mut c_void,
        size: usize,
    ) -> c_int;
    fn ASYNC_pause_job() -> c_int;
    fn ASYNC_WAIT_CTX_new() -> *mut WaitCtx;
    fn ASYNC_WAIT_CTX_free(ctx: *mut WaitCtx);
    fn ASYNC_WAIT_CTX_get_all_fds(ctx: *mut WaitCtx, fds: *mut c_int, count: *mut usize) -> c_int;
    fn ASYNC_WAIT_CTX_set_callback(ctx: *mut WaitCtx, callback: WaitCallback, argument: *mut c_void) -> c_int;
    fn ASYNC_WAIT_CTX_get_status(ctx: *mut WaitCtx) -> c_int;
}
