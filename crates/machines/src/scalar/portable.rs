//! Any processor: limbs multiplied by 64 × 64 → 128 bits.

use zariz_kernels::limbs;
use zariz_kernels::scalar::Kernels;

use super::select::select;

/// The scalar machine that every processor can run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable(());

impl Portable {
    /// The machine; every processor has it.
    pub fn new() -> Self {
        Self(())
    }
}

/// `a·b + c + d`, which fits in two limbs: low, high.
#[inline(always)]
fn mac(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let sum = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(d);
    (sum as u64, (sum >> 64) as u64)
}

/// `t += a·b`, from the first limb of `t` on; returns the carry out of as many limbs as `a` has.
#[inline(always)]
fn row(t: &mut [u64], a: &[u64], b: u64) -> u64 {
    let mut carry = 0;
    for (t, &a) in t.iter_mut().zip(a) {
        (*t, carry) = mac(a, b, *t, carry);
    }
    carry
}

impl Kernels for Portable {
    const STEP: usize = 1;

    fn mul(self, t: &mut [u64], a: &[u64], b: &[u64]) {
        let n = a.len();
        assert!(t.len() == 2 * n && b.len() == n);
        t[..n].fill(0);
        for (i, &b) in b.iter().enumerate() {
            t[i + n] = row(&mut t[i..i + n], a, b);
        }
    }

    /// The products above the diagonal, then those and the diagonal in one pass.
    fn sqr(self, t: &mut [u64], a: &[u64]) {
        let n = a.len();
        assert!(t.len() == 2 * n);
        t.fill(0);
        for i in 0..n {
            t[i + n] = row(&mut t[2 * i + 1..i + n], &a[i + 1..], a[i]);
        }
        let (mut shifted, mut carry) = (0, 0);
        for (pair, &a) in t.chunks_exact_mut(2).zip(a) {
            let doubled = [pair[0] << 1 | shifted, pair[1] << 1 | pair[0] >> 63];
            shifted = pair[1] >> 63;
            let square = u128::from(a) * u128::from(a);
            let low = u128::from(doubled[0]) + u128::from(square as u64) + u128::from(carry);
            let high = u128::from(doubled[1]) + (square >> 64) + (low >> 64);
            (pair[0], pair[1], carry) = (low as u64, high as u64, (high >> 64) as u64);
        }
    }

    fn reduce(self, out: &mut [u64], t: &mut [u64], m: &[u64], mu: u64) {
        let n = m.len();
        assert!(t.len() == 2 * n && out.len() == n);
        let mut carry = 0;
        for i in 0..n {
            let q = t[i].wrapping_mul(mu);
            let high = row(&mut t[i..i + n], m, q);
            let sum = u128::from(t[i + n]) + u128::from(high) + u128::from(carry);
            (t[i + n], carry) = (sum as u64, (sum >> 64) as u64);
        }
        out.copy_from_slice(&t[n..]);
        limbs::sub_masked(out, m, std::hint::black_box(carry.wrapping_neg()));
    }

    fn select(self, out: &mut [u64], table: &[u64], index: u64) {
        select(out, table, index);
    }
}
