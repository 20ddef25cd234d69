//! One element in each lane of a vector machine.
//!
//! A number has eight digits, 408 or 416 bits for a prime of 381: `R = 2^{8w} > 2^{27}·p`. So much room makes
//! bounds simple: numbers stay below `2p`, and factors may be far greater.
//!
//! # Bounds
//!
//! * A product `T = x·y` is reduced by seven friendly rows and a plain one (see
//!   [`crate::batch::block::reduce_rows`]), to less than `T/R + (μ/2^w + 1)·p` with
//!   `μ = −p^{−1} mod 2^w < 2^50`: less than `T/R + 1.5p`. That is below `2p` for every `T < R·p/2`, as for
//!   `x, y < 2p`, and for a number below `2p` and one below `R/4`.
//! * A column receives at most 8 low and 8 high halves from the product and as many from the reduction, each
//!   at most `2^w` in size: below `2^{w+5}`, so that no column overflows. Where halves are signed, an offset
//!   of `2^62` keeps columns positive (see [`crate::batch::bias`]).
//!
//! Elements are in Montgomery form by this `R`, not by the `2^384` of scalar numbers: `enter` and `leave`
//! multiply by the quotient of the two.

mod convert;

use core::marker::PhantomData;

use super::{Fe, LIMBS, MODULUS, power_of_two};
use crate::batch::Machine;
use crate::batch::block::square;
use crate::limbs::negative_inverse;
use crate::unroll::reload;

pub use convert::{enter, leave, mul_scalars, sqr_scalars};

/// Digits of a number.
pub const DIGITS: usize = 8;

/// Columns of a product.
const COLUMNS: usize = 2 * DIGITS;

/// An element of the field in every lane.
pub type Element<M> = [<M as Machine>::Digit; DIGITS];

/// The kernels of this module, each compiled for one machine.
pub trait Field: Machine {
    /// [`mul`].
    fn fe_mul(self, a: &mut Element<Self>, b: &Element<Self>);
    /// [`sqr`].
    fn fe_sqr(self, a: &mut Element<Self>, times: usize);
    /// [`add`].
    fn fe_add(self, a: &mut Element<Self>, b: &Element<Self>);
    /// [`sub`].
    fn fe_sub(self, a: &mut Element<Self>, b: &Element<Self>);
    /// [`enter`].
    fn fe_enter(self, out: &mut Element<Self>, a: &[Fe]);
    /// [`leave`].
    fn fe_leave(self, out: &mut [Fe], a: &Element<Self>);
    /// [`mul_scalars`].
    fn fe_mul_scalars(self, out: &mut [Fe], a: &[Fe], b: &[Fe]);
    /// [`sqr_scalars`].
    fn fe_sqr_scalars(self, out: &mut [Fe], a: &[Fe]);
}

/// Bits of the radix `2^384` of a scalar number's Montgomery form.
const SCALAR_BITS: usize = 64 * LIMBS;

/// The constants of the prime, in the digits of a machine.
struct Constants<M>(PhantomData<M>);

impl<M: Machine> Constants<M> {
    const W: usize = M::DIGIT_BITS as usize;
    const R_BITS: usize = DIGITS * Self::W;
    /// `p`.
    const MODULUS: [u64; DIGITS] = digits(&MODULUS, 0, Self::W);
    /// `μ = −p^{−1} mod 2^w`.
    const MU: u64 = {
        assert!(Self::R_BITS > 381 + 26);
        let mu = negative_inverse(MODULUS[0]) & ((1 << Self::W) - 1);
        assert!(mu <= 1 << (Self::W - 1), "the result of a reduction would pass 2p");
        mu
    };
    /// `p'' = (μ·p + 1) / 2^w`.
    const FRIENDLY: [u64; DIGITS] = {
        let (mut out, mut i, mut carry) = ([0; DIGITS], 0, 1);
        while i < DIGITS {
            let t = Self::MU as u128 * Self::MODULUS[i] as u128 + carry;
            let digit = t as u64 & ((1 << Self::W) - 1);
            if i > 0 {
                out[i - 1] = digit;
            } else {
                assert!(digit == 0);
            }
            carry = t >> Self::W;
            i += 1;
        }
        out[DIGITS - 1] = carry as u64;
        out
    };
    /// `R − 2p`, and `R − p`: adding these and dropping the carry subtracts `2p`, or `p`.
    const MINUS_2P: [u64; DIGITS] = Self::complement(&Self::TWICE);
    const MINUS_P: [u64; DIGITS] = Self::complement(&Self::MODULUS);
    /// `2p`.
    const TWICE: [u64; DIGITS] = Self::plus(&Self::MODULUS, &Self::MODULUS);
    /// `R·(R/2^384) mod p`: a product with it brings a scalar number's form to this one.
    const ENTER: [u64; DIGITS] = digits(&power_of_two(2 * Self::R_BITS - SCALAR_BITS), 0, Self::W);
    /// `2^384 mod p`: a product with it does the reverse.
    const LEAVE: [u64; DIGITS] = digits(&power_of_two(SCALAR_BITS), 0, Self::W);
    /// The initial values of columns: minus the biases of all products that they will receive, and where
    /// halves are signed an offset of `2^62`, less the part that the column below carries.
    const STARTS: [u64; COLUMNS] = {
        assert!(M::BIAS_LO.is_multiple_of(1 << M::DIGIT_BITS) && M::BIAS_HI.is_multiple_of(2));
        let (mut out, mut k) = ([0u64; COLUMNS], 0);
        while k < COLUMNS {
            // The product's rows start at column 0, friendly rows one above their number, the plain row at 7.
            let low = pairs(k, DIGITS) + if k > 0 { pairs(k - 1, DIGITS - 1) } else { 0 } + in_last_row(k);
            let high = if k == 0 {
                0
            } else {
                pairs(k - 1, DIGITS) + if k > 1 { pairs(k - 2, DIGITS - 1) } else { 0 } + in_last_row(k - 1)
            };
            out[k] = M::BIAS_LO.wrapping_mul(low).wrapping_add(M::BIAS_HI.wrapping_mul(high)).wrapping_neg();
            if M::SIGNED {
                let carried = if k == 0 { 0 } else { OFFSET >> M::DIGIT_BITS };
                out[k] = out[k].wrapping_add(OFFSET - carried);
            }
            k += 1;
        }
        out
    };

    /// Half of [`STARTS`](Self::STARTS), for squares: their columns are doubled on the way.
    const HALF_STARTS: [u64; COLUMNS] = {
        let (mut out, mut k) = (Self::STARTS, 0);
        while k < COLUMNS {
            assert!(out[k].is_multiple_of(2));
            // Doubled modulo 2^64.
            out[k] /= 2;
            k += 1;
        }
        out
    };

    const fn plus(a: &[u64; DIGITS], b: &[u64; DIGITS]) -> [u64; DIGITS] {
        let (mut out, mut i, mut carry) = ([0; DIGITS], 0, 0);
        while i < DIGITS {
            let t = a[i] + b[i] + carry;
            out[i] = t & ((1 << Self::W) - 1);
            carry = t >> Self::W;
            i += 1;
        }
        assert!(carry == 0);
        out
    }

    /// `R − a`, of an `a` above 0.
    const fn complement(a: &[u64; DIGITS]) -> [u64; DIGITS] {
        let (mut out, mut i) = ([0; DIGITS], 0);
        while i < DIGITS {
            out[i] = !a[i] & ((1 << Self::W) - 1);
            i += 1;
        }
        Self::plus(&out, &[1, 0, 0, 0, 0, 0, 0, 0])
    }
}

const OFFSET: u64 = 1 << 62;

/// How many pairs `(i, j)` with `i < rows` and `j < 8` have `i + j = k`.
const fn pairs(k: usize, rows: usize) -> u64 {
    let (mut count, mut i) = (0, 0);
    while i < rows {
        count += (i <= k && k - i < DIGITS) as u64;
        i += 1;
    }
    count
}

/// Whether the plain row adds a low half to column `k`.
const fn in_last_row(k: usize) -> u64 {
    (k >= DIGITS - 1 && k < 2 * DIGITS - 1) as u64
}

/// `number·2^shift` in radix `2^w`; it must fit.
const fn digits(number: &Fe, shift: usize, w: usize) -> [u64; DIGITS] {
    let (mut out, mut i) = ([0; DIGITS], 0);
    while i < DIGITS {
        let from = (i * w) as isize - shift as isize;
        out[i] = bits_at(number, from) & ((1 << w) - 1);
        i += 1;
    }
    out
}

/// 64 bits of a number from bit `from` on, which may be negative; zeros beyond it.
#[inline(always)]
const fn bits_at(number: &Fe, from: isize) -> u64 {
    const fn limb(number: &Fe, at: isize) -> u64 {
        if at >= 0 && at < LIMBS as isize { number[at as usize] } else { 0 }
    }
    let (at, bit) = (from.div_euclid(64), from.rem_euclid(64));
    // Shifted in two steps, since a shift by 64 is none.
    limb(number, at) >> bit | limb(number, at + 1) << 1 << (63 - bit)
}

/// A constant in every lane.
#[inline(always)]
fn constant<M: Machine>(m: M, digits: &[u64; DIGITS]) -> Element<M> {
    let mut out = [m.digit_zero(); DIGITS];
    each!(i in 0..DIGITS {
        out[i] = m.digit(m.column_splat(digits[i]));
    });
    out
}

/// `a ← a·b/R`.
///
/// Rows of the product and of the reduction take turns, so that a quotient is ready long before it is needed:
/// column `i` is complete once row `i` of the product has begun. Nine columns are alive at a time. (The rows
/// are not unrolled: the compiler would put off additions, and have no registers for the addends.)
///
/// * Precondition: digits normalised; `a·b < R·p/2`, as for `a, b < 2p`.
/// * Result: below `2p`, normalised.
/// * Cost: 64 products, and 65 for the reduction.
#[inline(always)]
pub fn mul<M: Machine>(m: M, a: &mut Element<M>, b: &Element<M>) {
    const LAST: usize = DIGITS - 1;
    let friendly = constant(m, &Constants::<M>::FRIENDLY);
    let starts = &Constants::<M>::STARTS;
    // Columns i to i + 8.
    let mut acc = [m.column_splat(0); DIGITS + 1];
    each!(k in 0..DIGITS {
        acc[k] = m.column_splat(starts[k]);
    });
    acc[DIGITS] = m.column_splat(starts[DIGITS]);
    for (&digit, &entering) in b[..LAST].iter().zip(&starts[DIGITS + 1..]) {
        product_row(m, &mut acc, reload(a), digit);
        friendly_row(m, &mut acc, reload(&friendly), m.column_splat(entering));
    }
    product_row(m, &mut acc, reload(a), b[LAST]);
    plain_row(m, &mut acc);
    finish(m, a, &acc);
}

/// `C += a·digit`, for nine columns.
#[inline(always)]
fn product_row<M: Machine>(m: M, acc: &mut [M::Column; DIGITS + 1], a: &Element<M>, digit: M::Digit) {
    each!(j in 0..DIGITS {
        (acc[j], acc[j + 1]) = m.mac(acc[j], acc[j + 1], a[j], digit);
    });
}

/// `(C + q·p')/2^w` with `q = C[0] mod 2^w`; a column enters from above.
#[inline(always)]
fn friendly_row<M: Machine>(
    m: M,
    acc: &mut [M::Column; DIGITS + 1],
    friendly: &Element<M>,
    entering: M::Column,
) {
    let q = m.operand(acc[0]);
    let mut column = m.add(acc[1], m.carry(acc[0]));
    each!(j in 0..DIGITS {
        let above = if j + 1 < DIGITS { acc[(j + 2) % (DIGITS + 1)] } else { entering };
        (acc[j], column) = m.mac(column, above, friendly[j], q);
    });
    acc[DIGITS] = column;
}

/// The last row, for the last column below `R`: `C += q·p` with `q = μ·C[0] mod 2^w`, and the carry of
/// `C[0]`.
#[inline(always)]
fn plain_row<M: Machine>(m: M, acc: &mut [M::Column; DIGITS + 1]) {
    let bias = m.column_splat(M::BIAS_LO.wrapping_neg());
    let mu = m.digit(m.column_splat(Constants::<M>::MU));
    let q = m.digit(m.mac_low(bias, m.digit(acc[0]), mu));
    product_row(m, acc, &constant(m, &Constants::<M>::MODULUS), q);
    // Now a multiple of 2^w.
    acc[1] = m.add(acc[1], m.carry(acc[0]));
}

/// The columns above the lowest as digits.
#[inline(always)]
fn finish<M: Machine>(m: M, out: &mut Element<M>, acc: &[M::Column; DIGITS + 1]) {
    let mut carry = m.column_splat(0);
    each!(i in 0..DIGITS {
        let column = m.add(acc[i + 1], carry);
        out[i] = m.digit(column);
        carry = m.carry(column);
    });
    let _ = carry;
}

/// `a ← a²/R`, `times` times: products of different digits once, doubled.
///
/// * Precondition: digits normalised; `a² < R·p/2`.
/// * Result: below `2p`, normalised.
/// * Cost, each time: 36 products, and 65 for the reduction.
#[inline(always)]
pub fn sqr<M: Machine>(m: M, a: &mut Element<M>, times: usize) {
    let friendly = constant(m, &Constants::<M>::FRIENDLY);
    let mut c = [m.column_splat(OFFSET); COLUMNS];
    for _ in 0..times {
        square::<M, DIGITS>(m, &mut c, a, &Constants::<M>::HALF_STARTS);
        let mut acc = [c[0]; DIGITS + 1];
        each!(k in 0..DIGITS {
            acc[k + 1] = c[k + 1];
        });
        for &entering in &c[DIGITS + 1..] {
            friendly_row(m, &mut acc, reload(&friendly), entering);
        }
        plain_row(m, &mut acc);
        finish(m, a, &acc);
    }
}

/// Columns to digits; the carry out of the highest.
#[inline(always)]
fn carried<M: Machine>(m: M, out: &mut Element<M>, columns: &[M::Column; DIGITS]) -> M::Column {
    let mut carry = m.column_splat(0);
    each!(i in 0..DIGITS {
        let column = m.add(columns[i], carry);
        out[i] = m.digit(column);
        carry = m.carry(column);
    });
    carry
}

/// Columns plus a constant.
#[inline(always)]
fn plus<M: Machine>(m: M, columns: &[M::Column; DIGITS], constant: &[u64; DIGITS]) -> [M::Column; DIGITS] {
    let mut out = *columns;
    each!(i in 0..DIGITS {
        out[i] = m.add(out[i], m.column_splat(constant[i]));
    });
    out
}

/// `a` where `a + complement` does not carry out of the highest digit, else that sum: subtracts
/// `R − complement` once.
#[inline(always)]
fn reduce_once<M: Machine>(m: M, out: &mut Element<M>, a: &[M::Column; DIGITS], complement: &[u64; DIGITS]) {
    let mut less = [m.digit_zero(); DIGITS];
    carried(m, out, a);
    let carry = carried(m, &mut less, &plus(m, a, complement));
    let enough = m.equals(carry, 1);
    each!(i in 0..DIGITS {
        out[i] = m.select(enough, out[i], less[i]);
    });
}

/// `a ← a + b`.
///
/// * Precondition: `a, b < 2p`, normalised.
/// * Result: below `2p`, normalised.
/// * Cost: two chains of carries.
#[inline(always)]
pub fn add<M: Machine>(m: M, a: &mut Element<M>, b: &Element<M>) {
    let mut sum = [m.column_splat(0); DIGITS];
    each!(i in 0..DIGITS {
        sum[i] = m.add(m.column(a[i]), m.column(b[i]));
    });
    reduce_once(m, a, &sum, &Constants::<M>::MINUS_2P);
}

/// `a ← a − b`.
///
/// * Precondition: `a, b < 2p`, normalised.
/// * Result: below `2p`, normalised.
/// * Cost: two chains of carries.
#[inline(always)]
pub fn sub<M: Machine>(m: M, a: &mut Element<M>, b: &Element<M>) {
    // a + (R − b), digit by digit without borrows: 2^w − 1 − b[i], and one more in the lowest.
    let ones = (1 << M::DIGIT_BITS) - 1;
    let mut difference = [m.column_splat(0); DIGITS];
    each!(i in 0..DIGITS {
        let complement = m.sub(m.column_splat(ones + u64::from(i == 0)), m.column(b[i]));
        difference[i] = m.add(m.column(a[i]), complement);
    });
    let mut more = [m.digit_zero(); DIGITS];
    let carry = carried(m, a, &difference);
    carried(m, &mut more, &plus(m, &difference, &Constants::<M>::TWICE));
    let enough = m.equals(carry, 1);
    each!(i in 0..DIGITS {
        a[i] = m.select(enough, more[i], a[i]);
    });
}
