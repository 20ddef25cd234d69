//! zariz's provider and the default one in OpenSSL, in this process: contexts, keys and lists of parameters.
//!
//! The provider is linked, so that libFuzzer sees which of its code an input reaches.
#![allow(unsafe_code)]

#[allow(dead_code)] // The provider's tests call more of them.
#[path = "../../../crates/openssl-provider/tests/common/ffi.rs"]
mod ffi;

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use zariz::rsa::Components;

pub use ffi::{INTEGER, OCTET_PTR, OCTET_STRING, REAL, UNSIGNED, UTF8_PTR, UTF8_STRING};

/// A library context with both providers. It lives as long as the process.
pub struct World(*mut ffi::LibCtx);

// SAFETY: OpenSSL allows any thread to use a library context.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

/// Who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// zariz.
    Zariz,
    /// OpenSSL's own code.
    Default,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Zariz, Self::Default];

    fn query(self) -> *const c_char {
        match self {
            Self::Zariz => c"provider=zariz".as_ptr(),
            Self::Default => c"provider=default".as_ptr(),
        }
    }
}

/// The world, made at the first call.
pub fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let init = zariz_provider::OSSL_provider_init as *const c_void;
        // SAFETY: live objects and texts; the function has the type that OpenSSL expects.
        unsafe {
            let ctx = ffi::OSSL_LIB_CTX_new();
            assert!(!ctx.is_null(), "a library context");
            assert_eq!(ffi::OSSL_PROVIDER_add_builtin(ctx, c"zariz".as_ptr(), init), 1, "zariz is added");
            for name in [c"default", c"zariz"] {
                assert!(!ffi::OSSL_PROVIDER_load(ctx, name.as_ptr()).is_null(), "{name:?} loads");
            }
            World(ctx)
        }
    })
}

/// One value of a list: its type and its bytes.
#[derive(Clone, Debug)]
pub struct Value {
    /// The name.
    pub key: CString,
    /// The type.
    pub data_type: u32,
    /// The bytes, of which OpenSSL is told; a zero follows them.
    pub bytes: Vec<u8>,
    /// Whether there is no data, only a length.
    pub absent: bool,
}

/// A list of `OSSL_PARAM`, and what it points to.
pub struct List {
    params: Vec<ffi::Param>,
    data: Vec<Vec<u8>>,
    /// For values that are given by their address.
    _places: Vec<*const u8>,
    sizes: Vec<usize>,
}

/// What stands behind the room of a value.
const CANARY: [u8; 9] = [0, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5];

impl List {
    /// A list of values, whose keys must outlive it.
    pub fn new(values: &[Value]) -> Self {
        let mut data: Vec<Vec<u8>> =
            values.iter().map(|value| [&value.bytes[..], &CANARY].concat()).collect();
        let mut places: Vec<*const u8> = data.iter().map(|bytes| bytes.as_ptr()).collect();
        let param = |((value, bytes), place): ((&Value, &mut Vec<u8>), &mut *const u8)| ffi::Param {
            key: value.key.as_ptr(),
            data_type: value.data_type,
            data: match value.data_type {
                _ if value.absent => ptr::null_mut(),
                UTF8_PTR | OCTET_PTR => ptr::from_mut(place).cast(),
                _ => bytes.as_mut_ptr().cast(),
            },
            data_size: value.bytes.len(),
            return_size: usize::MAX,
        };
        let params =
            values.iter().zip(&mut data).zip(&mut places).map(param).chain([ffi::Param::END]).collect();
        Self { params, data, _places: places, sizes: values.iter().map(|value| value.bytes.len()).collect() }
    }

    /// Checks that nothing was written behind the room of any value.
    fn check_written(&self) {
        for (bytes, size) in self.data.iter().zip(&self.sizes) {
            assert_eq!(bytes[*size..], CANARY, "written behind the room");
        }
    }
}

/// What a context is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Signing a digest.
    Sign,
    /// Verifying.
    Verify,
    /// Recovering what was signed.
    Recover,
    /// Encryption.
    Encrypt,
    /// Decryption.
    Decrypt,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Sign, Self::Verify, Self::Recover, Self::Encrypt, Self::Decrypt];
}

/// A key in one provider.
pub struct Key(*mut ffi::Pkey);

// SAFETY: OpenSSL allows any thread to use a key.
unsafe impl Send for Key {}
// SAFETY: as above.
unsafe impl Sync for Key {}

impl Key {
    /// A key from a list of numbers, if the provider takes it.
    pub fn import(side: Side, selection: c_int, values: &[Value]) -> Option<Self> {
        let mut list = List::new(values);
        let mut key = ptr::null_mut();
        // SAFETY: live objects, texts and a list with an end.
        unsafe {
            let ctx = ffi::EVP_PKEY_CTX_new_from_name(world().0, c"RSA".as_ptr(), side.query());
            assert!(!ctx.is_null(), "a context");
            assert_eq!(ffi::EVP_PKEY_fromdata_init(ctx), 1, "an import begins");
            let done = ffi::EVP_PKEY_fromdata(ctx, &mut key, selection, list.params.as_mut_ptr());
            ffi::EVP_PKEY_CTX_free(ctx);
            ffi::ERR_clear_error();
            list.check_written();
            (done == 1 && !key.is_null()).then_some(Self(key))
        }
    }

    /// Requests values of the key.
    pub fn get(&self, values: &[Value]) -> bool {
        let mut list = List::new(values);
        // SAFETY: a live key and a list with an end.
        let done = unsafe { ffi::EVP_PKEY_get_params(self.0, list.params.as_mut_ptr()) };
        list.check_written();
        done == 1
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { ffi::EVP_PKEY_free(self.0) };
    }
}

/// Both halves of a key, or the public one: `EVP_PKEY_KEYPAIR`, `EVP_PKEY_PUBLIC_KEY`.
pub const SELECTIONS: [c_int; 2] = [0x87, 0x86];

/// The numbers of a key, as OpenSSL calls them.
pub fn numbers(key: &Components) -> Vec<Value> {
    let numbers: [(&str, &[u8]); 8] = [
        ("n", &key.n),
        ("e", &key.e),
        ("d", &key.d),
        ("rsa-factor1", &key.p),
        ("rsa-factor2", &key.q),
        ("rsa-exponent1", &key.dp),
        ("rsa-exponent2", &key.dq),
        ("rsa-coefficient1", &key.qinv),
    ];
    let value = |(name, number): (&str, &[u8])| Value {
        key: CString::new(name).expect("a name"),
        data_type: UNSIGNED,
        bytes: number.iter().rev().copied().collect(),
        absent: false,
    };
    numbers.into_iter().map(value).collect()
}

/// A context of an operation.
pub struct Ctx(*mut ffi::PkeyCtx);

impl Drop for Ctx {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { ffi::EVP_PKEY_CTX_free(self.0) };
    }
}

impl Ctx {
    /// A context for a key.
    pub fn new(side: Side, key: &Key) -> Self {
        // SAFETY: live objects and a text.
        let ctx = unsafe { ffi::EVP_PKEY_CTX_new_from_pkey(world().0, key.0, side.query()) };
        assert!(!ctx.is_null(), "a context");
        Self(ctx)
    }

    /// A copy, if its provider makes one.
    pub fn duplicate(&self) -> Option<Self> {
        // SAFETY: a live context.
        let ctx = unsafe { ffi::EVP_PKEY_CTX_dup(self.0) };
        (!ctx.is_null()).then_some(Self(ctx))
    }

    /// Begins an operation; whether that is accepted.
    pub fn begin(&self, operation: Operation, values: &[Value]) -> bool {
        let list = List::new(values);
        let params = list.params.as_ptr();
        // SAFETY: a live context and a list with an end.
        let done = unsafe {
            match operation {
                Operation::Sign => ffi::EVP_PKEY_sign_init_ex(self.0, params),
                Operation::Verify => ffi::EVP_PKEY_verify_init_ex(self.0, params),
                Operation::Recover => ffi::EVP_PKEY_verify_recover_init_ex(self.0, params),
                Operation::Encrypt => ffi::EVP_PKEY_encrypt_init_ex(self.0, params),
                Operation::Decrypt => ffi::EVP_PKEY_decrypt_init_ex(self.0, params),
            }
        };
        list.check_written();
        accepted(done)
    }

    /// Sets parameters; whether they are accepted.
    pub fn set(&self, values: &[Value]) -> bool {
        let list = List::new(values);
        // SAFETY: a live context and a list with an end.
        let done = unsafe { ffi::EVP_PKEY_CTX_set_params(self.0, list.params.as_ptr()) };
        list.check_written();
        accepted(done)
    }

    /// Requests parameters; whether all were written.
    pub fn get(&self, values: &[Value]) -> bool {
        let mut list = List::new(values);
        // SAFETY: a live context and a list with an end.
        let done = unsafe { ffi::EVP_PKEY_CTX_get_params(self.0, list.params.as_mut_ptr()) };
        list.check_written();
        accepted(done)
    }

    /// Does the operation, with room for `room` bytes, or with as much as it asks for.
    pub fn run(&self, operation: Operation, data: &[u8], room: Option<usize>) -> Option<Vec<u8>> {
        let run = |out: *mut u8, size: &mut usize| {
            let (data, length) = (data.as_ptr(), data.len());
            // SAFETY: a live context; the buffers have the lengths that it is told.
            accepted(unsafe {
                match operation {
                    Operation::Sign => ffi::EVP_PKEY_sign(self.0, out, size, data, length),
                    Operation::Recover => ffi::EVP_PKEY_verify_recover(self.0, out, size, data, length),
                    Operation::Encrypt => ffi::EVP_PKEY_encrypt(self.0, out, size, data, length),
                    Operation::Decrypt => ffi::EVP_PKEY_decrypt(self.0, out, size, data, length),
                    Operation::Verify => 0,
                }
            })
        };
        let mut size = 0;
        if !run(ptr::null_mut(), &mut size) {
            return None;
        }
        let room = room.unwrap_or(size);
        let mut out = [vec![0; room], CANARY.to_vec()].concat();
        let mut size = room;
        let done = run(out.as_mut_ptr(), &mut size);
        assert_eq!(out[room..], CANARY, "written behind the room");
        if !done {
            return None;
        }
        assert!(size <= room, "{operation:?} says {size} of {room} bytes");
        out.truncate(size);
        Some(out)
    }

    /// Whether a signature is that of the data.
    pub fn verify(&self, signature: &[u8], data: &[u8]) -> bool {
        // SAFETY: a live context; the buffers have the lengths that it is told.
        accepted(unsafe {
            ffi::EVP_PKEY_verify(self.0, signature.as_ptr(), signature.len(), data.as_ptr(), data.len())
        })
    }
}

/// Whether a call succeeded; errors of a call that did not are forgotten.
fn accepted(code: c_int) -> bool {
    // SAFETY: no arguments.
    unsafe { ffi::ERR_clear_error() };
    code == 1
}
