//! The provider's own functions, as OpenSSL calls them (`provider-base(7)`): its parameters, and the tables
//! of RSA.

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::failure::{Failure, REASON_STRINGS, status};
use crate::ffi::core::{Algorithm, Entry, ReasonString};
use crate::ffi::functions::{Opaque, operation_id, provider};
use crate::ffi::guard;
use crate::ffi::params::{Param, Requested};
use crate::provider::Provider;
use crate::settings::processors;
use crate::{cipher, key, signature};

/// The table of functions.
pub static FUNCTIONS: &[Entry] = &[
    provider::TEARDOWN.with(teardown),
    provider::GETTABLE_PARAMS.with(gettable_params),
    provider::GET_PARAMS.with(get_params),
    provider::QUERY_OPERATION.with(query_operation),
    provider::GET_REASON_STRINGS.with(get_reason_strings),
    Entry::END,
];

const NAME: &CStr = c"zariz: batched RSA";
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

static GETTABLE: [Param; 20] = [
    Param::describe_utf8_ptr(c"name"),
    Param::describe_utf8_ptr(c"version"),
    Param::describe_utf8_ptr(c"buildinfo"),
    Param::describe_int(c"status"),
    Param::describe_utf8_ptr(c"engine"),
    Param::describe_utf8_ptr(c"method"),
    Param::describe_utf8_ptr(c"known-settings"),
    Param::describe_unsigned(c"threads"),
    Param::describe_unsigned(c"max-batch"),
    Param::describe_unsigned(c"validate-keys"),
    Param::describe_unsigned(c"private-operations"),
    Param::describe_unsigned(c"public-operations"),
    Param::describe_unsigned(c"operations"),
    Param::describe_unsigned(c"batches"),
    Param::describe_real(c"mean-batch"),
    Param::describe_unsigned(c"largest-batch"),
    Param::describe_unsigned(c"fallbacks"),
    Param::describe_unsigned(c"check-failures"),
    Param::describe_unsigned(c"keys-generated"),
    Param::END,
];

/// Writes the requested parameters.
fn write_requested(provider: &Provider, requested: &mut Requested) -> bool {
    let counts = provider.counters.counts();
    let [private, public, batches, largest, fallbacks, failures, keys] = [
        &counts.private_operations,
        &counts.public_operations,
        &counts.batches,
        &counts.largest_batch,
        &counts.fallbacks,
        &counts.check_failures,
        &counts.keys_generated,
    ]
    // The contents of a counters file may be anything.
    .map(|counter| i64::try_from(counter.load(Ordering::Relaxed)).unwrap_or(i64::MAX));
    let operations = private.saturating_add(public);
    // A multiple of 1/1024, so that no floating-point operation rounds: the host may have unmasked that
    // exception.
    let parts = i128::from(operations) * 1024 / i128::from(batches.max(1));
    let mean = parts.min(1 << 50) as f64 / 1024.0;
    let version = CStr::from_bytes_with_nul(VERSION.as_bytes()).unwrap_or_default();
    let integers: [(&CStr, i64); 12] = [
        (c"status", 1),
        (c"threads", provider.settings.threads.unwrap_or_else(processors) as i64),
        (c"max-batch", provider.settings.max_batch as i64),
        (c"validate-keys", provider.settings.validate_keys.into()),
        (c"private-operations", private),
        (c"public-operations", public),
        (c"operations", operations),
        (c"batches", batches),
        (c"largest-batch", largest),
        (c"fallbacks", fallbacks),
        (c"check-failures", failures),
        (c"keys-generated", keys),
    ];
    requested.put(c"name", |param| param.put_constant(NAME))
        && requested.put(c"version", |param| param.put_constant(version))
        && requested.put(c"buildinfo", |param| param.put_constant(version))
        // SAFETY: they live as long as the provider, as OpenSSL expects of its parameters.
        && requested.put(c"engine", |param| unsafe { param.put_address(&provider.engine) })
        // SAFETY: like `engine`.
        && requested.put(c"method", |param| unsafe { param.put_address(&provider.method) })
        // SAFETY: like `engine`.
        && requested.put(c"known-settings", |param| unsafe { param.put_address(&provider.known_settings) })
        && requested.put(c"mean-batch", |param| param.put_real(mean))
        && integers.into_iter().all(|(name, value)| requested.put(name, |param| param.put_int(value)))
}

unsafe extern "C" fn teardown(context: Opaque) {
    // SAFETY: the reference that OpenSSL was given, and gives back once.
    guard((), || drop(unsafe { Arc::from_raw(context.cast_const().cast::<Provider>()) }));
}

unsafe extern "C" fn gettable_params(_: Opaque) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get_params(context: Opaque, params: *mut Param) -> c_int {
    // SAFETY: the provider that OpenSSL holds, and its array.
    let (provider, mut requested) =
        unsafe { (&*context.cast_const().cast::<Provider>(), Requested::new(params)) };
    status(&provider.core, || {
        if write_requested(provider, &mut requested) { Ok(()) } else { Err(Failure::does_not_fit()) }
    })
}

const NAMES: &CStr = c"RSA:rsaEncryption:1.2.840.113549.1.1.1";
const PROPERTIES: &CStr = c"provider=zariz";

const fn algorithm(functions: &'static [Entry], description: &'static CStr) -> [Algorithm; 2] {
    let end = Algorithm {
        names: ptr::null(),
        properties: ptr::null(),
        implementation: ptr::null(),
        description: ptr::null(),
    };
    let (names, properties, implementation) = (NAMES.as_ptr(), PROPERTIES.as_ptr(), functions.as_ptr());
    [Algorithm { names, properties, implementation, description: description.as_ptr() }, end]
}

static KEYMGMT: [Algorithm; 2] = algorithm(key::management::FUNCTIONS, c"RSA keys of zariz");
static SIGNATURE: [Algorithm; 2] = algorithm(signature::FUNCTIONS, c"RSA signatures of zariz, batched");
static ASYM_CIPHER: [Algorithm; 2] = algorithm(cipher::FUNCTIONS, c"RSA encryption of zariz, batched");

unsafe extern "C" fn query_operation(context: Opaque, id: c_int, no_cache: *mut c_int) -> *const Algorithm {
    if !no_cache.is_null() {
        // SAFETY: OpenSSL's promise: room for an integer.
        unsafe { no_cache.write(0) };
    }
    // SAFETY: the provider that OpenSSL holds.
    let provider = unsafe { &*context.cast_const().cast::<Provider>() };
    match id {
        _ if provider.settings.leaves_rsa => ptr::null(),
        operation_id::KEYMGMT => KEYMGMT.as_ptr(),
        operation_id::SIGNATURE => SIGNATURE.as_ptr(),
        operation_id::ASYM_CIPHER => ASYM_CIPHER.as_ptr(),
        _ => ptr::null(),
    }
}

unsafe extern "C" fn get_reason_strings(_: Opaque) -> *const ReasonString {
    REASON_STRINGS.as_ptr()
}
