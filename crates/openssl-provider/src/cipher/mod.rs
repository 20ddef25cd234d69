//! RSA encryption, as OpenSSL calls it (`provider-asym_cipher(7)`, `EVP_ASYM_CIPHER-RSA(7)`).

mod context;

use std::ffi::{c_int, c_uchar};
use std::ptr;

use crate::failure::{Failure, Reason};
use crate::ffi::core::Entry;
use crate::ffi::functions::{Opaque, cipher};
use crate::ffi::guard;
use crate::ffi::params::{Param, Params, Requested};
use crate::key::KeyData;
use crate::openssl::Operation;
use crate::pointers::{bytes, hold, output, release, with};
use crate::provider::Provider;
use context::CipherContext;

/// The table of functions.
pub static FUNCTIONS: &[Entry] = &[
    cipher::NEWCTX.with(new),
    cipher::FREECTX.with(free),
    cipher::DUPCTX.with(duplicate),
    cipher::ENCRYPT_INIT.with(encrypt_init),
    cipher::ENCRYPT.with(encrypt),
    cipher::DECRYPT_INIT.with(decrypt_init),
    cipher::DECRYPT.with(decrypt),
    cipher::GET_CTX_PARAMS.with(get_params),
    cipher::GETTABLE_CTX_PARAMS.with(gettable_params),
    cipher::SET_CTX_PARAMS.with(set_params),
    cipher::SETTABLE_CTX_PARAMS.with(settable_params),
    Entry::END,
];

static GETTABLE: [Param; 8] = [
    Param::describe_utf8(c"digest"),
    Param::describe_utf8(c"pad-mode"),
    Param::describe_utf8(c"mgf1-digest"),
    Param::describe_octets_ptr(c"oaep-label"),
    Param::describe_unsigned(c"tls-client-version"),
    Param::describe_unsigned(c"tls-negotiated-version"),
    Param::describe_unsigned(c"implicit-rejection"),
    Param::END,
];

static SETTABLE: [Param; 10] = [
    Param::describe_utf8(c"digest"),
    Param::describe_utf8(c"digest-props"),
    Param::describe_utf8(c"pad-mode"),
    Param::describe_utf8(c"mgf1-digest"),
    Param::describe_utf8(c"mgf1-properties"),
    Param::describe_octets(c"oaep-label"),
    Param::describe_unsigned(c"tls-client-version"),
    Param::describe_unsigned(c"tls-negotiated-version"),
    Param::describe_unsigned(c"implicit-rejection"),
    Param::END,
];

unsafe extern "C" fn new(provider: Opaque) -> Opaque {
    // SAFETY: the provider that OpenSSL holds.
    guard(ptr::null_mut(), || hold(Some(CipherContext::new(unsafe { Provider::shared(provider) }))))
}

unsafe extern "C" fn free(context: Opaque) {
    // SAFETY: a context of ours, given back once.
    unsafe { release::<CipherContext>(context) };
}

unsafe extern "C" fn duplicate(context: Opaque) -> Opaque {
    // SAFETY: a context of ours.
    let context = unsafe { context.cast::<CipherContext>().as_ref() };
    guard(ptr::null_mut(), || hold(context.cloned()))
}

/// Begins an operation.
///
/// # Safety
/// As OpenSSL calls it.
unsafe fn begin(context: Opaque, operation: Operation, key: Opaque, params: *const Param) -> c_int {
    // SAFETY: a context and a key of ours or null, and OpenSSL's array.
    unsafe {
        with(context, |context: &mut CipherContext| {
            let key_data =
                key.cast::<KeyData>().as_ref().ok_or_else(|| Failure::new(Reason::Order, "no key is set"))?;
            context.begin(operation, key_data.key()?, &Params::new(params))
        })
    }
}

unsafe extern "C" fn encrypt_init(context: Opaque, key: Opaque, params: *const Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe { begin(context, Operation::Encrypt, key, params) }
}

unsafe extern "C" fn decrypt_init(context: Opaque, key: Opaque, params: *const Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe { begin(context, Operation::Decrypt, key, params) }
}

unsafe extern "C" fn encrypt(
    context: Opaque,
    out: *mut c_uchar,
    out_len: *mut usize,
    room: usize,
    message: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: as OpenSSL calls it: room and length are those of the pointers.
    unsafe {
        with(context, |context: &mut CipherContext| {
            output(out, out_len, room, context.size()?, || context.encrypt(bytes(message, len)))
        })
    }
}

unsafe extern "C" fn decrypt(
    context: Opaque,
    out: *mut c_uchar,
    out_len: *mut usize,
    room: usize,
    ciphertext: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: as OpenSSL calls it: room and length are those of the pointers.
    unsafe {
        with(context, |context: &mut CipherContext| {
            output(out, out_len, room, context.size()?, || context.decrypt(bytes(ciphertext, len)))
        })
    }
}

unsafe extern "C" fn get_params(context: Opaque, params: *mut Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe {
        with(context, |context: &mut CipherContext| {
            match context.write_requested(&mut Requested::new(params)) {
                true => Ok(()),
                false => Err(Failure::does_not_fit()),
            }
        })
    }
}

unsafe extern "C" fn gettable_params(_: Opaque, _: Opaque) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn set_params(context: Opaque, params: *const Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe { with(context, |context: &mut CipherContext| context.set(&Params::new(params))) }
}

unsafe extern "C" fn settable_params(_: Opaque, _: Opaque) -> *const Param {
    SETTABLE.as_ptr()
}
