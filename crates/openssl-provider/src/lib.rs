//! zariz as a provider for OpenSSL 3: RSA keys, signatures and encryption, computed many at a time.
//!
//! OpenSSL loads it through its configuration; docs/openssl.md is for administrators. The modules:
//!
//! * `ffi`: the types and functions of OpenSSL. `OSSL_provider_init`, below, is where it comes in.
//! * `provider`: the state of one loaded instance. `settings`, `counters`: as the page for administrators describes.
//! * `key`, `signature`, `cipher`: the three kinds of functions that it offers.
//! * `queue`: requests of many threads and jobs, computed together.
//! * `openssl`, `digest`: digests, and operations that zariz does not do itself, by OpenSSL's own code.
#![allow(missing_docs)] // nothing is linked with it

mod cipher;
mod counters;
mod digest;
mod failure;
mod ffi;
mod key;
mod openssl;
mod padding;
mod provider;
mod queue;
mod settings;
mod signature;
mod stack;

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use failure::value;
use ffi::core::{Core, Dispatch, Handle};
use provider::{FUNCTIONS, Provider};

/// The function that OpenSSL calls when it has loaded the provider.
///
/// # Safety
/// To be called by OpenSSL alone, as `provider-base(7)` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const Handle,
    table: *const Dispatch,
    out: *mut *const Dispatch,
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
