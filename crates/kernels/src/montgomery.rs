//! Montgomery arithmetic: what an exponentiation needs of the arithmetic below it.

use crate::limbs::Numbers;
use crate::place::{AlignedBuf, Pool};

/// Numbers in Montgomery form, `count` of them side by side, each with its own modulus.
///
/// [`crate::batch::Context`] is one for each vector machine (a number in every lane); [`crate::scalar`],
/// [`crate::pair`], [`crate::rsaz`] and `carry` have those for single numbers. A *number* below means all
/// `count` numbers together, in one buffer of `words` words, which is laid out as the machine likes. Numbers
/// in Montgomery form are congruent to `x·R`, not necessarily below the modulus: each implementation states
/// its own bound, under which it is closed.
///
/// Nothing depends on values: no branch, index or address. Moduli are as secret as exponents; their lengths
/// are public.
///
/// Exponentiations call it through `dyn`: they are compiled once, not once for each machine. The shortest
/// product of a batch takes some fifty times as long as such a call.
pub trait Montgomery: Send + Sync {
    /// How many numbers are side by side.
    fn count(&self) -> usize;

    /// The words of a number.
    fn words(&self) -> usize;

    /// `words` words, all 0.
    fn zeros(&mut self, words: usize) -> AlignedBuf {
        AlignedBuf::new(0, words, None)
    }

    /// `words` words of scratch memory, of any value: old numbers perhaps. Write before you read.
    fn scratch(&mut self, words: usize) -> AlignedBuf {
        self.zeros(words)
    }

    /// Takes a number that is no longer needed. Its memory may serve as the next [`scratch`](Self::scratch);
    /// it is wiped when this is dropped.
    fn recycle(&mut self, number: AlignedBuf) {
        drop(number);
    }

    /// Exchanges the memory of [recycled](Self::recycle) numbers, so that several moduli can use the same.
    fn swap_pool(&mut self, pool: &mut Pool) {
        let _ = pool;
    }

    /// Wipes the memory of numbers that were [recycled](Self::recycle).
    fn forget(&mut self) {}

    /// A copy of a number.
    fn copy_of(&mut self, x: &[u64]) -> AlignedBuf {
        let mut out = self.scratch(x.len());
        out.copy_from_slice(x);
        out
    }

    /// 1 in Montgomery form.
    fn one(&mut self) -> AlignedBuf;

    /// `log2 R`: a plain number of at most this many bits fits without being reduced.
    fn bits(&self) -> usize;

    /// The bits that each step of [`enter`](Self::enter) takes in: `s ≤ log2 R`.
    fn step_bits(&self) -> usize {
        self.bits()
    }

    /// How a plain number is laid out, where its digits are in order; else `None`.
    fn layout(&self) -> Option<Layout> {
        None
    }

    /// `bits` bits of plain numbers from bit `from` on, as they are; at most [`bits`](Self::bits). Where
    /// there are fewer numbers than [`count`](Self::count), the last is repeated.
    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> AlignedBuf;

    /// `x ← x + y`, or a number congruent to it. Precondition: `x` is the product of a number below `R` and
    /// one below the modulus `M`, which is below `R·M/R + 2M = 3M`; `y` is another one, or a
    /// [`piece`](Self::piece) of [`step_bits`](Self::step_bits) bits. Result: below `R`. It is a plain sum
    /// where `R ≥ 8M`, and else reduced.
    fn add(&mut self, x: &mut [u64], y: &[u64]);

    /// `R² mod M`: a product with it brings a number into Montgomery form.
    fn enter_factor(&mut self) -> AlignedBuf;

    /// `R·2^s mod M`, `s` of [`step_bits`](Self::step_bits): a product with it is `x·2^s`.
    fn shift_factor(&mut self) -> AlignedBuf {
        debug_assert_eq!(self.step_bits(), self.bits());
        self.enter_factor()
    }

    /// Plain numbers below their moduli, as they are, to multiply numbers in Montgomery form by. Where there
    /// are fewer than [`count`](Self::count), the last is repeated.
    fn plain(&mut self, numbers: &[&[u64]]) -> AlignedBuf {
        self.piece(numbers, 0, self.bits())
    }

    /// [Plain](Self::plain) numbers into Montgomery form, reduced: below `3M`.
    fn enter_plain(&mut self, plain: &[u64]) -> AlignedBuf {
        let mut x = self.copy_of(plain);
        self.enter_in_place(&mut x);
        x
    }

    /// A [plain](Self::plain) number into Montgomery form.
    fn enter_in_place(&mut self, x: &mut [u64]) {
        let enter = self.enter_factor();
        self.amm(x, &enter);
        self.recycle(enter);
    }

    /// Plain numbers of any length into Montgomery form, reduced: below `3M`. `bits` bounds the length
    /// of all and is public. Where there are fewer than [`count`](Self::count), the last is repeated.
    fn enter(&mut self, numbers: &[&[u64]], bits: usize) -> AlignedBuf {
        horner(self, bits, |m, from, bits| m.piece(numbers, from, bits))
    }

    /// Like [`enter`](Self::enter), for a plain number of another modulus that has the same
    /// [`layout`](Self::layout) and as many numbers side by side: nothing leaves its lane.
    ///
    /// # Panics
    /// Where digits are not in order.
    fn enter_digits(&mut self, number: &[u64]) -> AlignedBuf {
        let Layout { digit_bits, words } = self.layout().expect("digits in order");
        horner(self, number.len() / words * digit_bits, |m, from, bits| {
            let (from, count) = (from / digit_bits * words, bits / digit_bits * words);
            let mut piece = m.zeros(m.words());
            let digits = &number[from..number.len().min(from + count)];
            piece[..digits.len()].copy_from_slice(digits);
            piece
        })
    }

    /// `x ← x·y·R^{−1}`.
    fn amm(&mut self, x: &mut [u64], y: &[u64]);

    /// `x ← x²·R^{−1}`, `times` times.
    fn ams(&mut self, x: &mut [u64], times: usize);

    /// The words of a table entry: a number, and all else that a product with it needs.
    fn entry_words(&self) -> usize {
        self.words()
    }

    /// Completes a table entry whose first [`words`](Self::words) words hold its number.
    fn complete_entry(&mut self, entry: &mut [u64]) {
        let _ = entry;
    }

    /// `x ← x·B·R^{−1}` for a table entry of `B`.
    fn multiply_entry(&mut self, x: &mut [u64], entry: &[u64]) {
        self.amm(x, entry);
    }

    /// A table that has all its entries, in the order in which [`select`](Self::select) reads it.
    fn finish_table(&mut self, table: AlignedBuf) -> AlignedBuf {
        table
    }

    /// How many windows [`select`](Self::select) reads the table for at a time.
    fn windows(&self) -> usize {
        1
    }

    /// Copies the table entries that the indices name, reading the whole table, a
    /// [finished](Self::finish_table) one. `out` holds
    /// [`windows`](Self::windows) entries one after the other; `index` has, for each of them, an index for
    /// each number side by side.
    fn select(&mut self, out: &mut [u64], table: &[u64], index: &[u64]);

    /// The costs that decide the choice of a window.
    fn costs(&self) -> Costs;

    /// The window of a power of two, in bits: [`double`](Self::double) may double `2^w − 1` times before each
    /// squaring. 0 if it cannot double.
    fn doubling_window(&self) -> usize {
        0
    }

    /// `x ← x·2^t`, not reduced, by a `t` for each number side by side. Preconditions: `x` is what
    /// [`ams`](Self::ams) or [`one`](Self::one) has left; every `t` is below `2^w`, `w` the
    /// [`doubling_window`](Self::doubling_window). The result may be squared, or taken out of Montgomery
    /// form.
    fn double(&mut self, x: &mut [u64], times: &[u64]) {
        let _ = (x, times);
        unreachable!("the doubling window is 0");
    }

    /// The fixed window that makes an exponentiation cheapest: from 1 to 6 bits.
    fn window_bits(&self, exponent_bits: usize) -> usize {
        let Costs { build, multiply, read } = self.costs();
        let cost = |w: usize| (build << w) + exponent_bits.div_ceil(w) * (multiply + (read << w));
        (1..=6).min_by_key(|&w| cost(w)).unwrap_or(1)
    }

    /// The first `count` numbers as they are, fully reduced, each in as many limbs as its modulus.
    /// Preconditions: each is a product of a number in Montgomery form and a plain one below its modulus;
    /// `count` is at most [`count`](Self::count).
    fn canonical(&mut self, x: &[u64], count: usize) -> Numbers;

    /// A number out of Montgomery form: [plain](Self::plain), but not fully reduced.
    fn leave_in_place(&mut self, x: &mut [u64]) {
        let one = self.plain(&[&[1]]);
        self.amm(x, &one);
        self.recycle(one);
    }

    /// Takes the first `count` numbers out of Montgomery form.
    fn leave(&mut self, mut x: AlignedBuf, count: usize) -> Numbers {
        self.leave_in_place(&mut x);
        let out = self.canonical(&x, count);
        self.recycle(x);
        out
    }

    // Shared tables: one table that all numbers read, each at its own index. All are of one modulus. The
    // table holds each entry once, not once for each number side by side. Where numbers come one at a time,
    // it is the table of one exponentiation.

    /// The words of an entry in a shared table.
    fn shared_words(&self) -> usize {
        self.entry_words()
    }

    /// `words` words for a shared table, all 0.
    fn shared_zeros(&mut self, words: usize) -> AlignedBuf {
        self.zeros(words)
    }

    /// The table entries of all numbers side by side, one after the other:
    /// [`shared_words`](Self::shared_words) of each.
    fn share(&mut self, out: &mut [u64], entries: &[u64]) {
        assert!(self.count() == 1, "a table of one number, for several");
        out.copy_from_slice(entries);
    }

    /// Puts together one shared entry for each number side by side. Where there are fewer than
    /// [`count`](Self::count), the last is repeated.
    fn collect(&mut self, out: &mut [u64], entries: &[&[u64]]) {
        out.copy_from_slice(entries[0]);
    }

    /// The entries of a shared table's row that the indices name, one for each number side by side. The whole
    /// row is read; nothing else depends on the indices.
    fn select_shared(&mut self, out: &mut [u64], row: &[u64], index: &[u64]) {
        assert!(self.count() == 1, "a table of one number, for several");
        self.select(out, row, index);
    }
}

/// The layout of a plain number whose digits are in order, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The bits of a digit.
    pub digit_bits: usize,
    /// The words that a digit of all numbers side by side takes.
    pub words: usize,
}

/// Brings plain numbers of `bits` bits into Montgomery form, by Horner's rule, from the uppermost bits down:
/// `x ← x·2^s + next`. `piece` returns some bits from a bit on. The first piece has `log2 R` bits, each other
/// one `s`, so `x < R` at first, and after each step as [`add`](Montgomery::add) leaves it.
fn horner<M: Montgomery + ?Sized>(
    m: &mut M,
    bits: usize,
    mut piece: impl FnMut(&mut M, usize, usize) -> AlignedBuf,
) -> AlignedBuf {
    let (first, step) = (m.bits(), m.step_bits());
    let steps = bits.saturating_sub(first).div_ceil(step);
    let mut x = piece(m, steps * step, first);
    if steps > 0 {
        let shift = m.shift_factor();
        for i in (0..steps).rev() {
            m.amm(&mut x, &shift);
            let next = piece(m, i * step, step);
            m.add(&mut x, &next);
            m.recycle(next);
        }
        m.recycle(shift);
    }
    m.enter_in_place(&mut x);
    x
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
