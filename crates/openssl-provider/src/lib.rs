//! zariz as a provider for OpenSSL 3: RSA keys, signatures and encryption, computed many at a time.
//!
//! OpenSSL loads it through its configuration; docs/openssl.md is for administrators. The modules:
//!
//! * `ffi`: OpenSSL's types and functions. OpenSSL first calls `OSSL_provider_init`, below.
//! * `base`, `key`, `signature`, `cipher`: the functions that OpenSSL calls, in tables. `base` has the
//!   provider's own, and refers to the other three tables.
//! * `provider`: the state of one loaded instance; the tables use it, and it uses none of them.
//!   docs/openssl.md describes its `settings` and `counters`.
//! * `padding`, `digest`, `salt`: what signatures and ciphers may choose, by OpenSSL's names.
//! * `queue`: requests of many threads and jobs, computed together.
//! * `openssl`: digests, and the operations that zariz leaves to OpenSSL's own code.
//! * `held`, `buffer`, `failure`: values that OpenSSL holds, the program's memory, and errors.
#![allow(missing_docs)] // nothing is linked with it

mod base;
mod buffer;
mod cipher;
mod counters;
mod digest;
mod failure;
mod ffi;
mod held;
mod key;
mod openssl;
mod padding;
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

/// The function that OpenSSL calls when it has loaded the provider.
///
/// # Safety
/// To be called by OpenSSL alone, as `provider-base(7)` says.
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
    // SAFETY: room for both, by OpenSSL's promise. `teardown` takes the reference back.
    unsafe {
        out.write(FUNCTIONS.as_ptr());
        context.write(Arc::into_raw(Arc::new(provider)).cast_mut().cast());
    }
    1
}
