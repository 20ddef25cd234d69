//! Operations of `EVP_PKEY_CTX`: on digests, ciphertexts and numbers.

use std::collections::BTreeMap;
use std::ffi::{CString, c_int, c_uint};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;

use super::call;
use super::failure::Failure;
use super::ffi;
use super::key::Key;
use super::params::{Params, Reading, names, read};
use super::world::{Side, World, text};

/// The operations of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Sign,
    Verify,
    Recover,
    Encrypt,
    Decrypt,
}

impl Operation {
    pub const ALL: [Self; 5] = [Self::Sign, Self::Verify, Self::Recover, Self::Encrypt, Self::Decrypt];
}

/// A context. It borrows its key.
#[derive(Debug)]
pub struct Ctx<'k> {
    ctx: *mut ffi::PkeyCtx,
    of: PhantomData<&'k ()>,
}

// SAFETY: a context may be passed to another thread.
unsafe impl Send for Ctx<'_> {}

impl<'k> Ctx<'k> {
    fn take(ctx: *mut ffi::PkeyCtx, call: &'static str) -> Result<Self, Failure> {
        if ctx.is_null() { Err(Failure::take(call, 0)) } else { Ok(Self { ctx, of: PhantomData }) }
    }

    /// A context for a key.
    pub fn of(world: &'k World, side: Side, key: &'k Key) -> Result<Self, Failure> {
        // SAFETY: live objects, and a text.
        let ctx =
            unsafe { ffi::EVP_PKEY_CTX_new_from_pkey(world.context(), key.raw(), side.query().as_ptr()) };
        Self::take(ctx, "EVP_PKEY_CTX_new_from_pkey")
    }

    /// A context for a type of key.
    pub fn named(world: &'k World, side: Side, name: &str) -> Result<Self, Failure> {
        let name = CString::new(name).expect("a name");
        // SAFETY: live objects, and texts.
        let ctx =
            unsafe { ffi::EVP_PKEY_CTX_new_from_name(world.context(), name.as_ptr(), side.query().as_ptr()) };
        Self::take(ctx, "EVP_PKEY_CTX_new_from_name")
    }

    /// A context for a key, initialised for an operation by that side.
    pub fn ready(
        world: &'k World,
        side: Side,
        key: &'k Key,
        operation: Operation,
        params: &Params,
    ) -> Result<Self, Failure> {
        let ctx = Self::of(world, side, key)?;
        ctx.init(operation, params)?;
        // SAFETY: a live context that is initialised: it has a provider, which has a name.
        let provider =
            unsafe { text(ffi::OSSL_PROVIDER_get0_name(ffi::EVP_PKEY_CTX_get0_provider(ctx.ctx))) };
        assert_eq!(provider, Some(side.provider()), "who does {operation:?}");
        Ok(ctx)
    }

    /// Like [`ready`](Self::ready), but frees the key: only the context keeps it.
    pub fn keeping(
        world: &'k World,
        side: Side,
        key: Key<'k>,
        operation: Operation,
        params: &Params,
    ) -> Result<Self, Failure> {
        let ctx = ManuallyDrop::new(Ctx::ready(world, side, &key, operation, params)?).ctx;
        Self::take(ctx, "EVP_PKEY_CTX_new_from_pkey")
    }

    pub fn raw(&self) -> *mut ffi::PkeyCtx {
        self.ctx
    }

    /// Initialises it for an operation.
    pub fn init(&self, operation: Operation, params: &Params) -> Result<(), Failure> {
        let (ctx, list) = (self.ctx, params.list());
        match operation {
            Operation::Sign => call!(EVP_PKEY_sign_init_ex(ctx, list.as_ptr())),
            Operation::Verify => call!(EVP_PKEY_verify_init_ex(ctx, list.as_ptr())),
            Operation::Recover => call!(EVP_PKEY_verify_recover_init_ex(ctx, list.as_ptr())),
            Operation::Encrypt => call!(EVP_PKEY_encrypt_init_ex(ctx, list.as_ptr())),
            Operation::Decrypt => call!(EVP_PKEY_decrypt_init_ex(ctx, list.as_ptr())),
        }
    }

    /// Calls the operation's function once: without a buffer for the result's size, otherwise with a buffer
    /// of that size. Returns the size that it reports.
    pub fn once(&self, operation: Operation, out: Option<&mut [u8]>, data: &[u8]) -> Result<usize, Failure> {
        let (ctx, mut size) = (self.ctx, out.as_ref().map_or(0, |out| out.len()));
        let out = out.map_or(ptr::null_mut(), |out| out.as_mut_ptr());
        let (data, length) = (data.as_ptr(), data.len());
        match operation {
            Operation::Sign => call!(EVP_PKEY_sign(ctx, out, &mut size, data, length)),
            Operation::Recover => call!(EVP_PKEY_verify_recover(ctx, out, &mut size, data, length)),
            Operation::Encrypt => call!(EVP_PKEY_encrypt(ctx, out, &mut size, data, length)),
            Operation::Decrypt => call!(EVP_PKEY_decrypt(ctx, out, &mut size, data, length)),
            Operation::Verify => unreachable!("verification has no answer"),
        }?;
        Ok(size)
    }

    /// Calls the operation like programs do: first for the size, then for the result.
    pub fn run(&self, operation: Operation, data: &[u8]) -> Result<Vec<u8>, Failure> {
        let size = self.once(operation, None, data)?;
        let mut out = vec![0; size];
        let written = self.once(operation, Some(&mut out), data)?;
        assert!(written <= size, "{operation:?} says {written} of {size} bytes");
        out.truncate(written);
        Ok(out)
    }

    pub fn verify(&self, signature: &[u8], data: &[u8]) -> Result<(), Failure> {
        call!(EVP_PKEY_verify(self.ctx, signature.as_ptr(), signature.len(), data.as_ptr(), data.len()))
    }

    pub fn generate<'w>(&self, world: &'w World) -> Result<Key<'w>, Failure> {
        let mut key = ptr::null_mut();
        let done = call!(EVP_PKEY_generate(self.ctx, &mut key));
        done.and_then(|()| Key::generated(world, key))
    }

    pub fn set(&self, params: &Params) -> Result<(), Failure> {
        set(self.ctx, params)
    }

    /// Sets a parameter by name and value, like `-pkeyopt`.
    pub fn control(&self, name: &str, value: &str) -> Result<(), Failure> {
        let (name, value) = (CString::new(name).expect("a name"), CString::new(value).expect("a value"));
        call!(EVP_PKEY_CTX_ctrl_str(self.ctx, name.as_ptr(), value.as_ptr()))
    }

    pub fn get(&self, name: &str, data_type: c_uint, size: usize) -> Option<Reading> {
        get(self.ctx, name, data_type, size)
    }

    pub fn gettable(&self) -> BTreeMap<String, c_uint> {
        // SAFETY: a live context; the list is the provider's.
        unsafe { names(ffi::EVP_PKEY_CTX_gettable_params(self.ctx)) }
    }

    pub fn settable(&self) -> BTreeMap<String, c_uint> {
        // SAFETY: a live context; the list is the provider's.
        unsafe { names(ffi::EVP_PKEY_CTX_settable_params(self.ctx)) }
    }

    pub fn duplicate(&self) -> Result<Self, Failure> {
        // SAFETY: a live context.
        Self::take(unsafe { ffi::EVP_PKEY_CTX_dup(self.ctx) }, "EVP_PKEY_CTX_dup")
    }
}

impl Drop for Ctx<'_> {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { ffi::EVP_PKEY_CTX_free(self.ctx) };
    }
}

/// Sets parameters of a live context.
pub(super) fn set(ctx: *mut ffi::PkeyCtx, params: &Params) -> Result<(), Failure> {
    call!(EVP_PKEY_CTX_set_params(ctx, params.list().as_ptr()))
}

/// Reads a parameter of a live context.
pub(super) fn get(ctx: *mut ffi::PkeyCtx, name: &str, data_type: c_uint, size: usize) -> Option<Reading> {
    // SAFETY: a live context and a list with an end.
    let get = |params| -> c_int { unsafe { ffi::EVP_PKEY_CTX_get_params(ctx, params) } };
    read(name, data_type, size, get)
}

/// One whole operation: a context, the parameters, the result.
pub fn operate(
    world: &World,
    side: Side,
    key: &Key,
    operation: Operation,
    params: &Params,
    data: &[u8],
) -> Result<Vec<u8>, Failure> {
    Ctx::ready(world, side, key, operation, params)?.run(operation, data)
}

/// One whole verification of a digest's signature.
pub fn verify(
    world: &World,
    side: Side,
    key: &Key,
    params: &Params,
    signature: &[u8],
    data: &[u8],
) -> Result<(), Failure> {
    Ctx::ready(world, side, key, Operation::Verify, params)?.verify(signature, data)
}
