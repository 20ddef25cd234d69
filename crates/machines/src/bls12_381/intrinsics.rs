//! Montgomery multiplication by the intrinsics for MULX and for additions with carry: the paper's sixth row.
//!
//! The compiler emits MULX, but supports only one chain of carries: it has no way to write ADCX or ADOX.
#![allow(unused_unsafe)] // later compilers know that these intrinsics are safe where their instructions are

use std::arch::x86_64::{_addcarry_u64, _mulx_u64, _subborrow_u64};
use std::hint::black_box;

use super::{FRIENDLY, Fe, LIMBS, MODULUS, MU};

/// `$t + a·b` for `$t` of seven limbs: the low halves of the products in one chain of carries, the high
/// halves in the next.
///
/// * Precondition: the result is below `2^448`; BMI2.
macro_rules! add_product {
    ($t:ident, $a:expr, $b:expr) => {{
        let (a, b): (&Fe, u64) = ($a, $b);
        let (mut low, mut high) = ([0; LIMBS], [0; LIMBS]);
        for i in 0..LIMBS {
            // SAFETY: the function has BMI2.
            low[i] = unsafe { _mulx_u64(a[i], b, &mut high[i]) };
        }
        let mut carry = 0;
        for i in 0..LIMBS {
            // SAFETY: every x86-64 processor has the instruction.
            carry = unsafe { _addcarry_u64(carry, $t[i], low[i], &mut $t[i]) };
        }
        $t[LIMBS] += u64::from(carry);
        carry = 0;
        for i in 0..LIMBS {
            // SAFETY: every x86-64 processor has the instruction.
            carry = unsafe { _addcarry_u64(carry, $t[i + 1], high[i], &mut $t[i + 1]) };
        }
    }};
}

/// `a·b/R mod p`.
///
/// * Precondition: `a, b < p`.
/// * Result: below `p`.
/// * Cost: 72 MULX, and one IMUL for the last quotient.
/// * Source: the paper's `fe_mont_mul_intrinsics`; the friendly multiple is ours (see
///   [`zariz_kernels::bls12_381`]).
#[target_feature(enable = "bmi2")]
pub(super) fn mul(a: &Fe, b: &Fe) -> Fe {
    let mut t = [0; LIMBS + 1];
    for (i, &b) in b.iter().enumerate() {
        // t + a·b[i], then (t + q·p')/2^64 or, in the last row, (t + q·p)/2^64.
        add_product!(t, a, b);
        let q = t[0];
        if i + 1 < LIMBS {
            t = [t[1], t[2], t[3], t[4], t[5], t[6], 0];
            add_product!(t, &FRIENDLY, q);
        } else {
            add_product!(t, &MODULUS, q.wrapping_mul(MU));
            t = [t[1], t[2], t[3], t[4], t[5], t[6], 0];
        }
    }
    let (mut out, mut borrow) = ([0; LIMBS], 0);
    for i in 0..LIMBS {
        // SAFETY: every x86-64 processor has the instruction.
        borrow = unsafe { _subborrow_u64(borrow, t[i], MODULUS[i], &mut out[i]) };
    }
    let mask = black_box(u64::from(borrow).wrapping_neg());
    for i in 0..LIMBS {
        out[i] ^= mask & (out[i] ^ t[i]);
    }
    out
}
