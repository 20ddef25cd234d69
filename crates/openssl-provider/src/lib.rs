//! zariz as a provider for OpenSSL 3: RSA keys, signatures and encryption, computed in batches.
//!
//! OpenSSL loads the provider through its configuration; docs/openssl.md is for administrators. The modules:
//!
//! * `ffi`: OpenSSL's types and functions. OpenSSL first calls `OSSL_provider_init`, below.
//! * `base`, `key`, `signature`, `cipher`: the tables of functions that OpenSSL calls. `base` has the
//!   provider's own, and refers to the other three tables.
//! * `provider`: the state of one loaded instance, which the tables use. docs/openssl.md describes its
//!   `settings` and `counters`.
//! * `padding`, `digest`, `salt`: the choices for signatures and ciphers, by OpenSSL's names.
//! * `queue`: requests of many threads and jobs, computed together.
//! * `openssl`: digests, and the operations that zariz leaves to OpenSSL's own code.
//! * `pointers`, `failure`: values that OpenSSL holds, the program's buffers, and errors.
#![allow(missing_docs)] // nothing is linked with it

mod base;
mod cipher;
mod counters;
mod digest;
mod failure;
mod ffi;
mod key;
mod openssl;
mod padding;
mod pointers;
mod provider;
mod queue;
mod salt;
mod settings;
mod signature;
mod stack;

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use base::FUNCTIONS;
use failure::value;
use ffi::core::{Core, Entry, Handle};
use provider::Provider;

/// OpenSSL calls this when it has loaded the provider.
///
/// # Safety
/// Only OpenSSL may call it, as `provider-base(7)` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const Handle,
    table: *const Entry,
    out: *mut *const Entry,
    context: *mut *mut c_void,
) -> c_int {
    // SAFETY: OpenSSL's promise.
    let Some(core) = (unsafe { Core::new(handle, table) }) else { return 0 };
    let Some(provider) = value(&core, || Provider::new(core)) else { return 0 };
    // SAFETY: OpenSSL promises space for both. `teardown` takes the reference back.
    unsafe {
        out.write(FUNCTIONS.as_ptr());
        context.write(Arc::into_raw(Arc::new(provider)).cast_mut().cast());
    }
    1
}
