//! The library's version, and the processor's features.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bignum::function;
use crate::lanes::LANES;

/// `mbxVersion`.
#[repr(C)]
pub struct Version {
    major: c_int,
    minor: c_int,
    patch: c_int,
    target: [u8; 4],
    name: *const c_char,
    build_date: *const c_char,
    text: *const c_char,
}

// SAFETY: it points to constant texts.
unsafe impl Sync for Version {}

const TEXT: &CStr = match CStr::from_bytes_with_nul(
    concat!("zariz ", env!("CARGO_PKG_VERSION"), ", with the interface of crypto_mb 1.1.0 (12.1)\0")
        .as_bytes(),
) {
    Ok(text) => text,
    Err(_) => panic!("a text"),
};

/// The version of crypto_mb that has this interface; the text also has the version of zariz. There is no
/// date, so that builds are the same on every day.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_getversion() -> *const Version {
    static VERSION: Version = Version {
        major: 1,
        minor: 1,
        patch: 0,
        target: *b"any\0",
        name: c"zariz".as_ptr(),
        build_date: c"".as_ptr(),
        text: TEXT.as_ptr(),
    };
    &VERSION
}

/// What `mbx_set_cpu_features` set; 0 stands for the processor's own features.
static FEATURES: AtomicU64 = AtomicU64::new(0);

/// The processor's features that the interface has bits for, or what [`mbx_set_cpu_features`] set.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_get_cpu_features() -> u64 {
    match FEATURES.load(Ordering::Relaxed) {
        0 => features(),
        set => set,
    }
}

/// Sets what [`mbx_get_cpu_features`] returns. zariz chooses its engines by itself: `ZARIZ_HIDE` in the
/// environment hides instructions from it.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_set_cpu_features(features: u64) {
    FEATURES.store(features, Ordering::Relaxed);
}

/// The features of this processor. A detected feature is one that the system also allows.
#[cfg(target_arch = "x86_64")]
fn features() -> u64 {
    macro_rules! bits {
        ($($bits:literal = $feature:tt;)*) => {
            0 $(| if std::arch::is_x86_feature_detected!($feature) { $bits } else { 0 })*
        };
    }
    // The bits are `mbcpCPUID_…` of `crypto_mb/cpu_features.h`; those of AVX and AVX-512F also say that the
    // system allows them.
    let mmx = 0x1; // every processor of this architecture
    mmx | bits! {
        0x2 = "sse";
        0x4 = "sse2";
        0x8 = "sse3";
        0x10 = "ssse3";
        0x20 = "movbe";
        0x40 = "sse4.1";
        0x80 = "sse4.2";
        0x300 = "avx";
        0x400 = "aes";
        0x800 = "pclmulqdq";
        0x2000 = "rdrand";
        0x4000 = "f16c";
        0x8000 = "avx2";
        0x1_0000 = "adx";
        0x2_0000 = "rdseed";
        0x8_0000 = "sha";
        0x2_0010_0000 = "avx512f";
        0x20_0000 = "avx512cd";
        0x100_0000 = "avx512bw";
        0x200_0000 = "avx512dq";
        0x400_0000 = "avx512vl";
        0x800_0000 = "avx512vbmi";
        0x1_0000_0000 = "avx512ifma";
        0x4_0000_0000 = "gfni";
        0x8_0000_0000 = "vaes";
        0x10_0000_0000 = "vpclmulqdq";
        0x20_0000_0000 = "avx512vbmi2";
        0x40_0000_0000 = "bmi1";
        0x80_0000_0000 = "bmi2";
        0x100_0000_0000 = "avxifma";
    }
}

/// The interface has no bits for other processors.
#[cfg(not(target_arch = "x86_64"))]
fn features() -> u64 {
    0
}

/// Always 1: zariz runs on every processor.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_is_crypto_mb_applicable(_features: u64) -> c_int {
    1
}

/// How many operations a call computes: 8 for RSA (`MBX_ALGO_RSA_1K` to `MBX_ALGO_RSA_4K`, 0 to 3). For other
/// algorithms, the answer of a crypto_mb that is loaded behind this library, or 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_get_algo_info(algorithm: c_int) -> u64 {
    match algorithm {
        0..=3 => LANES as u64,
        // SAFETY: a function of the interface.
        _ => unsafe { behind::<extern "C" fn(c_int) -> u64>(c"mbx_get_algo_info") }
            .map_or(0, |next| next(algorithm)),
    }
}

/// A function of a library that is loaded behind this one.
///
/// # Safety
/// That of [`function`].
unsafe fn behind<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: a pseudo-handle that is always open, and the caller's promise.
    unsafe { function(libc::RTLD_NEXT, name) }
}

/// `MBX_STATUS_UNSUPPORTED_ISA_ERR` in each of 16 lanes.
const UNSUPPORTED: u64 = 0xaaaa_aaaa_aaaa_aaaa;

macro_rules! elsewhere {
    ($($name:ident($($argument:ident: $type:ty),*) = $symbol:literal;)*) => {
        $(
            /// zariz does not compute this, but QAT_Engine must find the function, even if it only uses RSA.
            /// It calls the function of a crypto_mb that is loaded behind this library. Without one, it fails
            /// in every lane.
            ///
            /// # Safety
            /// As for crypto_mb's function.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> u64 {
                // SAFETY: a function of the interface, with the caller's arguments.
                unsafe {
                    behind::<unsafe extern "C" fn($($type),*) -> u64>($symbol)
                        .map_or(UNSUPPORTED, |next| next($($argument),*))
                }
            }
        )*
    };
}

elsewhere! {
    mbx_sm3_init_mb16(state: *mut c_void) = c"mbx_sm3_init_mb16";
    mbx_sm3_update_mb16(texts: *const c_void, lengths: *mut c_int, state: *mut c_void) =
        c"mbx_sm3_update_mb16";
    mbx_sm3_final_mb16(hashes: *mut c_void, state: *mut c_void) = c"mbx_sm3_final_mb16";
}
