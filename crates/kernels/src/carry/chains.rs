//! A window of accumulators and its four chains of carries.

use super::machine::{Digits, Machine};

/// `V` vectors of accumulators, the lowest first, and the carries that four chains of additions have left
/// behind: at most one of each chain for each lane.
///
/// # Its value
///
/// Between rounds, with `s_i` the digit in lane `i` of the whole window and `k[j]_i` the carry of chain `j`
/// out of it: `Σ_i (s_i + k[0]_i + k[1]_i)·2^{32i} + Σ_i (k[2]_i + k[3]_i)·2^{32(i+1)}`. Chains 0 and 1 left
/// theirs before the window moved down by one digit, chains 2 and 3 after it. All of it is exact, even above
/// the window: for all digits nothing is lost. The topmost lane's carries of chains 2 and 3 are worth a digit
/// above the window; the next round adds them, when the window has moved there.
#[derive(Clone, Copy)]
pub struct Chains<M: Machine, const V: usize> {
    /// The digits.
    pub s: [M::Vector; V],
    /// The carries of the chains: `A·b` low, `M·q` low, `A·b` high, `M·q` high.
    pub k: [[M::Mask; V]; 4],
}

impl<M: Machine, const V: usize> Chains<M, V> {
    /// Plain digits, no carries.
    #[inline(always)]
    pub fn new(m: M, digits: &[Digits; V]) -> Self {
        let mut s = [m.constant(0); V];
        for (s, digits) in s.iter_mut().zip(digits) {
            *s = m.load(digits);
        }
        Self { s, k: [[m.mask(0); V]; 4] }
    }

    /// A whole round: `S ← (S + A·b + M·q) / 2^32`, of a number that is one window.
    ///
    /// * Precondition: `mu` holds `−M^{−1} mod 2^32` in every lane.
    /// * Cost: for each vector 9 instructions, and 4 more: the digit's broadcast and the quotient.
    /// * Source: slides "Four VCPCs" and "Performance Analysis".
    #[inline(always)]
    pub fn round(&mut self, m: M, a: &[M::Factor; V], b: u32, modulus: &[M::Factor; V], mu: M::Vector) {
        let high = self.multiply(m, a, m.splat(b));
        let q = self.quotient(m, mu);
        self.reduce(m, modulus, q, &high, m.constant(0));
    }

    /// The first half of a round: `S ← S + low(A·b)` on chain 0. Returns the high halves, for
    /// [`reduce`](Self::reduce).
    ///
    /// * Cost: for each vector both halves of a product and an addition with carry.
    /// * Source: slide "Four VCPCs".
    #[inline(always)]
    pub fn multiply(&mut self, m: M, a: &[M::Factor; V], b: M::Vector) -> [M::Vector; V] {
        let mut high = [b; V];
        for v in 0..V {
            let (low, above) = m.multiply(a[v], b);
            (self.s[v], self.k[0][v]) = m.add(self.s[v], self.k[0][v], low);
            high[v] = above;
        }
        high
    }

    /// The quotient of a round after [`multiply`](Self::multiply), in every lane:
    /// `q = (s_0 + k[1]_0)·μ mod 2^32`.
    ///
    /// Lane 0 lacks the carry that chain 1 left there in the last round. It is not added: `μ` is added to the
    /// product with the carries of chain 1 as write mask. (Those of chains 2 and 3 belong to lanes above 0.)
    ///
    /// * Precondition: `mu` holds `μ = −M^{−1} mod 2^32` in every lane.
    /// * Cost: the low half of a product, an addition under a mask, a permutation.
    /// * Source: slide "Computing q".
    #[inline(always)]
    pub fn quotient(&self, m: M, mu: M::Vector) -> M::Vector {
        let q = m.multiply_first(self.s[0], mu);
        m.broadcast_first(m.add_where(self.k[1][0], q, mu))
    }

    /// The second half of a round: `S ← ⌊(S + low(M·q)) / 2^32⌋ + high(A·b) + high(M·q)` on chains 1, 2 and
    /// 3. The digit in lane 0 of `above` enters at the top; the digit that leaves at the bottom is final, and
    /// returned as lane 0 of a vector. It is 0 if `q` is [`quotient`](Self::quotient) of this window.
    ///
    /// * Precondition: `high` comes from [`multiply`](Self::multiply), all lanes of `q` are equal.
    /// * Cost: for each vector both halves of a product, three additions with carry and a shift.
    /// * Source: slide "Four VCPCs".
    #[inline(always)]
    pub fn reduce(
        &mut self,
        m: M,
        modulus: &[M::Factor; V],
        q: M::Vector,
        high: &[M::Vector; V],
        above: M::Vector,
    ) -> M::Vector {
        let mut second = [q; V];
        for v in 0..V {
            let (low, above) = m.multiply(modulus[v], q);
            (self.s[v], self.k[1][v]) = m.add(self.s[v], self.k[1][v], low);
            second[v] = above;
        }
        let bottom = self.s[0];
        for v in 0..V {
            self.s[v] = m.shift_down(self.s[v], if v + 1 < V { self.s[v + 1] } else { above });
        }
        for v in 0..V {
            (self.s[v], self.k[2][v]) = m.add_high(self.s[v], self.k[2][v], high[v]);
            (self.s[v], self.k[3][v]) = m.add_high(self.s[v], self.k[3][v], second[v]);
        }
        bottom
    }
}
