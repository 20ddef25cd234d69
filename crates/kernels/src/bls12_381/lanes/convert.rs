//! Scalar numbers into lanes and out of them.

use super::{Constants, DIGITS, Element, SCALAR_BITS, bits_at, constant, mul, reduce_once, sqr};
use crate::batch::Machine;
use crate::batch::block::MAX_LANES;
use crate::bls12_381::{Fe, LIMBS};
use crate::unroll::reload;

/// The digits of a number in each lane, lane by lane.
type Values = [u64; DIGITS * MAX_LANES];

/// The digits of a number in each lane, multiplied by `2^shift`.
#[inline(always)]
fn gather<M: Machine>(m: M, values: &mut Values, numbers: &[Fe], shift: usize) -> Element<M> {
    let w = M::DIGIT_BITS as usize;
    for (k, number) in numbers[..M::LANES].iter().enumerate() {
        // Lane by lane: several at once, the compiler would use gather instructions, which are slow.
        let number = reload(number);
        each!(i in 0..DIGITS {
            values[i * M::LANES + k] = bits_at(number, (i * w) as isize - shift as isize) & ((1 << w) - 1);
        });
    }
    let mut out = [m.digit_zero(); DIGITS];
    each!(i in 0..DIGITS {
        out[i] = m.digit(m.column_from(&values[i * M::LANES..][..M::LANES]));
    });
    out
}

/// A number in each lane as limbs, below `p`.
///
/// * Precondition: `a < 2p`, normalised.
#[inline(always)]
fn scatter<M: Machine>(m: M, values: &mut Values, out: &mut [Fe], a: &Element<M>) {
    let w = M::DIGIT_BITS as usize;
    let (mut columns, mut reduced) = ([m.column_splat(0); DIGITS], *a);
    each!(i in 0..DIGITS {
        columns[i] = m.column(a[i]);
    });
    reduce_once(m, &mut reduced, &columns, &Constants::<M>::MINUS_P);
    each!(i in 0..DIGITS {
        m.column_store(m.column(reduced[i]), &mut values[i * M::LANES..][..M::LANES]);
    });
    for (k, out) in out[..M::LANES].iter_mut().enumerate() {
        each!(limb in 0..LIMBS {
            let (at, bit) = (64 * limb / w, 64 * limb % w);
            // Two digits, or three.
            let mut bits = values[at * M::LANES + k] >> bit | values[(at + 1) * M::LANES + k] << (w - bit);
            if 2 * w - bit < 64 && at + 2 < DIGITS {
                bits |= values[(at + 2) * M::LANES + k] << (2 * w - bit);
            }
            out[limb] = bits;
        });
    }
}

/// Overwrites what digits passed through: they may be secret.
#[inline(always)]
fn wipe(values: &mut Values) {
    values.fill(0);
    zeroize::optimization_barrier(values);
}

/// Scalar numbers to lanes: into this module's form.
///
/// * Precondition: `a.len() = LANES`; numbers below `p`.
/// * Result: below `2p`, normalised.
/// * Cost: a product.
#[inline(always)]
pub fn enter<M: Machine>(m: M, out: &mut Element<M>, a: &[Fe]) {
    let mut values = [0; DIGITS * MAX_LANES];
    *out = gather(m, &mut values, a, 0);
    wipe(&mut values);
    mul(m, out, &constant(m, &Constants::<M>::ENTER));
}

/// Lanes to scalar numbers: into their form, below `p`.
///
/// * Precondition: `a < 2p`, normalised; `out.len() = LANES`.
/// * Cost: a product.
#[inline(always)]
pub fn leave<M: Machine>(m: M, out: &mut [Fe], a: &Element<M>) {
    let mut product = *a;
    mul(m, &mut product, &constant(m, &Constants::<M>::LEAVE));
    let mut values = [0; DIGITS * MAX_LANES];
    scatter(m, &mut values, out, &product);
    wipe(&mut values);
}

/// Products of scalar numbers, `out[k] = a[k]·b[k]/2^384 mod p`. One factor is shifted by the quotient of `R`
/// and `2^384` as it comes in, so the form costs no product.
///
/// * Precondition: each of the slices has `LANES` numbers; they are below `p`, so that with the shift one is
///   below `R/4`.
/// * Cost: that of [`mul`], and of bringing digits in and out.
#[inline(always)]
pub fn mul_scalars<M: Machine>(m: M, out: &mut [Fe], a: &[Fe], b: &[Fe]) {
    let mut values = [0; DIGITS * MAX_LANES];
    let mut product = gather(m, &mut values, a, 0);
    let factor = gather(m, &mut values, b, Constants::<M>::R_BITS - SCALAR_BITS);
    mul(m, &mut product, &factor);
    scatter(m, &mut values, out, &product);
    wipe(&mut values);
}

/// Squares of scalar numbers, `out[k] = a[k]²/2^384 mod p`: half of the shift goes to each factor.
///
/// * Precondition: each of the slices has `LANES` numbers; they are below `p`, so that with the shift
///   `a² < R·p/2`.
/// * Cost: that of [`sqr`], and of bringing digits in and out.
#[inline(always)]
pub fn sqr_scalars<M: Machine>(m: M, out: &mut [Fe], a: &[Fe]) {
    const { assert!((Constants::<M>::R_BITS - SCALAR_BITS).is_multiple_of(2)) };
    let mut values = [0; DIGITS * MAX_LANES];
    let mut number = gather(m, &mut values, a, (Constants::<M>::R_BITS - SCALAR_BITS) / 2);
    sqr(m, &mut number, 1);
    scatter(m, &mut values, out, &number);
    wipe(&mut values);
}
