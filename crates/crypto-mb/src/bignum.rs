//! Reads OpenSSL's numbers, with functions of the OpenSSL that is already in the process. Nothing is linked,
//! so one library serves every OpenSSL, and never brings a second one into a process.

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute_copy;

use zariz_process::PerProcess;

use crate::lanes::{Failure, Lane};

/// `BIGNUM`.
#[repr(C)]
pub struct Bignum {
    private: [u8; 0],
}

/// The functions that are needed. OpenSSL has them since 1.1.0, and so do BoringSSL and LibreSSL.
#[derive(Clone, Copy)]
pub struct Functions {
    num_bits: unsafe extern "C" fn(*const Bignum) -> c_int,
    is_negative: unsafe extern "C" fn(*const Bignum) -> c_int,
    to_bytes: unsafe extern "C" fn(*const Bignum, *mut u8, c_int) -> c_int,
}

/// Where to look if the functions are not visible to the whole process: a program can load these for its own
/// use only.
const LIBRARIES: [&CStr; 3] = [c"libcrypto.so.3", c"libcrypto.so.1.1", c"libcrypto.so"];

impl Functions {
    /// The functions that are in this process.
    pub fn get() -> Lane<Self> {
        static FOUND: PerProcess<Option<Functions>> = PerProcess::new();
        (*FOUND.get_or_init(|_| Self::find())).ok_or(Failure::Unsupported)
    }

    fn find() -> Option<Self> {
        let loaded = LIBRARIES.iter().map(|name| {
            // SAFETY: a constant text; nothing is loaded. The library stays: the handle is never closed.
            unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) }
        });
        std::iter::once(libc::RTLD_DEFAULT)
            .chain(loaded.filter(|handle| !handle.is_null()))
            // SAFETY: an open library, and functions of these types: openssl/bn.h.
            .find_map(|library| unsafe {
                Some(Self {
                    num_bits: function(library, c"BN_num_bits")?,
                    is_negative: function(library, c"BN_is_negative")?,
                    to_bytes: function(library, c"BN_bn2binpad")?,
                })
            })
    }

    /// Fails unless a number has exactly `bits` bits.
    ///
    /// # Safety
    /// `number` is a number of that OpenSSL.
    pub unsafe fn expect_bits(&self, number: *const Bignum, bits: c_int) -> Lane<()> {
        // SAFETY: the caller's promise.
        if unsafe { (self.num_bits)(number) } == bits { Ok(()) } else { Err(Failure::Mismatch) }
    }

    /// Reads a number into all of `out`. A negative number, or one that is too long, fails.
    ///
    /// # Safety
    /// `number` is a number of that OpenSSL.
    pub unsafe fn read(&self, number: *const Bignum, out: &mut [u64]) -> Lane<()> {
        let len = c_int::try_from(size_of_val(out)).map_err(|_| Failure::Mismatch)?;
        // SAFETY: the caller's promise.
        let is_negative = unsafe { (self.is_negative)(number) } != 0;
        // SAFETY: the caller's promise, and `out` has so many bytes.
        if is_negative || unsafe { (self.to_bytes)(number, out.as_mut_ptr().cast(), len) } != len {
            return Err(Failure::Mismatch);
        }
        // The lowest byte is last.
        out.reverse();
        out.iter_mut().for_each(|word| *word = u64::from_be(*word));
        Ok(())
    }
}

/// A function of a library, or of any library for `RTLD_DEFAULT`.
///
/// # Safety
/// `F` is a function pointer, and the symbol has its type. The library is open.
pub unsafe fn function<F: Copy>(library: *mut c_void, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the caller's promise, and a text.
    let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
    // SAFETY: the caller's promise, and the sizes are the same.
    (!symbol.is_null()).then(|| unsafe { transmute_copy(&symbol) })
}
