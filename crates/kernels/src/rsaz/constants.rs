//! The radix and digit count of a modulus, and its constants.

use super::most_sums;
use crate::OddModulus;
use crate::batch::Constants;
use crate::bounds::FREE_BITS;

/// The longest modulus, in bits: `R ≥ 8M` with 252 digits of 28 bits, whose square fits its columns without a
/// cleanup.
pub const MAX_BITS: usize = 28 * (most_sums(28) / 4 * 4) - FREE_BITS;

/// The longest modulus in radix `2^29`: 36 digits, as in the paper.
const MAX_BITS_29: usize = 29 * 36 - FREE_BITS;

/// `m`: 29 up to 36 digits, above that 28 (section 4.1).
pub const fn digit_bits_for(bits: usize) -> u32 {
    if bits <= MAX_BITS_29 { 29 } else { 28 }
}

/// `k`: as many digits as `R = 2^{mk} ≥ 8M` needs, rounded up to a multiple of four. (The paper has 18, 36
/// and 74 for 512, 1024 and 2048 bits; rows are done by fours here: 20, 36 and 76.)
pub const fn digits_for(bits: usize, m: u32) -> usize {
    Constants::digits_for(bits, m).next_multiple_of(4)
}

/// Prepares a modulus of at most [`MAX_BITS`] bits.
///
/// # Panics
/// If the modulus is too long.
pub fn constants(modulus: &OddModulus) -> Constants {
    let bits = modulus.bits();
    assert!(bits <= MAX_BITS, "a modulus of {bits} bits is too long");
    let m = digit_bits_for(bits);
    Constants::new(modulus, m, digits_for(bits, m))
}
