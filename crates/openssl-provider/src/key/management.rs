//! Key management, as OpenSSL calls it (`provider-keymgmt(7)`).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use super::generate::{Plan, Progress, SETTABLE};
use super::numbers::{DESCRIBED, KEYPAIR, Numbers, PUBLIC, described, select};
use super::{Key, KeyData, selects};
use crate::failure::{Failure, Reason, status, value};
use crate::ffi::core::Entry;
use crate::ffi::functions::{Callback, Opaque, keymgmt};
use crate::ffi::guard;
use crate::ffi::params::{Built, Param, Params, Requested};
use crate::openssl::Check;
use crate::pointers::{hold, release};
use crate::provider::Provider;

/// `OSSL_KEYMGMT_VALIDATE_QUICK_CHECK`.
const QUICK: c_int = 1;

/// The table of functions.
pub static FUNCTIONS: &[Entry] = &[
    keymgmt::NEW.with(new),
    keymgmt::GEN_INIT.with(gen_init),
    keymgmt::GEN_SET_PARAMS.with(gen_set_params),
    keymgmt::GEN_SETTABLE_PARAMS.with(gen_settable_params),
    keymgmt::GEN.with(generate),
    keymgmt::GEN_CLEANUP.with(gen_cleanup),
    keymgmt::LOAD.with(load),
    keymgmt::FREE.with(free),
    keymgmt::GET_PARAMS.with(get_params),
    keymgmt::GETTABLE_PARAMS.with(gettable_params),
    keymgmt::QUERY_OPERATION_NAME.with(query_operation_name),
    keymgmt::HAS.with(has),
    keymgmt::VALIDATE.with(validate),
    keymgmt::MATCH.with(matches),
    keymgmt::IMPORT.with(import),
    keymgmt::IMPORT_TYPES.with(types),
    keymgmt::EXPORT.with(export),
    keymgmt::EXPORT_TYPES.with(types),
    keymgmt::DUP.with(duplicate),
    Entry::END,
];

/// Parameters that restrict a key to PSS.
const RESTRICTIONS: [&CStr; 4] = [c"digest", c"mgf", c"mgf1-digest", c"saltlen"];

/// The digest that programs sign with by default.
const DEFAULT_DIGEST: &CStr = c"SHA256";

static GETTABLE: [Param; 4 + DESCRIBED] = {
    let mut all = [Param::END; 4 + DESCRIBED];
    all[0] = Param::describe_int(c"bits");
    all[1] = Param::describe_int(c"security-bits");
    all[2] = Param::describe_int(c"max-size");
    all[3] = Param::describe_utf8(c"default-digest");
    described(all, 4)
};

/// The key data that OpenSSL holds.
///
/// # Safety
/// Null, or from `into_key_data`.
unsafe fn key_data<'a>(data: *const c_void) -> Option<&'a KeyData> {
    // SAFETY: the caller's promise.
    unsafe { data.cast::<KeyData>().as_ref() }
}

fn into_key_data(provider: Arc<Provider>, key: Option<Arc<Key>>) -> Opaque {
    hold(Some(KeyData::new(provider, key)))
}

unsafe extern "C" fn new(provider: Opaque) -> Opaque {
    // SAFETY: OpenSSL gives back the provider's own context.
    guard(ptr::null_mut(), || into_key_data(unsafe { Provider::shared(provider) }, None))
}

unsafe extern "C" fn free(data: Opaque) {
    // SAFETY: key data of ours, given back once.
    unsafe { release::<KeyData>(data) };
}

/// Keys are never loaded by reference: the decoders and their keys are OpenSSL's.
unsafe extern "C" fn load(_: *const c_void, _: usize) -> Opaque {
    ptr::null_mut()
}

unsafe extern "C" fn query_operation_name(_: c_int) -> *const c_char {
    c"RSA".as_ptr()
}

unsafe extern "C" fn has(data: *const c_void, selection: c_int) -> c_int {
    // SAFETY: what OpenSSL holds.
    let Some(key_data) = (unsafe { key_data(data) }) else { return 0 };
    guard(0, || {
        let private = key_data.key().ok().map(|key| key.numbers.d.is_some());
        c_int::from(match private {
            None => selection & select::KEYPAIR == 0,
            Some(private) => private || !selects(selection, select::PRIVATE),
        })
    })
}

unsafe extern "C" fn validate(data: *const c_void, selection: c_int, kind: c_int) -> c_int {
    // SAFETY: what OpenSSL holds.
    let Some(key_data) = (unsafe { key_data(data) }) else { return 0 };
    status(&key_data.provider.core, || {
        let check = match selection & select::KEYPAIR {
            select::KEYPAIR => Check::Pair,
            select::PRIVATE => Check::Private,
            select::PUBLIC if kind == QUICK => Check::PublicQuick,
            select::PUBLIC => Check::Public,
            _ => return Ok(()),
        };
        // OpenSSL's own checks, on the numbers as they were given.
        key_data.key()?.foreign(&key_data.provider)?.check(check)
    })
}

unsafe extern "C" fn matches(one: *const c_void, other: *const c_void, selection: c_int) -> c_int {
    // SAFETY: what OpenSSL holds.
    let (Some(one), Some(other)) = (unsafe { (key_data(one), key_data(other)) }) else { return 0 };
    guard(0, || {
        let (Ok(one), Ok(other)) = (one.key(), other.key()) else { return 0 };
        let (one, other) = (&one.numbers, &other.numbers);
        let public = one.n == other.n && one.e == other.e;
        c_int::from(match selection & select::KEYPAIR {
            0 => true,
            select::PRIVATE => public && one.d == other.d,
            _ => public,
        })
    })
}

unsafe extern "C" fn import(data: Opaque, selection: c_int, params: *const Param) -> c_int {
    // SAFETY: what OpenSSL holds, and its array.
    let (key_data, params) = unsafe { (key_data(data), Params::new(params)) };
    let Some(key_data) = key_data else { return 0 };
    status(&key_data.provider.core, || {
        if selection & (select::KEYPAIR | select::OTHER_PARAMETERS) == 0 {
            return Err(Failure::new(
                Reason::Key,
                "an RSA key has no parameters alone: import its public or private numbers",
            ));
        }
        if selects(selection, select::OTHER_PARAMETERS)
            && let Some(name) = RESTRICTIONS.iter().find(|name| params.get(name).is_some())
        {
            let name = name.to_string_lossy();
            let why = format!("{name} is for keys that are restricted to PSS (RSA-PSS), not for RSA");
            return Err(Failure::new(Reason::Key, why));
        }
        if selection & select::KEYPAIR == 0 {
            return Ok(()); // the key stays empty, as in OpenSSL
        }
        let numbers = Numbers::read(&params, selects(selection, select::PRIVATE))?;
        key_data.set(Key::new(&key_data.provider, numbers)?);
        Ok(())
    })
}

unsafe extern "C" fn types(selection: c_int) -> *const Param {
    match selection & select::KEYPAIR {
        0 => ptr::null(),
        select::PUBLIC => PUBLIC.as_ptr(),
        _ => KEYPAIR.as_ptr(),
    }
}

unsafe extern "C" fn export(
    data: Opaque,
    selection: c_int,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: what OpenSSL holds.
    let Some(key_data) = (unsafe { key_data(data) }) else { return 0 };
    status(&key_data.provider.core, || {
        let (Some(callback), key) = (callback, key_data.key()?) else {
            return Err(Failure::new(Reason::Internal, "no function to export to was given"));
        };
        // An RSA key has no parameters, as in OpenSSL.
        if selection & (select::KEYPAIR | select::OTHER_PARAMETERS) == 0 {
            return Err(Failure::new(
                Reason::Key,
                "an RSA key has no parameters alone: export its public or private numbers",
            ));
        }
        let mut params = Built::default();
        key.numbers.write(selection, &mut params);
        // SAFETY: OpenSSL's function, with its argument and an array of parameters.
        if unsafe { callback(params.array(), argument) } == 1 { Ok(()) } else { Err(Failure::raised()) }
    })
}

unsafe extern "C" fn duplicate(data: *const c_void, selection: c_int) -> Opaque {
    // SAFETY: what OpenSSL holds.
    let Some(key_data) = (unsafe { key_data(data) }) else { return ptr::null_mut() };
    let duplicated = value(&key_data.provider.core, || {
        let Ok(key) = key_data.key() else { return Ok(None) };
        Ok::<_, Failure>(match selection & select::KEYPAIR {
            0 => None,
            select::PUBLIC => Some(Arc::new(Key::new(&key_data.provider, key.numbers.public())?)),
            _ => Some(key),
        })
    });
    duplicated.map_or(ptr::null_mut(), |key| into_key_data(key_data.provider.clone(), key))
}

unsafe extern "C" fn get_params(data: Opaque, params: *mut Param) -> c_int {
    // SAFETY: what OpenSSL holds, and its array.
    let (key_data, mut requested) = unsafe { (key_data(data), Requested::new(params)) };
    let Some(key_data) = key_data else { return 0 };
    status(&key_data.provider.core, || {
        let key = key_data.key()?;
        let mut security = Ok(true);
        requested.put(c"security-bits", |param| {
            security = key.security(&key_data.provider).map(|bits| param.put_int(bits as i64));
            true
        });
        let done = security?
            && requested.put(c"bits", |param| param.put_int(key.bits() as i64))
            && requested.put(c"max-size", |param| param.put_int(key.size() as i64))
            && requested.put(c"default-digest", |param| param.put_constant(DEFAULT_DIGEST))
            && key.numbers.write_requested(&mut requested);
        if done { Ok(()) } else { Err(Failure::does_not_fit()) }
    })
}

unsafe extern "C" fn gettable_params(_: Opaque) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn gen_init(provider: Opaque, selection: c_int, params: *const Param) -> Opaque {
    if selection & select::KEYPAIR == 0 {
        return ptr::null_mut();
    }
    // SAFETY: the provider's own context, and OpenSSL's array.
    let (provider, params) = unsafe { (Provider::shared(provider), Params::new(params)) };
    let mut plan = Plan::new(provider.clone());
    hold(value(&provider.core, || plan.set(&params)).map(|()| plan))
}

unsafe extern "C" fn gen_set_params(plan: Opaque, params: *const Param) -> c_int {
    // SAFETY: from `gen_init`, and OpenSSL's array.
    let (plan, params) = unsafe { (plan.cast::<Plan>().as_mut(), Params::new(params)) };
    let Some(plan) = plan else { return 0 };
    let provider = plan.provider.clone();
    status(&provider.core, || plan.set(&params))
}

unsafe extern "C" fn gen_settable_params(_: Opaque, _: Opaque) -> *const Param {
    SETTABLE.as_ptr()
}

unsafe extern "C" fn generate(plan: Opaque, callback: Option<Callback>, argument: *mut c_void) -> Opaque {
    // SAFETY: from `gen_init`.
    let Some(plan) = (unsafe { plan.cast::<Plan>().as_ref() }) else { return ptr::null_mut() };
    let made = value(&plan.provider.core, || plan.make(&Progress { callback, argument }));
    made.map_or(ptr::null_mut(), |key| into_key_data(plan.provider.clone(), Some(Arc::new(key))))
}

unsafe extern "C" fn gen_cleanup(plan: Opaque) {
    // SAFETY: a plan of ours, given back once.
    unsafe { release::<Plan>(plan) };
}
