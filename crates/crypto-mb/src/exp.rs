//! Powers modulo odd numbers.

use std::ffi::c_int;

use zariz::{Modulus, PowJob, pow_many};
use zeroize::Zeroizing;

use crate::cache::Cache;
use crate::lanes::{
    Failure, Input, LANES, Lane, Output, Words, each, guard, pointers, read_words, to_be_bytes, write_words,
};

/// The bytes of scratch space that callers are asked for. zariz needs none, and a size of 0 would say that a
/// length is not supported.
pub const SCRATCH: c_int = 64;

/// Bits of a digit of the interface's moduli.
const DIGIT_BITS: c_int = 52;

/// The lengths of moduli in names of functions.
const LENGTHS: [c_int; 4] = [1024, 2048, 3072, 4096];

/// The length in [`LENGTHS`] for moduli of `bits` bits. The interface takes moduli with as many digits as
/// that length has, whose highest digit has two bits to spare.
fn length(bits: c_int) -> Option<c_int> {
    let digits = |bits: c_int| bits.checked_add(DIGIT_BITS - 1).map(|bits| bits / DIGIT_BITS);
    let fits =
        |&length: &c_int| digits(bits) == digits(length) && digits(bits.saturating_add(2)) == digits(bits);
    LENGTHS.into_iter().find(fits)
}

/// The bytes of scratch space for moduli of `bits` bits, or 0 if that length is not supported.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_exp_BufferSize(bits: c_int) -> c_int {
    if length(bits).is_some() { SCRATCH } else { 0 }
}

/// The arguments of a call.
struct Call {
    out: Output<u64>,
    base: Input<u64>,
    exponent: Input<u64>,
    exponent_bits: c_int,
    modulus: Input<u64>,
    modulus_bits: c_int,
    buffer: *mut u8,
    buffer_len: c_int,
}

impl Call {
    /// # Safety
    /// That of [`mbx_exp_mb8`].
    unsafe fn run(&self) -> Lane<[Lane<()>; LANES]> {
        // SAFETY: the caller's promise.
        let [bases, exponents, moduli] =
            unsafe { [pointers(self.base)?, pointers(self.exponent)?, pointers(self.modulus)?] };
        // SAFETY: the caller's promise.
        let out = unsafe { pointers(self.out) }?;
        if self.buffer.is_null() {
            return Err(Failure::Null);
        }
        let (modulus_bits, exponent_bits) = (self.modulus_bits as usize, self.exponent_bits as usize);
        if !(0..=self.modulus_bits).contains(&self.exponent_bits) || self.buffer_len < SCRATCH {
            return Err(Failure::Mismatch);
        }
        let words = modulus_bits.div_ceil(64);
        let lanes = each(|lane| {
            let pointers = [bases[lane], exponents[lane], moduli[lane]];
            if out[lane].is_null() || pointers.iter().any(|pointer| pointer.is_null()) {
                return Err(Failure::Null);
            }
            let mut numbers = [words, exponent_bits.div_ceil(64), words].map(|len| Words::new(vec![0; len]));
            for (number, pointer) in numbers.iter_mut().zip(pointers) {
                // SAFETY: the caller's promise, and it is not null.
                unsafe { read_words(pointer, number) };
            }
            let [base, exponent, modulus] = numbers;
            let [base, mut exponent] = [base, exponent].map(|number| to_be_bytes(&number));
            // Bits above the exponent's length are not part of it.
            let unused = exponent.len() - exponent_bits.div_ceil(8);
            if let Some(first) = exponent.get_mut(unused) {
                *first &= 0xff >> (exponent_bits.wrapping_neg() % 8);
            }
            Ok((prepared(&modulus, modulus_bits)?, base, exponent, unused))
        });
        let jobs: Vec<_> = lanes
            .iter()
            .flatten()
            .map(|(modulus, base, exponent, unused)| PowJob { modulus, base, exponent: &exponent[*unused..] })
            .collect();
        let mut powers = pow_many(&jobs).into_iter().map(Zeroizing::new);
        Ok(each(|lane| {
            lanes[lane].as_ref().map_err(|failure| *failure)?;
            let power = powers.next().ok_or(Failure::Withheld)?;
            // SAFETY: the caller's promise, and it is not null.
            unsafe { write_words(&power, out[lane], words) };
            Ok(())
        }))
    }
}

/// The prepared modulus of a lane.
fn prepared(number: &[u64], bits: usize) -> Lane<Modulus> {
    static MODULI: Cache<Modulus> = Cache::new();
    let modulus = MODULI.get(number, || Modulus::new(&to_be_bytes(number)).map_err(|_| Failure::Mismatch))?;
    if modulus.bits() <= bits { Ok(modulus) } else { Err(Failure::Mismatch) }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident: $length:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// Arrays of eight pointers, which are null or to numbers of these lengths. An array and `buffer`
            /// may also be null: then every lane fails.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                out: Output<u64>,
                base: Input<u64>,
                exponent: Input<u64>,
                exponent_bits: c_int,
                modulus: Input<u64>,
                modulus_bits: c_int,
                buffer: *mut u8,
                buffer_len: c_int,
            ) -> u32 {
                let wanted: Option<c_int> = $length;
                guard(|| match length(modulus_bits) {
                    Some(length) if wanted.is_none_or(|wanted| wanted == length) => {
                        let call = Call {
                            out, base, exponent, exponent_bits, modulus, modulus_bits, buffer, buffer_len,
                        };
                        // SAFETY: the caller's promise.
                        unsafe { call.run() }
                    }
                    _ => Err(Failure::Mismatch),
                })
            }
        )*
    };
}

functions! {
    /// `base^exponent mod modulus` for each lane, in constant time. `out`, `base` and `modulus` have
    /// `⌈modulus_bits/64⌉` words, the lowest first, and `exponent` has `⌈exponent_bits/64⌉`.
    mbx_exp_mb8: None;
    /// [`mbx_exp_mb8`] for moduli of about 1024 bits: 989 to 1038.
    mbx_exp1024_mb8: Some(1024);
    /// [`mbx_exp_mb8`] for moduli of about 2048 bits: 2029 to 2078.
    mbx_exp2048_mb8: Some(2048);
    /// [`mbx_exp_mb8`] for moduli of about 3072 bits: 3069 to 3118.
    mbx_exp3072_mb8: Some(3072);
    /// [`mbx_exp_mb8`] for moduli of about 4096 bits: 4057 to 4106.
    mbx_exp4096_mb8: Some(4096);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_moduli() {
        for (bits, expected) in [
            (988, None),
            (989, Some(1024)),
            (1024, Some(1024)),
            (1038, Some(1024)),
            (1039, None),
            (2029, Some(2048)),
            (2078, Some(2048)),
            (3069, Some(3072)),
            (3118, Some(3072)),
            (3119, None),
            (4057, Some(4096)),
            (4106, Some(4096)),
            (4107, None),
            (0, None),
            (-1024, None),
            (c_int::MAX, None),
            (c_int::MIN, None),
        ] {
            assert_eq!(length(bits), expected, "{bits} bits");
            assert_eq!(mbx_exp_BufferSize(bits) > 0, expected.is_some(), "{bits} bits");
        }
    }
}
