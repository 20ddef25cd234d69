//! What an exponentiation needs of the arithmetic below it.

use crate::limbs::Numbers;
use crate::place::Placed;

/// Numbers in Montgomery's domain, `count` of them side by side, each with its own modulus.
///
/// [`crate::batch::Domain`] is one for each vector machine (a number in every lane); [`crate::scalar`],
/// [`crate::pair`], [`crate::rsaz`] and `carry` have those for single numbers. A *number* below
/// means all `count` numbers together: `words` words. Numbers in the domain are congruent to their values,
/// not necessarily below the modulus: each domain states its own bound, under which it is closed.
///
/// Nothing depends on values: no branch, index or address. Moduli are as secret as exponents; their lengths
/// are public.
pub trait Domain {
    /// The element type of a number.
    type Word: Copy;

    /// How many windows [`select`](Self::select) reads the table for at a time.
    const WINDOWS: usize;

    /// How many numbers are side by side.
    fn count(&self) -> usize;

    /// The words of a number.
    fn words(&self) -> usize;

    /// `words` words, all 0.
    fn zeros(&mut self, words: usize) -> Placed<Self::Word>;

    /// `words` words of scratch memory, of any value: old numbers perhaps. Write before you read.
    fn scratch(&mut self, words: usize) -> Placed<Self::Word> {
        self.zeros(words)
    }

    /// Takes numbers that are no longer needed. Their memory may serve as the next [`scratch`](Self::scratch); it is
    /// wiped when the domain is dropped.
    fn recycle(&mut self, numbers: impl IntoIterator<Item = Placed<Self::Word>>) {
        numbers.into_iter().for_each(drop);
    }

    /// Wipes what numbers that are no longer needed have left.
    fn forget(&mut self) {}

    /// A copy of a number.
    fn copy_of(&mut self, x: &[Self::Word]) -> Placed<Self::Word> {
        let mut out = self.scratch(x.len());
        out.copy_from_slice(x);
        out
    }

    /// 1 in the domain.
    fn one(&mut self) -> Placed<Self::Word>;

    /// `log2 R`: the longest plain number that is one as it is, in bits.
    fn bits(&self) -> usize;

    /// The bits that each step of [`enter`](Self::enter) takes in: `s ≤ log2 R`.
    fn step_bits(&self) -> usize {
        self.bits()
    }

    /// `bits` bits of plain numbers from bit `from` on, as they are; at most [`bits`](Self::bits). Where
    /// there are fewer numbers than [`count`](Self::count), the last is repeated.
    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> Placed<Self::Word>;

    /// `x ← x + piece`, or a number congruent to it. Precondition: `x` is the product of a number below `R`
    /// and one below the modulus `M`, which is below `R·M/R + 2M = 3M`; the piece has
    /// [`step_bits`](Self::step_bits) bits. Result: below `R`. It is a plain sum where `3M + 2^s ≤ R`, and
    /// else reduced.
    fn add_piece(&mut self, x: &mut [Self::Word], piece: &[Self::Word]);

    /// `R² mod M`: a product with it brings a number into the domain.
    fn enter_factor(&mut self) -> Placed<Self::Word>;

    /// `R·2^s mod M`, `s` of [`step_bits`](Self::step_bits): a product with it is `x·2^s`.
    fn shift_factor(&mut self) -> Placed<Self::Word> {
        debug_assert_eq!(self.step_bits(), self.bits());
        self.enter_factor()
    }

    /// Plain numbers below their moduli, as they are, to multiply numbers in the domain by. Where there are
    /// fewer than [`count`](Self::count), the last is repeated.
    fn plain(&mut self, numbers: &[&[u64]]) -> Placed<Self::Word> {
        self.piece(numbers, 0, self.bits())
    }

    /// [Plain](Self::plain) numbers into the domain, reduced: below `3M`.
    fn enter_plain(&mut self, plain: &[Self::Word]) -> Placed<Self::Word> {
        let mut x = self.copy_of(plain);
        self.enter_in_place(&mut x);
        x
    }

    /// A [plain](Self::plain) number into the domain.
    fn enter_in_place(&mut self, x: &mut [Self::Word]) {
        let enter = self.enter_factor();
        self.amm(x, &enter);
        self.recycle([enter]);
    }

    /// Plain numbers of any length into the domain, reduced: below `3M`. `bits` bounds the length
    /// of all and is public. Where there are fewer than [`count`](Self::count), the last is repeated.
    ///
    /// By Horner's rule, from the uppermost bits down: `x ← x·2^s + next`. The first piece has `log2 R` bits,
    /// each other one `s`, so `x < R` at first, and after each step as [`add_piece`](Self::add_piece) leaves
    /// it.
    fn enter(&mut self, numbers: &[&[u64]], bits: usize) -> Placed<Self::Word> {
        self.enter_by(bits, |domain, from, bits| domain.piece(numbers, from, bits))
    }

    /// Like [`enter`](Self::enter), with pieces of the numbers from `piece`: `bits` bits from bit `from` on, as
    /// [`piece`](Self::piece) returns them.
    fn enter_by(
        &mut self,
        bits: usize,
        mut piece: impl FnMut(&mut Self, usize, usize) -> Placed<Self::Word>,
    ) -> Placed<Self::Word> {
        let (first, step) = (self.bits(), self.step_bits());
        let steps = bits.saturating_sub(first).div_ceil(step);
        let mut x = piece(self, steps * step, first);
        if steps > 0 {
            let shift = self.shift_factor();
            for i in (0..steps).rev() {
                self.amm(&mut x, &shift);
                let next = piece(self, i * step, step);
                self.add_piece(&mut x, &next);
                self.recycle([next]);
            }
            self.recycle([shift]);
        }
        self.enter_in_place(&mut x);
        x
    }

    /// `x ← x·y·R^{−1}`.
    fn amm(&mut self, x: &mut [Self::Word], y: &[Self::Word]);

    /// `x ← x²·R^{−1}`, `times` times.
    fn ams(&mut self, x: &mut [Self::Word], times: usize);

    /// The words of a table entry: a number, and anything else that a product with it needs.
    fn entry_words(&self) -> usize {
        self.words()
    }

    /// Makes a table entry of the number in its first [`words`](Self::words) words.
    fn complete_entry(&mut self, entry: &mut [Self::Word]) {
        let _ = entry;
    }

    /// `x ← x·B·R^{−1}` for a table entry of `B`.
    fn multiply_entry(&mut self, x: &mut [Self::Word], entry: &[Self::Word]) {
        self.amm(x, entry);
    }

    /// A table that has all its entries, in the order in which [`select`](Self::select) reads it.
    fn finish_table(&mut self, table: Placed<Self::Word>) -> Placed<Self::Word> {
        table
    }

    /// Copies the table entries that the indices name, reading the whole table, a
    /// [finished](Self::finish_table) one. `out` holds
    /// [`WINDOWS`](Self::WINDOWS) entries one after the other; `index` has, for each of them, an index for
    /// each number side by side.
    fn select(&mut self, out: &mut [Self::Word], table: &[Self::Word], index: &[u64]);

    /// What the choice of a window depends on.
    fn costs(&self) -> Costs;

    /// The window of a power of two, in bits: [`double`](Self::double) may double `2^w − 1` times before each
    /// squaring. 0 if it cannot double.
    fn doubling_window(&self) -> usize {
        0
    }

    /// `x ← x·2^t`, not reduced, by a `t` for each number side by side. Preconditions: `x` is what
    /// [`ams`](Self::ams) or [`one`](Self::one) has left; every `t` is below `2^w`, `w` the
    /// [`doubling_window`](Self::doubling_window). The result may be squared, or taken out of the domain.
    fn double(&mut self, x: &mut [Self::Word], times: &[u64]) {
        let _ = (x, times);
        unreachable!("the doubling window is 0");
    }

    /// The fixed window that makes an exponentiation cheapest: from 1 to 6 bits.
    fn window_bits(&self, exponent_bits: usize) -> usize {
        let Costs { build, multiply, read } = self.costs();
        let cost = |w: usize| (build << w) + exponent_bits.div_ceil(w) * (multiply + (read << w));
        (1..=6).min_by_key(|&w| cost(w)).unwrap_or(1)
    }

    /// The first `count` numbers as they are, fully reduced, each in as many limbs as its modulus. Preconditions: each
    /// is a product of a number in the domain and a plain one below its modulus; there are so many.
    fn canonical(&mut self, x: &[Self::Word], count: usize) -> Numbers;

    /// A number out of the domain: [plain](Self::plain), but not fully reduced.
    fn leave_in_place(&mut self, x: &mut [Self::Word]) {
        let one = self.plain(&[&[1]]);
        self.amm(x, &one);
        self.recycle([one]);
    }

    /// Takes the first `count` numbers out of the domain.
    fn leave(&mut self, mut x: Placed<Self::Word>, count: usize) -> Numbers {
        self.leave_in_place(&mut x);
        let out = self.canonical(&x, count);
        self.recycle([x]);
        out
    }
}

/// What tables of powers cost, in any unit.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Making a table entry.
    pub build: usize,
    /// A multiplication by an entry.
    pub multiply: usize,
    /// Reading past an entry: a whole table is read for each window.
    pub read: usize,
}
