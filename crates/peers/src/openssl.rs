//! OpenSSL's libcrypto: Montgomery multiplication and constant-time exponentiation.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uchar};
use std::fmt;
use std::marker::{PhantomData, PhantomPinned};
use std::ptr::NonNull;

use crate::error::{Error, NotFound, exponent, modulus, operand};
use crate::library::{OPENSSL, Open};

/// In this version the pair of powers writes past its buffers on processors with AVX512-IFMA (CVE-2022-2274).
const PAIR_BROKEN: &str = "OpenSSL 3.0.4";

/// Types that only OpenSSL sees into.
macro_rules! opaque {
    ($($name:ident)*) => { $(#[repr(C)] struct $name { _data: [u8; 0], _not_ours: PhantomData<(*mut u8, PhantomPinned)> })* };
}
opaque!(Bignum BnCtx MontCtx);

type Exp = unsafe extern "C" fn(
    *mut Bignum,
    *const Bignum,
    *const Bignum,
    *const Bignum,
    *mut BnCtx,
    *mut MontCtx,
) -> c_int;
type ExpX2 = unsafe extern "C" fn(
    *mut Bignum,
    *const Bignum,
    *const Bignum,
    *const Bignum,
    *mut MontCtx,
    *mut Bignum,
    *const Bignum,
    *const Bignum,
    *const Bignum,
    *mut MontCtx,
    *mut BnCtx,
) -> c_int;

/// The functions we call, as `openssl/bn.h` declares them.
#[derive(Clone, Copy)]
struct Api {
    new: unsafe extern "C" fn() -> *mut Bignum,
    /// Wipes, too.
    free: unsafe extern "C" fn(*mut Bignum),
    from_bytes: unsafe extern "C" fn(*const c_uchar, c_int, *mut Bignum) -> *mut Bignum,
    to_bytes: unsafe extern "C" fn(*const Bignum, *mut c_uchar, c_int) -> c_int,
    ctx_new: unsafe extern "C" fn() -> *mut BnCtx,
    ctx_free: unsafe extern "C" fn(*mut BnCtx),
    mont_new: unsafe extern "C" fn() -> *mut MontCtx,
    mont_free: unsafe extern "C" fn(*mut MontCtx),
    mont_set: unsafe extern "C" fn(*mut MontCtx, *const Bignum, *mut BnCtx) -> c_int,
    enter: unsafe extern "C" fn(*mut Bignum, *const Bignum, *mut MontCtx, *mut BnCtx) -> c_int,
    leave: unsafe extern "C" fn(*mut Bignum, *const Bignum, *mut MontCtx, *mut BnCtx) -> c_int,
    multiply:
        unsafe extern "C" fn(*mut Bignum, *const Bignum, *const Bignum, *mut MontCtx, *mut BnCtx) -> c_int,
    exp: Exp,
    exp_x2: Option<ExpX2>,
}

/// OpenSSL 1.1.1 or later.
#[derive(Clone)]
pub struct OpenSsl {
    api: Api,
    version: String,
}

impl fmt::Debug for OpenSsl {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut openssl = f.debug_struct("OpenSsl");
        openssl.field("version", &self.version).field("has_pair", &self.has_pair()).finish_non_exhaustive()
    }
}

impl OpenSsl {
    /// Loads the system's OpenSSL.
    pub fn load() -> Result<Self, NotFound> {
        // SAFETY: the names are those of OpenSSL alone, and forks of it have the same functions.
        unsafe { Self::load_first(OPENSSL) }
    }

    /// Loads OpenSSL from the first of some files that can be loaded.
    ///
    /// # Safety
    /// Each file must be OpenSSL's libcrypto or a fork of it, or lack its functions.
    pub unsafe fn load_first(files: &[impl AsRef<OsStr>]) -> Result<Self, NotFound> {
        // SAFETY: the caller's promise.
        let open = unsafe { Open::first("OpenSSL", files, "libssl3") }?;
        // SAFETY: `openssl/crypto.h` declares it so.
        let version: unsafe extern "C" fn(c_int) -> *const c_char =
            unsafe { open.symbol("OpenSSL_version") }?;
        // SAFETY: 0 is OPENSSL_VERSION; the answer is a constant text, or null of an unknown number.
        let version = unsafe { version(0) };
        if version.is_null() {
            return Err(open.unfit(format_args!("does not tell its version")));
        }
        // SAFETY: not null, and a constant text that ends in a zero.
        let version = unsafe { CStr::from_ptr(version) }.to_string_lossy();
        let version = version.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        // SAFETY: the types in `Api` are those of `openssl/bn.h`, the same in all versions since 1.1.
        let api = unsafe {
            Api {
                new: open.symbol("BN_new")?,
                free: open.symbol("BN_clear_free")?,
                from_bytes: open.symbol("BN_bin2bn")?,
                to_bytes: open.symbol("BN_bn2binpad")?,
                ctx_new: open.symbol("BN_CTX_new")?,
                ctx_free: open.symbol("BN_CTX_free")?,
                mont_new: open.symbol("BN_MONT_CTX_new")?,
                mont_free: open.symbol("BN_MONT_CTX_free")?,
                mont_set: open.symbol("BN_MONT_CTX_set")?,
                enter: open.symbol("BN_to_montgomery")?,
                leave: open.symbol("BN_from_montgomery")?,
                multiply: open.symbol("BN_mod_mul_montgomery")?,
                exp: open.symbol("BN_mod_exp_mont_consttime")?,
                exp_x2: open.symbol("BN_mod_exp_mont_consttime_x2").ok().filter(|_| !is_broken(&version)),
            }
        };
        Ok(Self { api, version })
    }

    /// Its name and version, such as `OpenSSL 3.0.19`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether it has `BN_mod_exp_mont_consttime_x2` (OpenSSL 3.0), and that is safe to call (not in 3.0.4).
    pub fn has_pair(&self) -> bool {
        self.api.exp_x2.is_some()
    }

    /// Prepares multiplications of `x` by `y` in Montgomery's domain, modulo an odd `m`; `0 < x, y < m`.
    pub fn product(&self, x: &[u8], y: &[u8], m: &[u8]) -> Result<OpenSslProduct, Error> {
        let ring = Ring::new(self.api, modulus(m)?)?;
        let (x, y) = (ring.enter(operand(x, modulus(m)?)?)?, ring.enter(operand(y, modulus(m)?)?)?);
        Ok(OpenSslProduct { x, y, ring })
    }

    /// Prepares the power `base^e mod m` for an odd `m`, `0 < base < m` and `e > 0`.
    pub fn power(&self, base: &[u8], e: &[u8], m: &[u8]) -> Result<OpenSslPower, Error> {
        let m = modulus(m)?;
        Ok(OpenSslPower {
            ring: Ring::new(self.api, m)?,
            base: Number::from_bytes(self.api, operand(base, m)?)?,
            exponent: Number::from_bytes(self.api, exponent(e)?)?,
            result: Number::new(self.api)?,
        })
    }

    /// Prepares two powers to be computed by one call; `None` where [`has_pair`](Self::has_pair) is false.
    pub fn power_pair(&self, powers: [OpenSslPower; 2]) -> Option<OpenSslPowerPair> {
        self.api.exp_x2.map(|exp_x2| OpenSslPowerPair { exp_x2, powers })
    }
}

/// A number of OpenSSL's.
struct Number {
    api: Api,
    number: NonNull<Bignum>,
}

impl Number {
    /// Zero.
    fn new(api: Api) -> Result<Self, Error> {
        // SAFETY: no arguments; null is handled.
        let number = unsafe { (api.new)() };
        NonNull::new(number).map(|number| Self { api, number }).ok_or(Error::Failed("BN_new"))
    }

    fn from_bytes(api: Api, bytes: &[u8]) -> Result<Self, Error> {
        let number = Self::new(api)?;
        let length = c_int::try_from(bytes.len()).map_err(|_| Error::TooLong)?;
        // SAFETY: `bytes` are `length` readable bytes, and the number is ours.
        let done = unsafe { (api.from_bytes)(bytes.as_ptr(), length, number.get()) };
        if done.is_null() { Err(Error::Failed("BN_bin2bn")) } else { Ok(number) }
    }

    fn get(&self) -> *mut Bignum {
        self.number.as_ptr()
    }

    /// The number in `size` bytes, big-endian.
    fn value(&self, size: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; size];
        let length = c_int::try_from(size).map_err(|_| Error::TooLong)?;
        // SAFETY: `bytes` are `length` writable bytes.
        let written = unsafe { (self.api.to_bytes)(self.get(), bytes.as_mut_ptr(), length) };
        if written == length { Ok(bytes) } else { Err(Error::Failed("BN_bn2binpad")) }
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: the number is ours, and nothing uses it any more.
        unsafe { (self.api.free)(self.get()) };
    }
}

/// A modulus with what OpenSSL precomputes for it, and its working space.
struct Ring {
    api: Api,
    modulus: Number,
    size: usize,
    ctx: NonNull<BnCtx>,
    mont: NonNull<MontCtx>,
}

impl Ring {
    /// For a checked modulus.
    fn new(api: Api, modulus: &[u8]) -> Result<Self, Error> {
        let (number, size) = (Number::from_bytes(api, modulus)?, modulus.len());
        // SAFETY: no arguments; null is handled.
        let ctx = NonNull::new(unsafe { (api.ctx_new)() }).ok_or(Error::Failed("BN_CTX_new"))?;
        // SAFETY: no arguments; null is handled.
        let Some(mont) = NonNull::new(unsafe { (api.mont_new)() }) else {
            // SAFETY: the context is ours, and nothing uses it any more.
            unsafe { (api.ctx_free)(ctx.as_ptr()) };
            return Err(Error::Failed("BN_MONT_CTX_new"));
        };
        let ring = Self { api, modulus: number, size, ctx, mont };
        // SAFETY: all three are live objects of ours.
        let done = unsafe { (api.mont_set)(ring.mont.as_ptr(), ring.modulus.get(), ring.ctx.as_ptr()) };
        check(done, "BN_MONT_CTX_set").map(|()| ring)
    }

    /// A checked operand in Montgomery's domain.
    fn enter(&self, operand: &[u8]) -> Result<Number, Error> {
        let number = Number::from_bytes(self.api, operand)?;
        let (mont, ctx) = (self.mont.as_ptr(), self.ctx.as_ptr());
        // SAFETY: live objects of ours; the function allows its result to be its argument.
        let done = unsafe { (self.api.enter)(number.get(), number.get(), mont, ctx) };
        check(done, "BN_to_montgomery").map(|()| number)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: both are ours, and nothing uses them any more.
        unsafe {
            (self.api.mont_free)(self.mont.as_ptr());
            (self.api.ctx_free)(self.ctx.as_ptr());
        }
    }
}

/// A number `x` to be multiplied by `y` again and again, modulo `m`: `BN_mod_mul_montgomery`.
pub struct OpenSslProduct {
    ring: Ring,
    x: Number,
    y: Number,
}

impl OpenSslProduct {
    /// `x ← x·y mod m`.
    pub fn multiply(&mut self) -> Result<(), Error> {
        let (x, y, mont, ctx) = (self.x.get(), self.y.get(), self.ring.mont.as_ptr(), self.ring.ctx.as_ptr());
        // SAFETY: live objects of ours; the function allows its result to be an argument.
        check(unsafe { (self.ring.api.multiply)(x, x, y, mont, ctx) }, "BN_mod_mul_montgomery")
    }

    /// What `x` is now, big-endian, as long as the modulus.
    pub fn value(&self) -> Result<Vec<u8>, Error> {
        let out = Number::new(self.ring.api)?;
        let (mont, ctx) = (self.ring.mont.as_ptr(), self.ring.ctx.as_ptr());
        // SAFETY: live objects of ours.
        check(unsafe { (self.ring.api.leave)(out.get(), self.x.get(), mont, ctx) }, "BN_from_montgomery")?;
        out.value(self.ring.size)
    }
}

/// A power in constant time: `BN_mod_exp_mont_consttime`, with the modulus's constants computed before.
pub struct OpenSslPower {
    ring: Ring,
    base: Number,
    exponent: Number,
    result: Number,
}

impl OpenSslPower {
    /// Computes the power.
    pub fn compute(&mut self) -> Result<(), Error> {
        let (ring, result, base) = (&self.ring, self.result.get(), self.base.get());
        let (exponent, modulus) = (self.exponent.get(), ring.modulus.get());
        // SAFETY: live objects of ours; the constants are those of the modulus.
        let done =
            unsafe { (ring.api.exp)(result, base, exponent, modulus, ring.ctx.as_ptr(), ring.mont.as_ptr()) };
        check(done, "BN_mod_exp_mont_consttime")
    }

    /// The last result, big-endian, as long as the modulus; zero before the first.
    pub fn value(&self) -> Result<Vec<u8>, Error> {
        self.result.value(self.ring.size)
    }
}

/// Two powers by one call of `BN_mod_exp_mont_consttime_x2`.
pub struct OpenSslPowerPair {
    exp_x2: ExpX2,
    powers: [OpenSslPower; 2],
}

impl OpenSslPowerPair {
    /// Computes both.
    pub fn compute(&mut self) -> Result<(), Error> {
        let [a, b] = &self.powers;
        // SAFETY: live objects of ours, each power with the constants of its own modulus.
        let done = unsafe {
            (self.exp_x2)(
                a.result.get(),
                a.base.get(),
                a.exponent.get(),
                a.ring.modulus.get(),
                a.ring.mont.as_ptr(),
                b.result.get(),
                b.base.get(),
                b.exponent.get(),
                b.ring.modulus.get(),
                b.ring.mont.as_ptr(),
                a.ring.ctx.as_ptr(),
            )
        };
        check(done, "BN_mod_exp_mont_consttime_x2")
    }

    /// The two powers with their results.
    pub fn powers(&self) -> &[OpenSslPower; 2] {
        &self.powers
    }
}

/// Whether a version is [`PAIR_BROKEN`]; what a distributor adds to its name is ignored.
fn is_broken(version: &str) -> bool {
    version
        .strip_prefix(PAIR_BROKEN)
        .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
}

fn check(done: c_int, function: &'static str) -> Result<(), Error> {
    if done == 1 { Ok(()) } else { Err(Error::Failed(function)) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_broken_version_is_known_under_every_name() {
        for broken in ["OpenSSL 3.0.4", "OpenSSL 3.0.4+quic", "OpenSSL 3.0.4-dev"] {
            assert!(super::is_broken(broken), "{broken}");
        }
        for sound in ["OpenSSL 3.0.3", "OpenSSL 3.0.40", "OpenSSL 3.0.19", "OpenSSL 1.1.1w", ""] {
            assert!(!super::is_broken(sound), "{sound}");
        }
    }
}
