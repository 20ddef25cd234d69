//! The working space of one exponentiation: the modulus as the kernels want it, and the columns.

use super::Quotients;
use super::head::{Low, chained, friendly};
use super::rows::{broadcast, rows};
use super::wide::Wide;
use crate::place::{COLUMNS, NUMBERS, Placed};

/// Zeros before a padded number: three are read, and vectors are four.
pub(super) const BEFORE: usize = 4;

/// Numbers of `4·groups` digits in radix `2^m`, modulo one modulus. All of it is zeroised when dropped.
pub struct Work<W: Wide> {
    /// `m`.
    pub(super) m: u32,
    /// How many fours of digits a number has.
    pub(super) groups: usize,
    /// How quotients are found.
    pub(super) quotients: Quotients,
    /// What the scalar head needs.
    pub(super) low: Low<W>,
    /// The columns of a product, four more above, and four again for a cleanup.
    pub(super) columns: Placed<W::Word>,
    /// The factor that is read at unaligned places, between zeros; doubled in a square.
    pub(super) factor: Placed<W::Word>,
    /// In a square, for each four digits: four zeros, the digits, the next four doubled.
    pub(super) edges: Placed<W::Word>,
    /// `M` between zeros.
    pub(super) modulus: Placed<W::Word>,
    /// `M''` between zeros (see [`friendly`]).
    pub(super) friendly: Placed<W::Word>,
    /// Four digits of the quotient, of which vectors are made.
    pub(super) q: Placed<W::Digit>,
}

impl<W: Wide> Work<W> {
    /// The space for a modulus `M` and its `k0` in radix `2^m`, and `M''` of as many digits: a multiple of four.
    ///
    /// # Panics
    /// If the digits are none, are not a multiple of four, are more than `most_sums(m)`, or differ in number.
    pub fn new(w: W, m: u32, modulus: &[u64], k0: u64, multiple: &[u64], quotients: Quotients) -> Self {
        let digits = modulus.len();
        assert!(digits > 0 && digits.is_multiple_of(4) && multiple.len() == digits, "{digits} digits");
        assert!(digits <= super::most_sums(m), "too many digits for products in columns of 64 bits");
        let zero = w.word(w.digit(0));
        let word = |value: u64| w.word(w.digit(u32::try_from(value).expect("a digit")));
        let padded = |number: &[u64]| {
            let mut out = Placed::new(zero, BEFORE + digits + 8, Some(0));
            out[BEFORE..][..digits].iter_mut().zip(number).for_each(|(out, &digit)| *out = word(digit));
            out
        };
        Self {
            m,
            groups: digits / 4,
            quotients,
            low: Low { modulus: core::array::from_fn(|i| word(modulus[i])), k0: word(k0) },
            columns: Placed::new(zero, 2 * digits + 8, Some(COLUMNS)),
            factor: Placed::new(zero, BEFORE + digits + 8, Some(NUMBERS)),
            edges: Placed::new(zero, 3 * digits, Some(NUMBERS + 1024)),
            modulus: padded(modulus),
            friendly: padded(multiple),
            q: Placed::new(w.digit(0), 4, Some(NUMBERS - 64)),
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

    /// Four rows of the reduction, with the scalar head: `C[4h..] += q·M` for four digits `q` of the quotient that clear the four
    /// columns from `4h` on, which are not written any more; what they carry is returned.
    ///
    /// Preconditions: the columns and what is added stay below `2^64`. Cost: `4g` or `4(g + 1)` vector multiply-accumulates.
    #[inline(always)]
    pub(super) fn reduce<const M: u32, const FRIENDLY: bool>(
        &mut self,
        w: W,
        g: usize,
        h: usize,
        carry: W::Word,
    ) -> W::Word {
        let c = &mut self.columns[4 * h..][..4 * g + 8];
        let x = [c[0], c[1], c[2], c[3]];
        let last = h + 1 == g;
        let (q, carry) =
            if FRIENDLY && !last { friendly::<W, M>(w, x, carry) } else { chained::<W, M>(w, x, carry, &self.low) };
        self.q.copy_from_slice(&q);
        let q = broadcast(w, &self.q);
        if FRIENDLY && !last {
            // q·M'' starts four columns up.
            rows(w, &mut c[4..], &self.friendly[BEFORE - 3..][..4 * g + 7], q);
        } else {
            // What q·M adds to the lowest four columns, the head has added.
            rows(w, &mut c[4..4 * g + 4], &self.modulus[BEFORE + 1..][..4 * g + 3], q);
        }
        carry
    }
}
