//! crypto_mb, of Intel's Cryptography Primitives Library: RSA's primitives, and powers, for eight numbers at
//! once (AVX512-IFMA). Each number has its own key or modulus; all have the same length.
//!
//! Its calls take eight pointers for each argument, and report the status of each of the eight lanes in four
//! bits. Where the pointers of a lane are null, the lane does nothing, and its status says so.

mod power;
mod rsa;

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::marker::{PhantomData, PhantomPinned};
use std::path::Path;

use crate::error::{Error, NotFound};
use crate::library::Open;

pub use power::{CryptoMbPowers, PowerJob};
pub use rsa::{CrtKey, CryptoMbPrivate, CryptoMbPublic};

/// Numbers at once.
const LANES: usize = CryptoMb::LANES;

/// An argument that is read: a pointer for each lane, null where the lane is empty.
type Input<T> = *const [*const T; LANES];
/// An argument that is written.
type Output<T> = *const [*mut T; LANES];
/// What a call reports: four bits for each lane, the lowest for lane 0.
type Status = u32;

/// A lane that did its work (`MBX_STATUS_OK`).
const OK: Status = 0;
/// A lane with null pointers (`MBX_STATUS_NULL_PARAM_ERR`).
const EMPTY: Status = 2;

/// `mbx_RSA_Method`, which only crypto_mb sees into: constants of the library.
#[repr(C)]
struct Method {
    _data: [u8; 0],
    _not_ours: PhantomData<(*mut u8, PhantomPinned)>,
}

/// `mbxVersion`.
#[repr(C)]
struct Version {
    major: c_int,
    minor: c_int,
    patch: c_int,
    target: [c_char; 4],
    name: *const c_char,
    build_date: *const c_char,
    text: *const c_char,
}

/// Numbers, results, p, q, dp, dq, 1/q mod p, bits, method, scratch space.
type Private = unsafe extern "C" fn(
    Input<u8>,
    Output<u8>,
    Input<u64>,
    Input<u64>,
    Input<u64>,
    Input<u64>,
    Input<u64>,
    c_int,
    *const Method,
    *mut u8,
) -> Status;
/// Results, bases, exponents and their bits, moduli and their bits, scratch space and its bytes.
type Power = unsafe extern "C" fn(
    Output<u64>,
    Input<u64>,
    Input<u64>,
    c_int,
    Input<u64>,
    c_int,
    *mut u8,
    c_int,
) -> Status;

/// The functions we call, as `crypto_mb/rsa.h` and `crypto_mb/exp.h` declare them.
#[derive(Clone, Copy)]
struct Api {
    private_method: unsafe extern "C" fn(c_int) -> *const Method,
    public_method: unsafe extern "C" fn(c_int) -> *const Method,
    buffer_size: unsafe extern "C" fn(*const Method) -> c_int,
    private: Private,
    /// Numbers, results, moduli, bits, method, scratch space.
    public: unsafe extern "C" fn(Input<u8>, Output<u8>, Input<u64>, c_int, *const Method, *mut u8) -> Status,
    power_buffer_size: unsafe extern "C" fn(c_int) -> c_int,
    power: Power,
}

/// crypto_mb 1.
#[derive(Clone)]
pub struct CryptoMb {
    api: Api,
    version: String,
}

impl fmt::Debug for CryptoMb {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("CryptoMb").field("version", &self.version).finish_non_exhaustive()
    }
}

impl CryptoMb {
    /// Numbers that one call computes at once.
    pub const LANES: usize = 8;

    /// Loads the file that the user named: a `libcrypto_mb.so`. A file that is not crypto_mb is an error, and
    /// so is a processor on which crypto_mb cannot run. Loading runs the file's own code.
    pub fn load(file: &Path) -> Result<Self, NotFound> {
        // SAFETY: the user says that the file is crypto_mb.
        let open = unsafe { Open::named("crypto_mb", file) }?;
        // SAFETY: `crypto_mb/version.h` declares it so.
        let version: unsafe extern "C" fn() -> *const Version = unsafe { open.symbol("mbx_getversion") }?;
        // SAFETY: a function without arguments.
        let version = unsafe { version() };
        // SAFETY: null, or a constant of the library, which is never unloaded.
        let Some(version) = (unsafe { version.as_ref() }) else {
            return Err(open.unfit(format_args!("does not say which version it is")));
        };
        // SAFETY: `crypto_mb/cpu_features.h` declares it so.
        let features: unsafe extern "C" fn() -> u64 = unsafe { open.symbol("mbx_get_cpu_features") }?;
        // SAFETY: as above.
        let applicable: unsafe extern "C" fn(u64) -> c_int =
            unsafe { open.symbol("mbx_is_crypto_mb_applicable") }?;
        // SAFETY: functions of numbers alone.
        if unsafe { applicable(features()) } == 0 {
            let why =
                "cannot run on this processor, which lacks AVX512-IFMA or other instructions that it needs";
            return Err(open.unfit(format_args!("{why}")));
        }
        // SAFETY: the types in `Api` are those of the headers.
        let api = unsafe {
            Api {
                private_method: open.symbol("mbx_RSA_private_crt_Method")?,
                public_method: open.symbol("mbx_RSA_pub65537_Method")?,
                buffer_size: open.symbol("mbx_RSA_Method_BufSize")?,
                private: open.symbol(rsa::PRIVATE)?,
                public: open.symbol(rsa::PUBLIC)?,
                power_buffer_size: open.symbol("mbx_exp_BufferSize")?,
                power: open.symbol(power::FUNCTION)?,
            }
        };
        Ok(Self { api, version: version.describe(file) })
    }

    /// Its version and build, and the name of the file that was loaded, such as
    /// `crypto_mb 1.1.0 (k1, Nov 23 2026; libcrypto_mb.so)`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

impl Version {
    fn describe(&self, file: &Path) -> String {
        let Self { major, minor, patch, .. } = self;
        let target: String =
            self.target.iter().map(|&c| char::from(c as u8)).take_while(|&c| c != '\0').collect();
        let date = match self.build_date.is_null() {
            true => "without a date".into(),
            // SAFETY: not null, and a constant text of the library that ends in a zero.
            false => unsafe { CStr::from_ptr(self.build_date) }.to_string_lossy(),
        };
        let file = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        format!("crypto_mb {major}.{minor}.{patch} ({target}, {date}; {file})")
    }
}

/// Scratch space of as many bytes as crypto_mb said.
fn scratch(bytes: c_int, function: &'static str) -> Result<Vec<u8>, Error> {
    match usize::try_from(bytes) {
        Ok(bytes @ 1..) => Ok(vec![0; bytes]),
        _ => Err(Error::Failed(function)),
    }
}

/// Fails unless the first `used` lanes did their work, and all others were empty.
fn check(function: &'static str, statuses: Status, used: usize) -> Result<(), Error> {
    for lane in 0..LANES {
        let status = statuses >> (4 * lane) & 0xf;
        if status != if lane < used { OK } else { EMPTY } {
            return Err(Error::Lane { function, lane, status });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_is_checked() {
        assert_eq!(check("f", 0, 8), Ok(()));
        assert_eq!(check("f", 0x2222_2000, 3), Ok(()));
        let failed = |lane, status| Err(Error::Lane { function: "f", lane, status });
        assert_eq!(check("f", 0x2222_2100, 3), failed(2, 1));
        assert_eq!(check("f", 0x0222_2000, 3), failed(7, 0));
        assert_eq!(check("f", 0xaaaa_aaaa, 8), failed(0, 10));
    }
}
