//! The working space of one exponentiation: the modulus in the kernels' form, and the columns.

use super::Quotients;
use super::beside::Beside;
use super::carry::normalise;
use super::head::{Low, chained, friendly};
use super::machine::{Machine, SHIFTED};
use super::rows::{ABOVE, MIDDLE, broadcast_each, four, rows};
use crate::place::{AlignedBuf, COLUMNS};

/// Where numbers start within a page: past the working space of the lengths that fit in one.
pub(super) const NUMBERS: usize = 3072;

/// Numbers of `4·groups` digits in radix `2^m`, modulo one modulus. All of it is zeroised when dropped.
pub struct Workspace<W: Machine> {
    /// `m`.
    m: u32,
    /// How many fours of digits a number has.
    pub(super) groups: usize,
    /// How quotients are found.
    quotients: Quotients,
    /// The constants of the scalar head.
    low: Low<W>,
    /// 0.
    zero: W::Word,
    /// All words, one after the other, so that up to a page of them no load seems to overlap a store that it
    /// does not: see [`View`] for what they are.
    words: AlignedBuf<W::Word>,
}

impl<W: Machine> Drop for Workspace<W> {
    fn drop(&mut self) {
        self.low = Low { modulus: [self.zero; 4], k0: self.zero };
        zeroize::optimization_barrier(&self.low);
    }
}

impl<W: Machine> Workspace<W> {
    /// The space for a modulus `M` and its `k0` in radix `2^m`, and `M''` of as many digits: a multiple of
    /// four.
    ///
    /// # Panics
    /// If the digits are none, are not a multiple of four, are more than `most_sums(m)`, or differ in number.
    pub fn new(w: W, m: u32, modulus: &[u64], k0: u64, multiple: &[u64], quotients: Quotients) -> Self {
        let digits = modulus.len();
        assert!(digits > 0 && digits.is_multiple_of(4) && multiple.len() == digits, "{digits} digits");
        assert!(digits <= super::most_sums(m), "too many digits for products in columns of 64 bits");
        let zero = w.word(w.digit(0));
        let digit = |value: u64| w.digit(u32::try_from(value).expect("a digit"));
        let word = |value: u64| w.word(digit(value));
        let groups = digits / 4;
        let (columns, shifted) = (8 * groups, SHIFTED * (groups + 1));
        let mut words = AlignedBuf::new(zero, columns + 3 * shifted, Some(COLUMNS));
        // The paper's quotients need only M, which takes the best place.
        let multiple = match quotients {
            #[cfg(feature = "papers")]
            Quotients::Chained => modulus,
            Quotients::Friendly => multiple,
        };
        for (i, number) in [multiple, modulus].into_iter().enumerate() {
            let out = &mut words[columns + (i + 1) * shifted..][..shifted];
            for (v, out) in out.chunks_exact_mut(SHIFTED).enumerate() {
                // From the three digits below on.
                let at = |i: usize| (4 * v + i).checked_sub(3).and_then(|at| number.get(at));
                w.shift_digits(out, core::array::from_fn(|i| digit(at(i).copied().unwrap_or(0))));
            }
        }
        Self {
            m,
            groups,
            quotients,
            low: Low { modulus: core::array::from_fn(|i| word(modulus[i])), k0: word(k0) },
            zero,
            words,
        }
    }

    /// `m`.
    pub fn digit_bits(&self) -> u32 {
        self.m
    }

    /// How many fours of digits a number has.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// How quotients are found.
    pub fn quotients(&self) -> Quotients {
        self.quotients
    }

    /// All of it, cut once for `g` fours of digits, so that lengths are checked once.
    #[inline(always)]
    pub(super) fn view(&mut self, g: usize) -> View<'_, W> {
        let (columns, rest) = self.words.split_at_mut(8 * g);
        let (factor, rest) = rest.split_at_mut(SHIFTED * (g + 1));
        let (multiple, modulus) = rest.split_at(SHIFTED * (g + 1));
        View { low: &self.low, columns, factor, multiple, modulus: &modulus[..SHIFTED * (g + 1)] }
    }
}

/// The working space in its parts.
pub(super) struct View<'a, W: Machine> {
    /// The constants of the scalar head.
    low: &'a Low<W>,
    /// The columns of a product.
    pub(super) columns: &'a mut [W::Word],
    /// A factor, shifted; doubled in a square.
    pub(super) factor: &'a mut [W::Word],
    /// `M''`, shifted (see [`friendly`]); with the paper's quotients `M`.
    multiple: &'a [W::Word],
    /// `M`, shifted.
    modulus: &'a [W::Word],
}

impl<W: Machine> View<'_, W> {
    /// Four rows of the reduction, with the scalar head: `C[4h..] += q·M` for four digits `q` of the quotient
    /// that clear the four columns from `4h` on, which are not written any more; their carry is returned. The
    /// last four are left to [`finish`](Self::finish) where vectors are halves.
    ///
    /// Preconditions: `h < g`, all columns up to `4(h + g) + 8` are written, and stay below `2^64`. Cost:
    /// `4g` or `4(g + 1)` vector multiply-accumulates.
    #[inline(always)]
    pub(super) fn reduce<const M: u32, const FRIENDLY: bool>(
        &mut self,
        w: W,
        g: usize,
        h: usize,
        carry: W::Word,
        beside: &mut impl Beside,
    ) -> W::Word {
        if W::HALVED && h + 1 == g {
            return carry;
        }
        let c = &mut self.columns[4 * h..];
        let x = [c[0], c[1], c[2], c[3]];
        if FRIENDLY && h + 1 < g {
            let (q, carry) = friendly::<W, M>(w, x, carry);
            // q·M'' starts four columns up.
            rows::<W, false, true, true>(w, &mut c[4..], self.multiple, broadcast_each(w, q), g + 1, beside);
            carry
        } else {
            let (q, carry) = chained::<W, M>(w, x, carry, self.low);
            // What q·M adds to the lowest four columns, the head has added.
            let modulus = if FRIENDLY { self.modulus } else { self.multiple };
            rows::<W, false, false, true>(
                w,
                &mut c[4..],
                &modulus[SHIFTED..],
                broadcast_each(w, q),
                g,
                beside,
            );
            carry
        }
    }

    /// The digits of the result. Where vectors are halves, after the last four rows of the reduction, four
    /// columns behind them: each row's products take the vector unit, and the carries another.
    ///
    /// Precondition: [`reduce`](Self::reduce) returned `carry` for the last four rows.
    #[inline(always)]
    pub(super) fn finish<const M: u32, const FRIENDLY: bool>(
        &mut self,
        w: W,
        g: usize,
        carry: W::Word,
        x: &mut [W::Digit],
    ) {
        if !W::HALVED {
            return normalise::<W, M>(w, x, &self.columns[4 * g..], carry);
        }
        let c = &mut self.columns[4 * (g - 1)..];
        let (q, mut carry) = chained::<W, M>(w, [c[0], c[1], c[2], c[3]], carry, self.low);
        let d = broadcast_each(w, q);
        let modulus = if FRIENDLY { self.modulus } else { self.multiple };
        let c = &mut c.as_chunks_mut::<4>().0[1..=g];
        let (a, x) = (&modulus.as_chunks::<SHIFTED>().0[1..=g], &mut x.as_chunks_mut::<4>().0[..g]);
        for v in 0..g {
            if v + 1 < g {
                four::<W, false, MIDDLE>(w, &mut c[v], w.shifted(&a[v]), d);
            } else {
                four::<W, false, ABOVE>(w, &mut c[v], w.shifted(&a[v]), d);
            }
            if v > 0 {
                (x[v - 1], carry) = friendly::<W, M>(w, c[v - 1], carry);
            }
        }
        (x[g - 1], _) = friendly::<W, M>(w, c[g - 1], carry);
    }
}
