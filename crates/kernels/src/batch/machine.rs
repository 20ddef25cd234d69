//! The operations of a vector machine. Every kernel is written in them.

use crate::unroll::reload;

/// One vector machine: how `LANES` numbers are multiplied digit by digit at once.
///
/// Numbers are in radix `2^w`, `w = DIGIT_BITS`. A [`Digit`](Machine::Digit) is one digit of every lane,
/// prepared for multiplication (an integer, a double: the machine's own choice); a
/// [`Column`](Machine::Column) is one 64-bit accumulator of every lane, computed modulo `2^64`.
///
/// # The product and its bias
///
/// [`mac`](Machine::mac) adds to `lo` and `hi` two integers `l` and `h` with `h·2^w + l = a·b`, and besides,
/// for every call, the constants [`BIAS_LO`](Machine::BIAS_LO) and [`BIAS_HI`](Machine::BIAS_HI). Each column
/// receives a fixed number of products, and starts at minus that many biases. After correction `|l| < 2^w`
/// and `0 ≤ h ≤ 2^w`.
///
/// Implementations are `#[inline(always)]` and do nothing but arithmetic: no branch, index or address depends
/// on data.
pub trait Machine: Copy + Send + Sync + 'static {
    /// Numbers in a batch.
    const LANES: usize;
    /// `w`, the bits of a digit.
    const DIGIT_BITS: u32;
    /// What every `mac` adds to the low column beside the product.
    const BIAS_LO: u64;
    /// What every `mac` adds to the high column beside the product.
    const BIAS_HI: u64;
    /// Whether the `l` of [`mac`](Machine::mac) can be negative. Columns are then kept positive by an offset.
    const SIGNED: bool = false;
    /// Whether kernels add two rows of products at a time: a digit that is loaded then takes part in four
    /// halves of products, not in two. For machines that loads would limit.
    const TWO_ROWS: bool = false;
    /// Whether [`ams_registers`](crate::batch::block::ams_registers) reduces four rows at a time: for
    /// machines whose registers hold the columns, the quotients and a digit.
    const FOUR_ROWS: bool = false;

    /// Whether kernels read tables by [`permute`](Machine::permute), and bring digits of lanes together by
    /// [`transpose`](Machine::transpose): for machines of eight lanes that have both.
    const LOOKUP: bool = false;

    /// Whether products round. If so, callers set the default floating-point environment around all batches
    /// of a call, whatever the host program has; no block does it.
    const ROUNDS: bool = false;

    /// One digit of every lane.
    type Digit: Copy + Send + Sync + 'static;
    /// One accumulator of every lane.
    type Column: Copy + Send + Sync + 'static;
    /// One truth value of every lane.
    type Mask: Copy;

    /// The digit 0 in every lane.
    fn digit_zero(self) -> Self::Digit;
    /// `value` in every lane.
    fn column_splat(self, value: u64) -> Self::Column;
    /// `values[i]` in lane `i`; `values` holds exactly `LANES`.
    fn column_from(self, values: &[u64]) -> Self::Column;
    /// Writes lane `i` to `values[i]`; `values` holds exactly `LANES`.
    fn column_store(self, column: Self::Column, values: &mut [u64]);

    /// `(lo + l + BIAS_LO, hi + h + BIAS_HI)` with `h·2^w + l = a·b`, modulo `2^64`. Precondition:
    /// `0 ≤ a, b < 2^w`, as [`digit`](Machine::digit) and [`operand`](Machine::operand) make them.
    fn mac(
        self,
        lo: Self::Column,
        hi: Self::Column,
        a: Self::Digit,
        b: Self::Digit,
    ) -> (Self::Column, Self::Column);

    /// Only the low half of [`mac`](Machine::mac): `lo + l + BIAS_LO`.
    #[inline(always)]
    fn mac_low(self, lo: Self::Column, a: Self::Digit, b: Self::Digit) -> Self::Column {
        self.mac(lo, lo, a, b).0
    }
    /// Only the high half of [`mac`](Machine::mac): `hi + h + BIAS_HI`.
    #[inline(always)]
    fn mac_high(self, hi: Self::Column, a: Self::Digit, b: Self::Digit) -> Self::Column {
        self.mac(hi, hi, a, b).1
    }

    /// A row of products: `A·b`, `T` digits, added to the window of `T` columns and the one above it,
    /// `entering`. The window moves up by one: its lowest column, complete with this row, goes to `lowest`.
    ///
    /// `a` is in memory, so that a machine can load it in the way that is fastest for its instructions.
    #[inline(always)]
    fn mac_row<const T: usize>(
        self,
        columns: &mut [Self::Column; T],
        lowest: &mut Self::Column,
        entering: Self::Column,
        a: &[Self::Digit; T],
        b: Self::Digit,
    ) {
        let mut column = columns[0];
        let a = reload(a);
        each!(j in 0..T {
            let above = if j + 1 < T { columns[(j + 1) % T] } else { entering };
            let (done, next) = self.mac(column, above, a[j], b);
            if j == 0 {
                *lowest = done;
            } else {
                columns[j - 1] = done;
            }
            column = next;
        });
        columns[T - 1] = column;
    }

    /// A row of a reduction, where another row follows: as [`mac_row`](Machine::mac_row), then the carry of
    /// the lowest column is added to the window's first. Returns the digit of the lowest column, the next
    /// quotient, as an operand.
    #[inline(always)]
    fn reduce_row<const T: usize>(
        self,
        columns: &mut [Self::Column; T],
        entering: Self::Column,
        a: &[Self::Digit; T],
        b: Self::Digit,
    ) -> Self::Digit {
        let mut lowest = columns[0];
        self.mac_row(columns, &mut lowest, entering, a, b);
        columns[0] = self.add(columns[0], self.carry(lowest));
        self.operand(lowest)
    }

    /// `a + b` modulo `2^64`.
    fn add(self, a: Self::Column, b: Self::Column) -> Self::Column;
    /// `a − b` modulo `2^64`.
    fn sub(self, a: Self::Column, b: Self::Column) -> Self::Column;
    /// `−c` modulo `2^64` where the mask is set, else `c`.
    fn negate(self, mask: Self::Mask, c: Self::Column) -> Self::Column;
    /// Jumps to the next instruction. Some processors run long straight code faster if it has a jump at least
    /// every 300 instructions or so (see "Zen 5" in docs/notes/performance.md). On most machines it does
    /// nothing.
    #[inline(always)]
    fn jump(self) {}
    /// Makes the compiler finish a column's sum, in a register, before the next `reload`. Otherwise it may
    /// put sums off until their operands no longer fit registers (see docs/notes/code-generation.md). On most
    /// machines it does nothing.
    #[inline(always)]
    fn barrier(self, _: Self::Column) {}
    /// `⌊c / 2^w⌋` of an unsigned `c`.
    fn carry(self, c: Self::Column) -> Self::Column;
    /// `c mod 2^w` as a digit.
    fn digit(self, c: Self::Column) -> Self::Digit;
    /// A cheaper [`digit`](Self::digit): it may leave bits above `w` if `mac` and [`column`](Self::column)
    /// ignore them.
    #[inline(always)]
    fn operand(self, c: Self::Column) -> Self::Digit {
        self.digit(c)
    }
    /// A digit as an accumulator.
    fn column(self, d: Self::Digit) -> Self::Column;
    /// A cheaper [`column`](Self::column), of a digit that has no bits above `w`: one from
    /// [`digit`](Self::digit), or a constant brought in by a load; never one from [`operand`](Self::operand),
    /// as numbers in Montgomery form are.
    #[inline(always)]
    fn clean_column(self, d: Self::Digit) -> Self::Column {
        self.column(d)
    }

    /// Where `a = value`.
    fn equals(self, a: Self::Column, value: u64) -> Self::Mask;
    /// `b` where the mask is set, else `a`.
    fn select(self, mask: Self::Mask, a: Self::Digit, b: Self::Digit) -> Self::Digit;
    /// `b` where the mask is set, else `a`.
    fn select_column(self, mask: Self::Mask, a: Self::Column, b: Self::Column) -> Self::Column;

    /// A lookup: the lowest four bits of element `k` of `index` name one of the sixteen elements of `low` and
    /// `high`, which becomes element `k` of the result. Only where [`LOOKUP`](Machine::LOOKUP) is set.
    fn permute(self, low: Self::Digit, high: Self::Digit, index: Self::Column) -> Self::Digit {
        let _ = (low, high, index);
        unreachable!("a machine without lookups")
    }
    /// The bits of `b` where `mask` has ones, else those of `a`. Only where [`LOOKUP`](Machine::LOOKUP) is
    /// set.
    fn select_bits(self, mask: Self::Column, a: Self::Digit, b: Self::Digit) -> Self::Digit {
        let _ = (mask, a, b);
        unreachable!("a machine without lookups")
    }
    /// Element `i` of row `k` becomes element `k` of row `i`. Only where [`LOOKUP`](Machine::LOOKUP) is set.
    fn transpose(self, rows: [Self::Digit; 8]) -> [Self::Digit; 8] {
        let _ = rows;
        unreachable!("a machine without lookups")
    }
}

/// One digit of every lane of a machine.
pub type Digit<M> = <M as Machine>::Digit;
/// One accumulator of every lane of a machine.
pub type Column<M> = <M as Machine>::Column;
