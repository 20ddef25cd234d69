//! Keys of either provider.

use std::collections::BTreeMap;
use std::ffi::{CString, c_int, c_uint};
use std::marker::PhantomData;
use std::ptr;

use super::call;
use super::failure::Failure;
use super::ffi;
use super::operation::Ctx;
use super::params::{Params, Reading, names, read, read_all};
use super::world::{Side, World, text};

/// A key in one provider.
#[derive(Debug)]
pub struct Key<'w> {
    key: *mut ffi::Pkey,
    world: PhantomData<&'w World>,
}

// SAFETY: any thread may use keys.
unsafe impl Send for Key<'_> {}
// SAFETY: several threads may use a key at once.
unsafe impl Sync for Key<'_> {}

/// The numbers of a key, by OpenSSL's names.
pub type Numbers = BTreeMap<String, Reading>;

/// The ways of checking a key.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    Whole,
    Public,
    PublicQuick,
    Private,
    Pairwise,
    Parameters,
}

impl Check {
    pub const ALL: [Self; 6] =
        [Self::Whole, Self::Public, Self::PublicQuick, Self::Private, Self::Pairwise, Self::Parameters];
}

impl<'w> Key<'w> {
    /// Takes ownership of a key from OpenSSL.
    fn take(_world: &'w World, key: *mut ffi::Pkey, call: &'static str) -> Result<Self, Failure> {
        if key.is_null() { Err(Failure::take(call, 0)) } else { Ok(Self { key, world: PhantomData }) }
    }

    /// From a private key in PEM.
    pub fn pem(world: &'w World, side: Side, pem: &[u8]) -> Result<Self, Failure> {
        let length = c_int::try_from(pem.len()).expect("a short text");
        let query = side.query().as_ptr();
        let (null, none) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the text outlives its reader; nulls are allowed.
        unsafe {
            let bio = ffi::BIO_new_mem_buf(pem.as_ptr().cast(), length);
            assert!(!bio.is_null());
            let key = ffi::PEM_read_bio_PrivateKey_ex(bio, null, none, none, world.context(), query);
            ffi::BIO_free(bio);
            Self::take(world, key, "PEM_read_bio_PrivateKey_ex")
        }
    }

    /// From a public key in PEM.
    pub fn public_pem(world: &'w World, side: Side, pem: &[u8]) -> Result<Self, Failure> {
        let length = c_int::try_from(pem.len()).expect("a short text");
        let query = side.query().as_ptr();
        let (null, none) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the text outlives its reader; nulls are allowed.
        unsafe {
            let bio = ffi::BIO_new_mem_buf(pem.as_ptr().cast(), length);
            assert!(!bio.is_null());
            let key = ffi::PEM_read_bio_PUBKEY_ex(bio, null, none, none, world.context(), query);
            ffi::BIO_free(bio);
            Self::take(world, key, "PEM_read_bio_PUBKEY_ex")
        }
    }

    /// From DER of any structure.
    pub fn der(world: &'w World, side: Side, der: &[u8]) -> Result<Self, Failure> {
        let (mut at, length) = (der.as_ptr(), der.len().try_into().expect("a short key"));
        let query = side.query().as_ptr();
        // SAFETY: the length is that of the slice; the context is live.
        let key =
            unsafe { ffi::d2i_AutoPrivateKey_ex(ptr::null_mut(), &mut at, length, world.context(), query) };
        Self::take(world, key, "d2i_AutoPrivateKey_ex")
    }

    /// From numbers.
    pub fn from_data(
        world: &'w World,
        side: Side,
        selection: c_int,
        numbers: &Params,
    ) -> Result<Self, Failure> {
        Self::of_kind(world, side, "RSA", selection, numbers)
    }

    /// A key of another type from numbers.
    pub fn of_kind(
        world: &'w World,
        side: Side,
        kind: &str,
        selection: c_int,
        numbers: &Params,
    ) -> Result<Self, Failure> {
        let ctx = Ctx::named(world, side, kind)?;
        call!(EVP_PKEY_fromdata_init(ctx.raw()))?;
        let mut key = ptr::null_mut();
        let done = call!(EVP_PKEY_fromdata(ctx.raw(), &mut key, selection, numbers.list().as_mut_ptr()));
        let key = Self::take(world, key, "EVP_PKEY_fromdata");
        done.and(key)
    }

    /// A key from the numbers of another key, in either provider.
    pub fn with_numbers(
        world: &'w World,
        side: Side,
        selection: c_int,
        numbers: &Numbers,
    ) -> Result<Self, Failure> {
        let add =
            |params: Params, (name, value): (&String, &Reading)| params.number(name, &value.big_endian());
        Self::from_data(world, side, selection, &numbers.iter().fold(Params::new(), add))
    }

    /// A new key.
    pub fn generate(world: &'w World, side: Side, settings: &Params) -> Result<Self, Failure> {
        let ctx = Ctx::named(world, side, "RSA")?;
        call!(EVP_PKEY_keygen_init(ctx.raw()))?;
        ctx.set(settings)?;
        ctx.generate(world)
    }

    pub(super) fn generated(world: &'w World, key: *mut ffi::Pkey) -> Result<Self, Failure> {
        Self::take(world, key, "EVP_PKEY_generate")
    }

    /// The same key, in either provider.
    #[track_caller]
    pub fn on(&self, world: &'w World, side: Side) -> Self {
        let numbers = self.numbers(ffi::KEYPAIR).expect("the key can be exported");
        Self::with_numbers(world, side, ffi::KEYPAIR, &numbers).expect("the key can be imported")
    }

    /// Only the public half.
    #[track_caller]
    pub fn public(&self, world: &'w World, side: Side) -> Self {
        let numbers = self.numbers(ffi::PUBLIC_KEY).expect("the key can be exported");
        assert_eq!(numbers.keys().collect::<Vec<_>>(), ["e", "n"], "the numbers of a public key");
        Self::with_numbers(world, side, ffi::PUBLIC_KEY, &numbers).expect("the key can be imported")
    }

    pub fn raw(&self) -> *mut ffi::Pkey {
        self.key
    }

    /// Its numbers.
    pub fn numbers(&self, selection: c_int) -> Result<Numbers, Failure> {
        let mut list = ptr::null_mut();
        call!(EVP_PKEY_todata(self.key, selection, &mut list))?;
        // SAFETY: the list is OpenSSL's, and is ours to free.
        unsafe {
            let numbers = read_all(list);
            ffi::OSSL_PARAM_free(list);
            Ok(numbers)
        }
    }

    /// Its provider's name.
    pub fn provider(&self) -> &str {
        // SAFETY: a live key, and the name of its provider.
        unsafe { text(ffi::OSSL_PROVIDER_get0_name(ffi::EVP_PKEY_get0_provider(self.key))) }.expect("a name")
    }

    pub fn duplicate(&self) -> Result<Self, Failure> {
        // SAFETY: a live key.
        let key = unsafe { ffi::EVP_PKEY_dup(self.key) };
        if key.is_null() {
            Err(Failure::take("EVP_PKEY_dup", 0))
        } else {
            Ok(Self { key, world: PhantomData })
        }
    }

    /// What `EVP_PKEY_eq` returns: 1 for equal public halves.
    pub fn equals(&self, other: &Self) -> c_int {
        // SAFETY: live keys.
        unsafe { ffi::EVP_PKEY_eq(self.key, other.key) }
    }

    /// Checks it.
    pub fn check(&self, world: &'w World, side: Side, what: Check) -> Result<(), Failure> {
        let ctx = Ctx::of(world, side, self)?;
        match what {
            Check::Whole => call!(EVP_PKEY_check(ctx.raw())),
            Check::Public => call!(EVP_PKEY_public_check(ctx.raw())),
            Check::PublicQuick => call!(EVP_PKEY_public_check_quick(ctx.raw())),
            Check::Private => call!(EVP_PKEY_private_check(ctx.raw())),
            Check::Pairwise => call!(EVP_PKEY_pairwise_check(ctx.raw())),
            Check::Parameters => call!(EVP_PKEY_param_check(ctx.raw())),
        }
    }

    /// Its properties: size, bits, security bits, whether it can sign.
    pub fn properties(&self) -> [c_int; 4] {
        // SAFETY: a live key.
        unsafe {
            [
                ffi::EVP_PKEY_get_size(self.key),
                ffi::EVP_PKEY_get_bits(self.key),
                ffi::EVP_PKEY_get_security_bits(self.key),
                ffi::EVP_PKEY_can_sign(self.key),
            ]
        }
    }

    /// The length of its signatures in bytes.
    pub fn size(&self) -> usize {
        self.properties()[0].try_into().expect("a size")
    }

    pub fn is_a(&self, name: &str) -> bool {
        let name = CString::new(name).expect("a name");
        // SAFETY: a live key and a text.
        unsafe { ffi::EVP_PKEY_is_a(self.key, name.as_ptr()) == 1 }
    }

    /// The default digest for signing, and how strongly it is recommended.
    pub fn default_digest(&self) -> (c_int, String) {
        let mut name = [0_u8; 64];
        // SAFETY: the buffer has the given length.
        let code =
            unsafe { ffi::EVP_PKEY_get_default_digest_name(self.key, name.as_mut_ptr().cast(), name.len()) };
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(0);
        (code, String::from_utf8_lossy(&name[..end]).into_owned())
    }

    /// The parameters that can be read from it.
    pub fn gettable(&self) -> BTreeMap<String, c_uint> {
        // SAFETY: a live key; the list is the provider's.
        unsafe { names(ffi::EVP_PKEY_gettable_params(self.key)) }
    }

    /// The parameters that can be set.
    pub fn settable(&self) -> BTreeMap<String, c_uint> {
        // SAFETY: a live key; the list is the provider's.
        unsafe { names(ffi::EVP_PKEY_settable_params(self.key)) }
    }

    /// One parameter.
    pub fn get(&self, name: &str, data_type: c_uint, size: usize) -> Option<Reading> {
        // SAFETY: a live key and a list with an end.
        read(name, data_type, size, |params| unsafe { ffi::EVP_PKEY_get_params(self.key, params) })
    }

    pub fn set(&self, params: &Params) -> Result<(), Failure> {
        call!(EVP_PKEY_set_params(self.key, params.list().as_mut_ptr()))
    }

    /// The key as a file: `format` is `DER` or `PEM`, `structure` is for example `PrivateKeyInfo` or
    /// `type-specific`.
    pub fn encoded(&self, selection: c_int, format: &str, structure: &str) -> Result<Vec<u8>, Failure> {
        let (format, structure) =
            (CString::new(format).expect("a name"), CString::new(structure).expect("a name"));
        let (mut data, mut length) = (ptr::null_mut(), 0);
        // SAFETY: live objects and texts; the answer is ours to free.
        unsafe {
            let (format, structure) = (format.as_ptr(), structure.as_ptr());
            let ctx = ffi::OSSL_ENCODER_CTX_new_for_pkey(self.key, selection, format, structure, ptr::null());
            assert!(!ctx.is_null());
            let code = ffi::OSSL_ENCODER_to_data(ctx, &mut data, &mut length);
            ffi::OSSL_ENCODER_CTX_free(ctx);
            if code != 1 {
                return Err(Failure::take("OSSL_ENCODER_to_data", code));
            }
            let bytes = std::slice::from_raw_parts(data, length).to_vec();
            ffi::CRYPTO_free(data.cast(), c"".as_ptr(), 0);
            Ok(bytes)
        }
    }
}

impl Clone for Key<'_> {
    /// Another reference to the key.
    fn clone(&self) -> Self {
        // SAFETY: a live key.
        assert_eq!(unsafe { ffi::EVP_PKEY_up_ref(self.key) }, 1);
        Self { ..*self }
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: our reference.
        unsafe { ffi::EVP_PKEY_free(self.key) };
    }
}
