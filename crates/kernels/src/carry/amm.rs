//! Whole multiplications: in one window, or split into parts.

use super::chains::Chains;
use super::machine::{DIGITS, Digits, Machine, Modulus};
use super::tail;

/// Almost Montgomery multiplication by four carry chains: `out ≡ a·b·R^{−1} (mod M)`.
///
/// * Precondition: all numbers have `n` digits, a multiple of `16V`, and so has the modulus, which is odd,
///   `1 < M < R = 2^{32n}`. `a, b < R`, that is any digits. Of numbers of more than one window, `scratch` has
///   two windows more, whatever they hold.
/// * Bound: `out < R`.
/// * Cost: with `P = n/16V`, `P²` parts of `16V` rounds. A round is 9 instructions for each vector in the
///   coprocessor's words, and in the `P` parts that compute quotients 4 more, in the others 2 more and the
///   moving of single digits; `P` tails and one masked subtraction.
/// * Source: paper `phirsa`, slides "Four VCPCs", "Computing q", "Handling Tail" and "2048-bit Montgomery
///   Multiplication".
///
/// # The split
///
/// Numbers longer than a window are cut into `P` windows, and the multiplication into parts like that of one
/// window: sixteen chains would need more masks than there are. Row `j` multiplies `A` by window `j` of `b`.
/// Its part 0 computes the quotients `Q_j`, and the others work with the same: part `i` adds
/// `A_i·b_j + M_i·Q_j`. A part's window moves up by its own length and ends where that of the next part
/// begins, with its carries, so that none need be resolved between parts; the digits that enter at the top
/// are those that the last row left, and those that leave at the bottom are final.
///
/// # Bounds of the split
///
/// With `β = 2^{32·16V}`, row `j` makes `S ← (S + A·b_j + M·Q_j)/β` exactly. If `S < A + M` before, then
/// after it `S < (A + M)(1 + β − 1)/β = A + M < 2R`: one bit above the digits, as [`tail::resolve`] returns
/// it.
#[inline(always)]
pub fn amm<M: Machine, const V: usize>(
    m: M,
    out: &mut [Digits],
    scratch: &mut [Digits],
    a: &[Digits],
    b: &[Digits],
    modulus: Modulus,
) {
    let Modulus { digits, negated, mu } = modulus;
    let (a, b, modulus) = (a.as_chunks::<V>().0, b.as_chunks::<V>().0, digits.as_chunks::<V>().0);
    let windows = out.as_chunks_mut::<V>().0;
    let mu = m.splat(mu);
    let top = if let ([out], [a], [b], [modulus]) = (&mut *windows, a, b, modulus) {
        one_window(m, out, a, b, modulus, mu)
    } else {
        split(m, windows, scratch.as_chunks_mut::<V>().0, a, b, modulus, mu)
    };
    tail::add_if::<M, V>(m, top, out, negated);
}

/// A window's digits as factors.
#[inline(always)]
fn factors<M: Machine, const V: usize>(m: M, digits: &[Digits; V]) -> [M::Factor; V] {
    let mut out = [m.factor(m.constant(0)); V];
    for (out, digits) in out.iter_mut().zip(digits) {
        *out = m.factor(m.load(digits));
    }
    out
}

/// [`amm()`] of numbers that fit one window, before the subtraction: returns the digit above `out`, 0 or 1.
#[inline(always)]
fn one_window<M: Machine, const V: usize>(
    m: M,
    out: &mut [Digits; V],
    a: &[Digits; V],
    b: &[Digits; V],
    modulus: &[Digits; V],
    mu: M::Vector,
) -> u64 {
    let (a, modulus) = (factors(m, a), factors(m, modulus));
    let mut chains = Chains::new(m, &[[0; DIGITS]; V]);
    for b in b {
        for &b in b {
            chains.round(m, &a, b, &modulus, mu);
        }
    }
    tail::resolve(m, &chains, out)
}

/// [`amm()`] of longer numbers, before the subtraction: returns the digit above `out`, 0 or 1.
#[inline(always)]
fn split<M: Machine, const V: usize>(
    m: M,
    out: &mut [[Digits; V]],
    scratch: &mut [[Digits; V]],
    a: &[[Digits; V]],
    b: &[[Digits; V]],
    modulus: &[[Digits; V]],
    mu: M::Vector,
) -> u64 {
    let [quotients, top] = scratch.first_chunk_mut().expect("two windows of scratch");
    let parts = out.len();
    let (a, modulus) = (&a[..parts], &modulus[..parts]);
    out.fill([[0; DIGITS]; V]);
    *top = [[0; DIGITS]; V];
    for b in b {
        let mut chains = Chains::new(m, &out[0]);
        for i in 0..parts {
            let (done, rest) = out.split_at_mut(i);
            let above = rest.get(1).unwrap_or(top);
            let (a, modulus) = (factors(m, &a[i]), factors(m, &modulus[i]));
            if let Some(done) = done.last_mut() {
                known(m, &mut chains, &a, &modulus, b, quotients, above, done);
            } else {
                unknown(m, &mut chains, &a, &modulus, b, mu, above, quotients);
            }
        }
        top[0][0] = tail::resolve(m, &chains, &mut out[parts - 1]) as u32;
    }
    u64::from(top[0][0])
}

/// A part that computes its quotients, and writes them.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn unknown<M: Machine, const V: usize>(
    m: M,
    chains: &mut Chains<M, V>,
    a: &[M::Factor; V],
    modulus: &[M::Factor; V],
    b: &[Digits; V],
    mu: M::Vector,
    above: &[Digits; V],
    quotients: &mut [Digits; V],
) {
    for v in 0..V {
        for i in 0..DIGITS {
            let high = chains.multiply(m, a, m.splat(b[v][i]));
            let q = chains.quotient(m, mu);
            quotients[v][i] = m.first(q);
            chains.reduce(m, modulus, q, &high, m.splat(above[v][i]));
        }
    }
}

/// A part with given quotients: it writes the digits that leave at the bottom.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn known<M: Machine, const V: usize>(
    m: M,
    chains: &mut Chains<M, V>,
    a: &[M::Factor; V],
    modulus: &[M::Factor; V],
    b: &[Digits; V],
    quotients: &[Digits; V],
    above: &[Digits; V],
    done: &mut [Digits; V],
) {
    for v in 0..V {
        for i in 0..DIGITS {
            let high = chains.multiply(m, a, m.splat(b[v][i]));
            let q = m.splat(quotients[v][i]);
            let bottom = chains.reduce(m, modulus, q, &high, m.splat(above[v][i]));
            done[v][i] = m.first(bottom);
        }
    }
}
