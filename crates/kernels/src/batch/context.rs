//! Batches of numbers in Montgomery form: in, multiplied (`amm`, `ahmm`), squared (`ams`), and out.
//!
//! # Bounds
//!
//! Numbers in Montgomery form stay below `4M`, digits normalised, with `R = 2^{wL} ≥ 8M`. A product `T = x·y`
//! is reduced to less than `T/R + 2M` by rows ([`crate::batch::interleaved`]), several digits
//! ([`crate::batch::tiled`]), a term at a time (`block/karatsuba_terms.rs`), or first a term and then rows
//! (`block/karatsuba_two_terms.rs`). In one piece (`separated.rs`) it is reduced to less than `T/R + M`. For
//! `x, y < 4M` that is at most `16M²/8M + 2M = 4M`: stable. No subtraction is made until a number leaves.
//!
//! With table products by [`crate::batch::ahmm`] numbers stay below `5M`, with `R ≥ 32M`: a square below
//! `25M²/32M + 2M < 3M`; a table entry below that; and the half-reduced product, see there, below `5M`.
//!
//! A column receives at most `L` low and `L` high halves from the product and as many from the reduction,
//! each at most `2^w` in size: below `4L·2^w < 2^63` for `L ≤ 324` and `w ≤ 52`. Where columns can be
//! negative they are kept positive by an offset of `2^62` (see [`crate::batch::bias`]): with signed halves,
//! and in products by Karatsuba, whose middle columns have at most `L` negative halves. Numbers in terms
//! receive more, at most `6L·2^w` for `L ≤ 160`, and have the same offset. `analysis` proves it, column by
//! column.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use bytemuck::{cast_slice, cast_slice_mut};

use super::arithmetic::{Arithmetic, longest};
use super::block::{FEWEST_TURNED, LOOKUP_WINDOWS, MAX_LANES, MOST_TERMS, TWO_TERMS_DIGITS, WINDOWS};
use super::constants::Constants;
use super::doubling::{self, Doubling};
use super::kernels::{Kernels, load_into};
use super::tiles::tiles;
use crate::bounds::REDUCED;
use crate::limbs::{self, Limbs, Numbers};
use crate::montgomery::{Costs, Layout, Montgomery};
use crate::place::{AlignedBuf, COLUMNS, Pool};

/// The most digits of a number: what 16,384 bits need in the shortest digits of any machine, and two more for
/// methods that split. `analysis` proves up to here that no column overflows.
pub const MAX_DIGITS: usize = 324;

/// The arithmetic of batches with the same moduli in their lanes, and its memory: the constants of the
/// moduli, the columns, and numbers that are no longer needed.
///
/// Fewer moduli than lanes are allowed: the lanes left over repeat the last one.
pub struct Context<'a, M: Kernels> {
    machine: M,
    lanes: Vec<&'a Constants>,
    digits: usize,
    arithmetic: Arithmetic<M>,
    /// Made at first use.
    doubling: Option<Box<Doubling<M>>>,
    columns: AlignedBuf<M::Column>,
    pool: Pool,
    /// Digits of all lanes, on their way in or out.
    staging: Limbs,
}

impl<'a, M: Kernels> Context<'a, M> {
    /// Prepares a batch. `lanes` holds 1 to `LANES` moduli of one digit count and one method; if they have no
    /// method, the fastest one of the machine is used.
    ///
    /// # Panics
    /// If there are no moduli or too many, or if they differ in digit count, digit size or method from each
    /// other, or in digit size from the machine.
    pub fn new(machine: M, lanes: &[&'a Constants]) -> Self {
        const {
            assert!(M::LANES <= MAX_LANES);
            assert!(M::MAX_TWO_TERMS == 0 || M::MAX_TWO_TERMS == TWO_TERMS_DIGITS);
            assert!(M::MAX_TERMS <= MOST_TERMS);
            // The blocks for numbers in registers or in terms allow no bias and no negative halves.
            let plain = M::BIAS_LO == 0 && M::BIAS_HI == 0 && !M::SIGNED;
            assert!(plain || M::MAX_IN_REGISTERS + M::MAX_TWO_TERMS + M::MAX_TERMS == 0);
            // The bound on columns above.
            assert!((4 * MAX_DIGITS as u128) << M::DIGIT_BITS < 1 << if M::SIGNED { 62 } else { 63 });
            assert!(M::BIAS_LO.is_multiple_of(2) && M::BIAS_HI.is_multiple_of(2));
            // The plain row reads its quotient from a column from which the bias of its own product is
            // already subtracted.
            assert!(M::BIAS_LO.is_multiple_of(1 << M::DIGIT_BITS));
        }
        assert!(!lanes.is_empty() && lanes.len() <= M::LANES, "lanes: {}", lanes.len());
        let l = lanes[0].digits();
        assert!(l <= MAX_DIGITS);
        assert!(lanes.iter().all(|c| c.digits() == l && c.digit_bits() == M::DIGIT_BITS));
        assert!(lanes.iter().all(|c| c.method() == lanes[0].method()));
        let method = lanes[0].method_on(machine);
        let lanes: Vec<_> = (0..M::LANES).map(|i| lanes[i.min(lanes.len() - 1)]).collect();

        let arithmetic = Arithmetic::new(machine, method, &lanes);
        let columns = arithmetic.columns(machine, l);
        let (pool, staging) = (Pool::default(), limbs::zero(l * M::LANES));
        Self { machine, digits: l, arithmetic, doubling: None, columns, pool, staging, lanes }
    }

    /// A factor of `count` digits, which `digits` returns for each lane and its constants: digits as they
    /// are, in radix `2^w`, padded with zeros.
    pub fn load<'b>(&mut self, count: usize, digits: impl Fn(usize, &'a Constants) -> &'b [u64]) -> AlignedBuf
    where
        'a: 'b,
    {
        let mut out = self.scratch(count * digit_words::<M>());
        load_into(self.machine, cast_slice_mut(&mut out), |lane| digits(lane, self.lanes[lane]));
        out
    }

    /// The digits of a table entry.
    fn entry_digits(&self) -> usize {
        self.entry_words() / digit_words::<M>()
    }

    /// The cost of [`multiply_entry`](Self::multiply_entry), in products: that of AMM or AHMM, for every
    /// method. The choice of window depends on it.
    pub(crate) fn entry_products(&self) -> usize {
        let l = self.digits;
        if self.arithmetic.has_ahmm() { (2 * l - l / 2) * l } else { 2 * l * l }
    }

    /// The cost of making a table entry, in products, for AMM or AHMM: a product or a square, and `K`.
    pub(crate) fn build_products(&self) -> usize {
        let l = self.digits;
        7 * l * l / 4 + if self.arithmetic.has_ahmm() { (l / 2 + 1) * l } else { 0 }
    }
}

impl<M: Kernels> Montgomery for Context<'_, M> {
    fn count(&self) -> usize {
        M::LANES
    }

    fn words(&self) -> usize {
        self.digits * digit_words::<M>()
    }

    /// A number at the place in its page that is fastest for products.
    fn scratch(&mut self, words: usize) -> AlignedBuf {
        self.pool.take(0, words)
    }

    fn zeros(&mut self, words: usize) -> AlignedBuf {
        let mut out = self.scratch(words);
        out.clear();
        out
    }

    fn recycle(&mut self, number: AlignedBuf) {
        self.pool.put(number);
    }

    fn forget(&mut self) {
        self.pool = Pool::default();
        self.staging = limbs::zero(self.staging.len());
    }

    fn swap_pool(&mut self, pool: &mut Pool) {
        mem::swap(&mut self.pool, pool);
    }

    fn one(&mut self) -> AlignedBuf {
        self.load(self.digits, |_, c| &c.one)
    }

    fn bits(&self) -> usize {
        self.digits * M::DIGIT_BITS as usize
    }

    /// A digit less than `R`: `3M + R/2^w < R`.
    fn step_bits(&self) -> usize {
        (self.digits - 1) * M::DIGIT_BITS as usize
    }

    fn layout(&self) -> Option<Layout> {
        Some(Layout { digit_bits: M::DIGIT_BITS as usize, words: digit_words::<M>() })
    }

    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> AlignedBuf {
        let count = bits / M::DIGIT_BITS as usize;
        for (number, digits) in numbers.iter().zip(self.staging.chunks_mut(count)) {
            limbs::to_digits(number, from, M::DIGIT_BITS, digits);
        }
        let mut out = self.scratch(self.words());
        load_into(self.machine, cast_slice_mut(&mut out), |lane| {
            &self.staging[lane.min(numbers.len() - 1) * count..][..count]
        });
        out
    }

    fn add(&mut self, x: &mut [u64], piece: &[u64]) {
        self.machine.add_digits(cast_slice_mut(x), cast_slice(piece));
    }

    fn enter_factor(&mut self) -> AlignedBuf {
        self.load(self.digits, |_, c| &c.enter)
    }

    fn shift_factor(&mut self) -> AlignedBuf {
        self.load(self.digits, |_, c| &c.shift)
    }

    /// Cost: `2L²` products, or what the method says. Bounds: the module's.
    fn amm(&mut self, x: &mut [u64], y: &[u64]) {
        self.arithmetic.multiply(self.machine, &mut self.columns, cast_slice_mut(x), cast_slice(y));
    }

    /// Cost, each time: `L(L+1)/2 + L²` products, or what the method says. Bounds: the module's.
    fn ams(&mut self, x: &mut [u64], times: usize) {
        self.arithmetic.square(self.machine, &mut self.columns, cast_slice_mut(x), times);
    }

    /// A number, and its `K` where products with entries are half-reduced.
    fn entry_words(&self) -> usize {
        if self.arithmetic.has_ahmm() { 2 * self.words() } else { self.words() }
    }

    /// Adds `K` where it is needed (see [`crate::batch::ahmm`]).
    fn complete_entry(&mut self, entry: &mut [u64]) {
        if let Some((ahmm, reduction)) = self.arithmetic.ahmm() {
            let (number, k) = cast_slice_mut(entry).split_at_mut(self.digits);
            ahmm.complete(reduction, &mut self.columns, number, k);
        }
    }

    /// By almost-half-Montgomery multiplication (see [`crate::batch::ahmm`]), where the method says so; else
    /// by [`amm`](Montgomery::amm).
    fn multiply_entry(&mut self, x: &mut [u64], entry: &[u64]) {
        self.arithmetic.multiply_entry(self.machine, &mut self.columns, cast_slice_mut(x), cast_slice(entry));
    }

    fn finish_table(&mut self, table: AlignedBuf) -> AlignedBuf {
        let stride = self.entry_digits();
        if !is_turned::<M>(table.len(), self.entry_words()) {
            return table;
        }
        let mut out = self.scratch(table.len());
        self.machine.turn(cast_slice_mut(&mut out), cast_slice(&table), stride);
        self.recycle(table);
        out
    }

    fn windows(&self) -> usize {
        if M::LOOKUP { LOOKUP_WINDOWS } else { WINDOWS }
    }

    fn select(&mut self, out: &mut [u64], table: &[u64], index: &[u64]) {
        let stride = self.entry_digits();
        let is_turned = is_turned::<M>(table.len(), self.entry_words());
        let (out, table) = (cast_slice_mut::<_, M::Digit>(out), cast_slice(table));
        if is_turned {
            return self.machine.lookup(out, table, stride, index);
        }
        for (out, index) in out.chunks_exact_mut(WINDOWS * stride).zip(index.chunks_exact(WINDOWS * M::LANES))
        {
            for (at, width) in tiles(stride, M::MAX_SELECT) {
                let mut entries = out.chunks_exact_mut(stride);
                let out = core::array::from_fn(|_| {
                    &mut entries.next().expect("an entry for each window")[at..at + width]
                });
                self.machine.select_tile(out, &table[at..], stride, index);
            }
        }
    }

    fn doubling_window(&self) -> usize {
        doubling::window(self.bits(), longest(&self.lanes))
    }

    /// Cost and bounds: those of [`doubling`].
    fn double(&mut self, x: &mut [u64], times: &[u64]) {
        let (machine, l) = (self.machine, self.digits);
        self.doubling
            .get_or_insert_with(|| Box::new(Doubling::new(machine, l)))
            .run(cast_slice_mut(x), times);
    }

    /// In tenths of a processor cycle. Reading a table is not free beside fast products: each vector of it
    /// costs `TABLE` in each window.
    fn costs(&self) -> Costs {
        let product = M::PRODUCT_TENTHS as usize;
        Costs {
            build: product * self.build_products(),
            multiply: product * self.entry_products(),
            read: self.entry_digits() * if M::LOOKUP { TURNED_TABLE } else { TABLE },
        }
    }

    /// A product of a number in Montgomery form and a plain one below `M` is below `4M²/R + 2M < 3M`.
    fn canonical(&mut self, x: &[u64], count: usize) -> Numbers {
        let l = self.digits;
        let mut numbers = self.scratch((REDUCED + 1) * self.words());
        let (mut from, rest) = cast_slice_mut(&mut numbers).split_at_mut(l);
        let (scratch, rest) = rest.split_at_mut(l);
        from.copy_from_slice(cast_slice(x));
        for to in rest.chunks_exact_mut(l) {
            self.machine.reduce_once(to, scratch, from, self.arithmetic.modulus(l));
            from = to;
        }
        self.machine.scatter(&mut self.staging, from);
        self.recycle(numbers);
        let lanes = &self.lanes[..count];
        let limbs = |c: &Constants| c.modulus().limbs().len();
        let mut out = Numbers::with_capacity(count, lanes.iter().map(|c| limbs(c)).sum());
        for (c, digits) in lanes.iter().zip(self.staging.chunks(l)) {
            c.residue(digits, out.push_zero(limbs(c)));
        }
        out
    }

    // A shared table has the digits of one number.

    fn shared_words(&self) -> usize {
        self.entry_digits()
    }

    fn shared_zeros(&mut self, words: usize) -> AlignedBuf {
        AlignedBuf::new(0, words, Some(COLUMNS))
    }

    fn share(&mut self, out: &mut [u64], entries: &[u64]) {
        self.machine.scatter(out, cast_slice(entries));
    }

    fn collect(&mut self, out: &mut [u64], entries: &[&[u64]]) {
        load_into(self.machine, cast_slice_mut(out), |lane| entries[lane.min(entries.len() - 1)]);
    }

    fn select_shared(&mut self, out: &mut [u64], row: &[u64], index: &[u64]) {
        let out: &mut [M::Digit] = cast_slice_mut(out);
        let stride = out.len();
        for (at, width) in tiles(stride, M::MAX_TILE) {
            self.machine.select_shared(&mut out[at..at + width], &row[at..], stride, index);
        }
    }
}

/// Measured: a masked move, two a cycle, and its share of a comparison and of a load from the second-level
/// cache.
const TABLE: usize = 7;
/// By lookups: a load, half a lookup and a share of the transposition, for eight windows.
const TURNED_TABLE: usize = 2;

/// Whether a table of `words` words, `stride` words for each entry, is read by lookups.
fn is_turned<M: Kernels>(words: usize, stride: usize) -> bool {
    M::LOOKUP && words / stride >= FEWEST_TURNED
}

/// The words of a digit of all lanes.
fn digit_words<M: Kernels>() -> usize {
    size_of::<M::Digit>() / size_of::<u64>()
}
