//! GMP, through its low-level functions (`mpn`), which work on limbs in place: no time goes to anything but
//! arithmetic.

use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_ulong};
use std::fmt;

use crate::error::{Error, NotFound, exponent, modulus, operand};
use crate::library::Open;
use crate::limbs::{bytes, limbs};

/// `mp_size_t`.
type Size = c_long;
/// `mp_bitcnt_t`.
type Bits = c_ulong;

#[cfg(windows)]
const FILES: &[&str] = &["libgmp-10.dll", "gmp-10.dll"];
#[cfg(target_vendor = "apple")]
const FILES: &[&str] =
    &["libgmp.10.dylib", "/opt/homebrew/lib/libgmp.10.dylib", "/usr/local/lib/libgmp.10.dylib"];
#[cfg(not(any(windows, target_vendor = "apple")))]
const FILES: &[&str] = &["libgmp.so.10"];

/// The functions we call, as `gmp.h` declares them.
#[derive(Clone, Copy)]
struct Api {
    mul_n: unsafe extern "C" fn(*mut u64, *const u64, *const u64, Size),
    sqr: unsafe extern "C" fn(*mut u64, *const u64, Size),
    tdiv_qr: unsafe extern "C" fn(*mut u64, *mut u64, Size, *const u64, Size, *const u64, Size),
    sec_powm: unsafe extern "C" fn(*mut u64, *const u64, Size, *const u64, Bits, *const u64, Size, *mut u64),
    sec_powm_itch: unsafe extern "C" fn(Size, Bits, Size) -> Size,
}

/// GMP 6.0 or later.
#[derive(Clone)]
pub struct Gmp {
    api: Api,
    version: String,
}

impl fmt::Debug for Gmp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Gmp").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Gmp {
    /// Loads the system's GMP.
    pub fn load() -> Result<Self, NotFound> {
        // SAFETY: the names are those of GMP alone.
        unsafe { Self::load_first(FILES) }
    }

    /// Loads GMP from the first of some files that can be loaded.
    ///
    /// # Safety
    /// Each file must be GMP, or lack its functions.
    pub unsafe fn load_first(files: &[impl AsRef<OsStr>]) -> Result<Self, NotFound> {
        // SAFETY: the caller's promise.
        let open = unsafe { Open::first("GMP", files, "libgmp10") }?;
        // SAFETY: `gmp.h` declares `extern const int mp_bits_per_limb`.
        let limb_bits: *const c_int = unsafe { open.symbol("__gmp_bits_per_limb") }?;
        // SAFETY: a constant of the library, which is never unloaded.
        let limb_bits = unsafe { *limb_bits };
        if limb_bits != 64 {
            return Err(open.unfit(format_args!("has limbs of {limb_bits} bits, not 64")));
        }
        // SAFETY: `gmp.h` declares `extern const char *const gmp_version`.
        let version: *const *const c_char = unsafe { open.symbol("__gmp_version") }?;
        // SAFETY: a constant of the library.
        let version = unsafe { *version };
        if version.is_null() {
            return Err(open.unfit(format_args!("does not say which version it is")));
        }
        // SAFETY: it points to a text of the library that ends in a zero.
        let version = unsafe { CStr::from_ptr(version) };
        // SAFETY: the types in `Api` are those of `gmp.h` for limbs of 64 bits.
        let api = unsafe {
            Api {
                mul_n: open.symbol("__gmpn_mul_n")?,
                sqr: open.symbol("__gmpn_sqr")?,
                tdiv_qr: open.symbol("__gmpn_tdiv_qr")?,
                sec_powm: open.symbol("__gmpn_sec_powm")?,
                sec_powm_itch: open.symbol("__gmpn_sec_powm_itch")?,
            }
        };
        Ok(Self { api, version: format!("GMP {}", version.to_string_lossy()) })
    }

    /// Its name and version, such as `GMP 6.3.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Prepares multiplications of `x` by `y` and squarings of `x`, modulo an odd `m`; `0 < x, y < m`.
    pub fn product(&self, x: &[u8], y: &[u8], m: &[u8]) -> Result<GmpProduct, Error> {
        let m = modulus(m)?;
        let count = m.len().div_ceil(8);
        Ok(GmpProduct {
            api: self.api,
            size: Size::try_from(2 * count).map_err(|_| Error::TooLong)? / 2,
            x: limbs(operand(x, m)?, count),
            y: limbs(operand(y, m)?, count),
            modulus: limbs(m, count),
            product: vec![0; 2 * count],
            quotient: vec![0; count + 1],
        })
    }

    /// Prepares the power `base^e mod m` for an odd `m`, `0 < base < m` and `e > 0`.
    pub fn power(&self, base: &[u8], e: &[u8], m: &[u8]) -> Result<GmpPower, Error> {
        let (m, e) = (modulus(m)?, exponent(e)?);
        let count = m.len().div_ceil(8);
        let bits = 8 * e.len() - e.first().map_or(0, |byte| byte.leading_zeros() as usize);
        let size = Size::try_from(count).map_err(|_| Error::TooLong)?;
        let bits = Bits::try_from(bits).map_err(|_| Error::TooLong)?;
        // SAFETY: a function of numbers alone.
        let itch = unsafe { (self.api.sec_powm_itch)(size, bits, size) };
        Ok(GmpPower {
            api: self.api,
            size,
            bits,
            base: limbs(operand(base, m)?, count),
            exponent: limbs(e, e.len().div_ceil(8)),
            modulus: limbs(m, count),
            result: vec![0; count],
            scratch: vec![0; usize::try_from(itch).map_err(|_| Error::TooLong)?],
        })
    }
}

/// A number `x` to be multiplied by `y` or squared again and again, modulo `m`: `mpn_mul_n` or `mpn_sqr`, and
/// the remainder by `mpn_tdiv_qr`.
pub struct GmpProduct {
    api: Api,
    /// The limbs of `x`, `y` and the modulus, whose highest limb is not zero.
    size: Size,
    x: Vec<u64>,
    y: Vec<u64>,
    modulus: Vec<u64>,
    product: Vec<u64>,
    quotient: Vec<u64>,
}

impl GmpProduct {
    /// `x ← x·y mod m`.
    pub fn multiply(&mut self) {
        let (product, x, y) = (self.product.as_mut_ptr(), self.x.as_ptr(), self.y.as_ptr());
        // SAFETY: `x` and `y` have `size` ≥ 1 limbs, and the product, which is apart from them, twice as
        // many.
        unsafe { (self.api.mul_n)(product, x, y, self.size) };
        self.reduce();
    }

    /// `x ← x² mod m`.
    pub fn square(&mut self) {
        // SAFETY: `x` has `size` ≥ 1 limbs, and the product, which is apart from it, twice as many.
        unsafe { (self.api.sqr)(self.product.as_mut_ptr(), self.x.as_ptr(), self.size) };
        self.reduce();
    }

    fn reduce(&mut self) {
        let (quotient, x) = (self.quotient.as_mut_ptr(), self.x.as_mut_ptr());
        let (product, modulus) = (self.product.as_ptr(), self.modulus.as_ptr());
        // SAFETY: the product has `2·size` limbs, the modulus `size` with the highest not zero, so the
        // quotient has room for its `size + 1` and `x` for the remainder's `size`; all four are apart.
        unsafe { (self.api.tdiv_qr)(quotient, x, 0, product, 2 * self.size, modulus, self.size) };
    }

    /// What `x` is now, big-endian, in whole limbs.
    pub fn value(&self) -> Vec<u8> {
        bytes(&self.x)
    }
}

/// A power in constant time: `mpn_sec_powm`, the work of `mpz_powm_sec`.
pub struct GmpPower {
    api: Api,
    size: Size,
    bits: Bits,
    base: Vec<u64>,
    exponent: Vec<u64>,
    modulus: Vec<u64>,
    result: Vec<u64>,
    scratch: Vec<u64>,
}

impl GmpPower {
    /// Computes the power.
    pub fn compute(&mut self) {
        let (result, base, scratch) =
            (self.result.as_mut_ptr(), self.base.as_ptr(), self.scratch.as_mut_ptr());
        let (exponent, modulus) = (self.exponent.as_ptr(), self.modulus.as_ptr());
        // SAFETY: base, modulus (odd) and result have `size` ≥ 1 limbs, the exponent `bits` ≥ 1 bits, and the
        // scratch space what `mpn_sec_powm_itch` requires; all are apart.
        unsafe {
            (self.api.sec_powm)(result, base, self.size, exponent, self.bits, modulus, self.size, scratch)
        };
    }

    /// The last result, big-endian, in whole limbs; zero before the first.
    pub fn value(&self) -> Vec<u8> {
        bytes(&self.result)
    }
}
