//! The base field of BLS12-381: integers modulo one prime of 381 bits.
//!
//! # Scalar numbers
//!
//! An element `a` is six limbs of 64 bits that hold `a·R mod p`, `R = 2^384`, always below `p` ([`Fe`]).
//! Three bits are spare: `R > 9.8p`, so no sum of two elements and no row of a Montgomery multiplication
//! carries out of its highest limb, and one conditional subtraction brings every result back below `p`.
//!
//! The multiplications are those of a paper (NCC Group: *Optimizing Pairing-Based Cryptography: Montgomery
//! Multiplication in Assembly*, 2021), from plain to fast: [`mul_loops`], [`mul_flat`], and in the `machines`
//! crate by intrinsics and in assembly. All give the same limbs for the same limbs.
//!
//! # The friendly multiple of this modulus
//!
//! A Montgomery row needs `q = t·μ mod 2^64`, `μ = −p^{−1} mod 2^64`, before it can start. With
//! `p' = μ·p ≡ −1 (mod 2^64)` it is the lowest limb itself, and the row adds `q·p''`, `p'' = (p' + 1)/2^64`,
//! one limb up (see [`crate::batch::block::reduce_rows`]). Five rows of six may do so, the last is an
//! ordinary one. The result is then `(T + Q·p' + q·2^320·p)/R` with `Q < 2^320` and `q < 2^64`, below
//!
//! `T/R + (μ/2^64 + 1)·p < (0.102 + 0.539 + 1)·p < 2p` for `T < p²`:
//!
//! still one conditional subtraction, since `μ` of this prime is small enough. It saves five multiplications
//! of 78 and, in every row, the wait for one.
//!
//! # Many at once
//!
//! [`lanes`] multiplies one element in each lane of a vector machine, in digits of the machine's radix.

mod add;
mod inverse;
pub mod lanes;
mod mul;

pub use add::{add, neg, sub};
pub use inverse::invert;
pub use mul::{mul_flat, mul_loops, sqr_flat};

use crate::limbs::negative_inverse;

/// Limbs of an element.
pub const LIMBS: usize = 6;

/// An element in Montgomery form, or any number of 384 bits: limbs, the lowest first.
pub type Fe = [u64; LIMBS];

/// `p`.
pub const MODULUS: Fe = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// `μ = −p^{−1} mod 2^64`.
pub const MU: u64 = negative_inverse(MODULUS[0]);

/// `p'' = (μ·p + 1) / 2^64`.
pub const FRIENDLY: Fe = {
    let (mut out, mut i, mut carry) = ([0; LIMBS], 0, 1);
    while i < LIMBS {
        let t = MU as u128 * MODULUS[i] as u128 + carry;
        if i > 0 {
            out[i - 1] = t as u64;
        } else {
            assert!(t as u64 == 0);
        }
        carry = t >> 64;
        i += 1;
    }
    out[LIMBS - 1] = carry as u64;
    out
};

/// `R mod p`: the number 1.
pub const ONE: Fe = power_of_two(64 * LIMBS);

/// `R² mod p`: brings a number into Montgomery form.
pub const ENTER: Fe = power_of_two(2 * 64 * LIMBS);

/// `2^exponent mod p`, by doubling: for constants.
pub(crate) const fn power_of_two(exponent: usize) -> Fe {
    let mut x = [1, 0, 0, 0, 0, 0];
    let mut i = 0;
    while i < exponent {
        let (twice, borrow) = sub_limbs(&double_limbs(&x), &MODULUS);
        x = if borrow == 0 { twice } else { double_limbs(&x) };
        i += 1;
    }
    x
}

/// `2a`, which must fit.
const fn double_limbs(a: &Fe) -> Fe {
    let (mut out, mut i, mut carry) = (*a, 0, 0);
    while i < LIMBS {
        out[i] = a[i] << 1 | carry;
        carry = a[i] >> 63;
        i += 1;
    }
    assert!(carry == 0);
    out
}

/// `a − b mod 2^384`, and the borrow, 0 or 1.
pub const fn sub_limbs(a: &Fe, b: &Fe) -> (Fe, u64) {
    let (mut out, mut i, mut borrow) = ([0; LIMBS], 0, false);
    while i < LIMBS {
        let (first, one) = a[i].overflowing_sub(b[i]);
        let (second, two) = first.overflowing_sub(borrow as u64);
        out[i] = second;
        borrow = one | two;
        i += 1;
    }
    (out, borrow as u64)
}

// The facts behind the bounds above: R ≥ 9.8p, hence T/R < p/9.8 for T < p², and μ/2^64 + 1/9.8 + 1 < 2.
const _: () = {
    assert!(MODULUS[LIMBS - 1] < (1 << 61) - (1 << 58));
    assert!((MU as u128) * 100 < 54 * (1 << 64));
};
