//! RSA signatures, as OpenSSL calls them (`provider-signature(7)`, `EVP_SIGNATURE-RSA(7)`).

mod algorithm_id;
mod context;
mod scheme;

use std::ffi::{CStr, c_char, c_int, c_uchar};
use std::ptr;

use crate::failure::{Failure, Outcome, value};
use crate::ffi::core::Entry;
use crate::ffi::functions::{Opaque, signature};
use crate::ffi::guard;
use crate::ffi::params::{Param, Params, Requested};
use crate::key::KeyData;
use crate::openssl::Operation;
use crate::pointers::{bytes, hold, output, release, with};
use crate::provider::Provider;
use context::SignatureContext;

/// The table of functions.
pub static FUNCTIONS: &[Entry] = &[
    signature::NEWCTX.with(new),
    signature::FREECTX.with(free),
    signature::DUPCTX.with(duplicate),
    signature::SIGN_INIT.with(sign_init),
    signature::SIGN.with(sign),
    signature::VERIFY_INIT.with(verify_init),
    signature::VERIFY.with(verify),
    signature::VERIFY_RECOVER_INIT.with(verify_recover_init),
    signature::VERIFY_RECOVER.with(verify_recover),
    signature::DIGEST_SIGN_INIT.with(digest_sign_init),
    signature::DIGEST_SIGN_UPDATE.with(update),
    signature::DIGEST_SIGN_FINAL.with(digest_sign_final),
    signature::DIGEST_SIGN.with(digest_sign),
    signature::DIGEST_VERIFY_INIT.with(digest_verify_init),
    signature::DIGEST_VERIFY_UPDATE.with(update),
    signature::DIGEST_VERIFY_FINAL.with(digest_verify_final),
    signature::DIGEST_VERIFY.with(digest_verify),
    signature::GET_CTX_PARAMS.with(get_params),
    signature::GETTABLE_CTX_PARAMS.with(gettable_params),
    signature::SET_CTX_PARAMS.with(set_params),
    signature::SETTABLE_CTX_PARAMS.with(settable_params),
    signature::GET_CTX_MD_PARAMS.with(get_md_params),
    signature::GETTABLE_CTX_MD_PARAMS.with(gettable_md_params),
    signature::SET_CTX_MD_PARAMS.with(set_md_params),
    signature::SETTABLE_CTX_MD_PARAMS.with(settable_md_params),
    Entry::END,
];

static GETTABLE: [Param; 6] = [
    Param::describe_octets(c"algorithm-id"),
    Param::describe_utf8(c"pad-mode"),
    Param::describe_utf8(c"digest"),
    Param::describe_utf8(c"mgf1-digest"),
    Param::describe_utf8(c"saltlen"),
    Param::END,
];

/// The first two cannot be set while a message is being taken.
static SETTABLE: [Param; 7] = [
    Param::describe_utf8(c"digest"),
    Param::describe_utf8(c"properties"),
    Param::describe_utf8(c"pad-mode"),
    Param::describe_utf8(c"mgf1-digest"),
    Param::describe_utf8(c"mgf1-properties"),
    Param::describe_utf8(c"saltlen"),
    Param::END,
];
const SETTABLE_LATE: usize = 2;

unsafe extern "C" fn new(provider: Opaque, properties: *const c_char) -> Opaque {
    guard(ptr::null_mut(), || {
        // SAFETY: the provider that OpenSSL holds, and a string or null.
        let (provider, properties) = unsafe { (Provider::shared(provider), text(properties)) };
        hold(Some(SignatureContext::new(provider, properties.map(str::to_owned))))
    })
}

/// Reads a string; `None` if it is null or not UTF-8.
///
/// # Safety
/// Null, or a string that lives for `'a`.
unsafe fn text<'a>(string: *const c_char) -> Option<&'a str> {
    // SAFETY: the caller's promise.
    if string.is_null() { None } else { unsafe { CStr::from_ptr(string) }.to_str().ok() }
}

unsafe extern "C" fn free(context: Opaque) {
    // SAFETY: a context of ours, given back once.
    unsafe { release::<SignatureContext>(context) };
}

unsafe extern "C" fn duplicate(context: Opaque) -> Opaque {
    // SAFETY: a context of ours.
    let Some(context) = (unsafe { context.cast::<SignatureContext>().as_ref() }) else {
        return ptr::null_mut();
    };
    hold(value(&context.provider.core, || context.duplicate()))
}

/// Begins an operation.
///
/// # Safety
/// As OpenSSL calls it.
unsafe fn begin(
    context: &mut SignatureContext,
    operation: Operation,
    key: Opaque,
    params: *const Param,
) -> Outcome {
    // SAFETY: a key of ours or null, and OpenSSL's array.
    let (key_data, params) = unsafe { (key.cast::<KeyData>().as_ref(), Params::new(params)) };
    context.begin(operation, key_data.map(KeyData::key).transpose()?, &params)
}

unsafe extern "C" fn sign_init(context: Opaque, key: Opaque, params: *const Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe { with(context, |context: &mut SignatureContext| begin(context, Operation::Sign, key, params)) }
}

unsafe extern "C" fn verify_init(context: Opaque, key: Opaque, params: *const Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe { with(context, |context: &mut SignatureContext| begin(context, Operation::Verify, key, params)) }
}

unsafe extern "C" fn verify_recover_init(context: Opaque, key: Opaque, params: *const Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe {
        with(context, |context: &mut SignatureContext| begin(context, Operation::VerifyRecover, key, params))
    }
}

unsafe extern "C" fn sign(
    context: Opaque,
    out: *mut c_uchar,
    out_len: *mut usize,
    room: usize,
    digest: *const c_uchar,
    digest_len: usize,
) -> c_int {
    // SAFETY: as OpenSSL calls it: room and lengths are those of the pointers.
    unsafe {
        with(context, |context: &mut SignatureContext| {
            output(out, out_len, room, context.size()?, || context.sign(bytes(digest, digest_len)))
        })
    }
}

unsafe extern "C" fn verify(
    context: Opaque,
    signature: *const c_uchar,
    signature_len: usize,
    digest: *const c_uchar,
    digest_len: usize,
) -> c_int {
    // SAFETY: as OpenSSL calls it: lengths are those of the pointers.
    unsafe {
        with(context, |context: &mut SignatureContext| {
            context.verify(bytes(signature, signature_len), bytes(digest, digest_len))
        })
    }
}

unsafe extern "C" fn verify_recover(
    context: Opaque,
    out: *mut c_uchar,
    out_len: *mut usize,
    room: usize,
    signature: *const c_uchar,
    signature_len: usize,
) -> c_int {
    // SAFETY: as OpenSSL calls it: room and lengths are those of the pointers.
    unsafe {
        with(context, |context: &mut SignatureContext| {
            // A digest needs only its own length. Without a buffer, the key's size is enough for any data.
            let needed = if out.is_null() { None } else { context.digest().map(|digest| digest.md.size()) };
            let needed = needed.map_or_else(|| context.size(), Ok)?;
            output(out, out_len, room, needed, || context.recover(bytes(signature, signature_len)))
        })
    }
}

/// Begins to take a message.
///
/// # Safety
/// As OpenSSL calls it.
unsafe fn begin_message(
    context: &mut SignatureContext,
    operation: Operation,
    digest: *const c_char,
    key: Opaque,
    params: *const Param,
) -> Outcome {
    // SAFETY: as OpenSSL calls it.
    unsafe {
        begin(context, operation, key, params)?;
        context.begin_message(text(digest), params)
    }
}

unsafe extern "C" fn digest_sign_init(
    context: Opaque,
    digest: *const c_char,
    key: Opaque,
    params: *const Param,
) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe {
        with(context, |context: &mut SignatureContext| {
            begin_message(context, Operation::Sign, digest, key, params)
        })
    }
}

unsafe extern "C" fn digest_verify_init(
    context: Opaque,
    digest: *const c_char,
    key: Opaque,
    params: *const Param,
) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe {
        with(context, |context: &mut SignatureContext| {
            begin_message(context, Operation::Verify, digest, key, params)
        })
    }
}

unsafe extern "C" fn update(context: Opaque, data: *const c_uchar, len: usize) -> c_int {
    // SAFETY: as OpenSSL calls it: the length is that of the pointer.
    unsafe { with(context, |context: &mut SignatureContext| context.message()?.update(bytes(data, len))) }
}

unsafe extern "C" fn digest_sign_final(
    context: Opaque,
    out: *mut c_uchar,
    out_len: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: as OpenSSL calls it: the room is that of the pointer.
    unsafe {
        with(context, |context: &mut SignatureContext| {
            let size = context.size()?;
            output(out, out_len, room, size, || {
                let digest = context.finish_message()?;
                context.sign(&digest)
            })
        })
    }
}

unsafe extern "C" fn digest_verify_final(context: Opaque, signature: *const c_uchar, len: usize) -> c_int {
    // SAFETY: as OpenSSL calls it: the length is that of the pointer.
    unsafe {
        with(context, |context: &mut SignatureContext| {
            let digest = context.finish_message()?;
            context.verify(bytes(signature, len), &digest)
        })
    }
}

unsafe extern "C" fn digest_sign(
    context: Opaque,
    out: *mut c_uchar,
    out_len: *mut usize,
    room: usize,
    data: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: as OpenSSL calls it. A call that only asks for the length ignores the message.
    unsafe {
        if !out.is_null() && update(context, data, len) != 1 {
            return 0;
        }
        digest_sign_final(context, out, out_len, room)
    }
}

unsafe extern "C" fn digest_verify(
    context: Opaque,
    signature: *const c_uchar,
    signature_len: usize,
    data: *const c_uchar,
    len: usize,
) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe {
        if update(context, data, len) != 1 {
            return 0;
        }
        digest_verify_final(context, signature, signature_len)
    }
}

unsafe extern "C" fn get_params(context: Opaque, params: *mut Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe {
        with(context, |context: &mut SignatureContext| {
            match context.write_requested(&mut Requested::new(params))? {
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
    unsafe { with(context, |context: &mut SignatureContext| context.set(&Params::new(params))) }
}

unsafe extern "C" fn settable_params(context: Opaque, _: Opaque) -> *const Param {
    // SAFETY: a context of ours, or null.
    let taking = unsafe { context.cast::<SignatureContext>().as_ref() }
        .is_some_and(|context| context.message.is_some());
    SETTABLE[if taking { SETTABLE_LATE } else { 0 }..].as_ptr()
}

unsafe extern "C" fn get_md_params(context: Opaque, params: *mut Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe { with(context, |context: &mut SignatureContext| context.message()?.get_params(params)) }
}

unsafe extern "C" fn gettable_md_params(context: Opaque) -> *const Param {
    // SAFETY: a context of ours, or null.
    let digest = unsafe { context.cast::<SignatureContext>().as_ref() }.and_then(SignatureContext::digest);
    digest.map_or(ptr::null(), |digest| digest.md.gettable())
}

unsafe extern "C" fn set_md_params(context: Opaque, params: *const Param) -> c_int {
    // SAFETY: as OpenSSL calls it.
    unsafe { with(context, |context: &mut SignatureContext| context.message()?.set_params(params)) }
}

unsafe extern "C" fn settable_md_params(context: Opaque) -> *const Param {
    // SAFETY: a context of ours, or null.
    let digest = unsafe { context.cast::<SignatureContext>().as_ref() }.and_then(SignatureContext::digest);
    digest.map_or(ptr::null(), |digest| digest.md.settable())
}
