//! One or two numbers laid *across* vectors: for single requests.
//!
//! A number is cut into as many *segments* as it has lanes: eight, or four where two numbers share a vector.
//! Vector `i` has digit `i` of every segment, in radix `2^52`; the lanes of two numbers alternate. So a row
//! of a product, one digit times all digits of a number, moves nothing between lanes: the product of digit
//! `i` of all segments and digit `j` of one has its low half in column `i + j`, and its high half in the
//! next. Lanes move once for each segment.
//!
//! # A product, segment by segment
//!
//! With `V` vectors and `D` segments of `s = 52V − 1` bits, `R = 2^{sD}`. While segment `k` of `y` is
//! multiplied, the first lane of the sum, which has `2V` columns, has weight `2^{sk}`. The upper `V` columns
//! weigh as much as the lower ones one lane up, twice: the top digit of a segment has 51 bits, not 52. So the
//! sum is divided by `2^s`, once its first segment is 0, by moving it down a lane and adding twice the upper
//! columns.
//!
//! In a square, products of digits at different places `i < j` are computed once and doubled: digit `i` of
//! all segments by digit `j` of one, for each segment in turn.
//!
//! # Reduction by whole segments
//!
//! Let `B = 2^s` and `M' = (−M^{−1} mod B)·M ≡ −1 (mod B)` the friendly multiple (as in
//! [`crate::batch::block::reduce_rows`], with a segment in place of a digit), `M'' = (M' + 1)/B ≤ M`. The
//! quotient that clears the lowest segment of a number `U` is then that segment itself, `q = U mod B`, once
//! carries have been passed on: `(U + q·M')/B = ⌊U/B⌋ + q·M''`. The first lane of each column is copied to
//! all lanes. Then a carry takes an addition and a shift for each digit. VPMADD52 ignores bits above 52;
//! conversion to doubles clears them. Every digit of `q` is multiplied as soon as it is known, and the
//! product with the next segment of `y` is computed meanwhile.
//!
//! The last segment is reduced in Montgomery's own way, `q = U·N' mod B'` with `N' = −M^{−1} mod B'` and
//! `(U + q·M)/B'`, `h` digits at a time, with `B' = 2^{52h}` (`2^{52h − 1}` at the top), so that the result
//! grows by `M` and not by `B·M`.
//!
//! # Bounds
//!
//! `R ≥ 8M`. After the `D − 1` friendly steps, with `q < B` in each, `U' < U/B^{D−1} + B·M`; after the last
//! `U'' < U'/B + M < T/R + 2M` of a product `T = x·y`. With `x, y < 4M` that is at most `16M²/8M + 2M = 4M`:
//! stable, as in [`crate::batch::context`], and no subtraction is made until a number leaves.
//!
//! A column receives at most `DV` low and `DV` high halves of the product, and as many of the reduction, each
//! below `2^52`; some are doubled when lanes move. With the carry that is less than `(8DV + 1)·2^52`, below
//! `2^63` for every shape (asserted below). Columns are passed on twice at the end: first within all segments
//! at once, then what went out of each, below `2^13`, into the next. After that, every digit is below `2^52`:
//! the top digit of a segment has a bit to spare, and keeps the last carry. So a segment can be `2^s` or a
//! little more, and the digits of a number are not unique until it leaves.
//!
//! Biases ([`Machine`]) are subtracted in advance: sums start at minus so many biases. How many products they
//! get depends only on the shape.
//!
//! # Sources
//!
//! Digits across lanes, in a redundant radix: Gueron and Krasnov, *Software implementation of modular
//! exponentiation, using advanced vector instructions architectures* (WAIFI 2012), and RSAZ. The friendly
//! multiple is Gueron and Krasnov's too (*Fast prime field elliptic-curve cryptography with 256-bit primes*,
//! 2015), there for one digit. Segments in lanes, so that rows need no shifts: ours.

/// Writes `$body` once for every `$j` in `0..$n`, `$n ≤ 10` (or `to $n`, `$n ≤ 20`): a loop unrolled before
/// the compiler sees it, so that arrays indexed by `$j` become registers.
macro_rules! unroll {
    ($j:ident in $n:expr, $body:block) => {
        unroll!(@ 10, $j $n, $body 0 1 2 3 4 5 6 7 8 9)
    };
    ($j:ident to $n:expr, $body:block) => {
        unroll!(@ 20, $j $n, $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    (@ $most:literal, $j:ident $n:expr, $body:block $($i:literal)*) => {{
        const { assert!($n <= $most, "more than unroll! unrolls") };
        $(if $i < $n {
            let $j: usize = $i;
            $body
        })*
    }};
}

mod bias;
mod constants;
mod context;
mod kernel;
mod tiles;

pub use constants::{Constants, Shape};
pub use context::Context;
pub use kernel::{amm, ams, select};
pub use tiles::{amm_tiles, ams_tiles};

/// Lanes of a vector.
pub const LANES: usize = 8;
/// `w`, the bits of a digit.
pub const DIGIT_BITS: u32 = 52;
/// The bits of the top digit of a segment.
pub const TOP_BITS: u32 = DIGIT_BITS - 1;
/// The most numbers side by side.
pub const MAX_COUNT: usize = 2;
/// The most vectors of two numbers side by side.
pub const MAX_VECTORS: usize = 40;

// `8DV + 1 < 2^11` for the longest numbers: one, and two.
const _: () = {
    let [one, two] = [Shape::new(Constants::MAX_BITS, 1), Shape::new(Constants::MAX_BITS, 2)];
    assert!(8 * one.segments() * one.vectors + 1 < 1 << 11 && 8 * two.segments() * two.vectors + 1 < 1 << 11);
};

/// The operations of a machine on a vector of eight lanes of 64 bits.
///
/// A vector holds columns, which are words, or digits as the machine multiplies them
/// ([`digits`](Machine::digits)). Where `SIDES` numbers share a vector, side by side, lane `SIDES·k + i` is
/// segment `k` of number `i`.
///
/// # The product and its bias
///
/// As in [`crate::batch::Machine`]: [`mac`](Machine::mac) adds the halves of a product to two columns, and
/// besides, for every call, the constants [`BIAS_LOW`](Machine::BIAS_LOW) and
/// [`BIAS_HIGH`](Machine::BIAS_HIGH), in every lane. How many products a column receives is known beforehand,
/// and it starts at minus so many biases.
///
/// Implementations are `#[inline(always)]` and do nothing but arithmetic: no branch, index or address depends
/// on data.
pub trait Machine: Copy + Send + Sync + 'static {
    /// What every `mac` adds to the low column beside the product.
    const BIAS_LOW: u64;
    /// What every `mac` adds to the high column beside the product.
    const BIAS_HIGH: u64;
    /// Whether there is a bias.
    const BIASED: bool = Self::BIAS_LOW != 0 || Self::BIAS_HIGH != 0;

    /// A digit of every segment, or a column of each.
    type Vector: Copy + Send + Sync + 'static;
    /// A truth value in every lane.
    type Mask: Copy;

    /// 0 in every lane, as columns or digits.
    fn zero(self) -> Self::Vector;
    /// The words, the first in lane 0.
    fn vector(self, words: [u64; LANES]) -> Self::Vector;
    /// The lanes of a vector.
    fn lanes(self, vector: &Self::Vector) -> &[u64; LANES];
    /// The low 52 bits of columns, as digits.
    fn digits(self, columns: Self::Vector) -> Self::Vector;
    /// Columns below `2^52` as digits.
    #[inline(always)]
    fn whole_digits(self, columns: Self::Vector) -> Self::Vector {
        self.digits(columns)
    }
    /// Digits as columns. Bits above 52 are of any value.
    fn columns(self, digits: Self::Vector) -> Self::Vector;
    /// The digits of one segment, in all segments.
    fn segment<const SIDES: usize>(self, digits: &Self::Vector, segment: usize) -> Self::Vector;
    /// The columns of the lowest segment, in all segments.
    fn lowest<const SIDES: usize>(self, columns: Self::Vector) -> Self::Vector;
    /// The columns of the lowest segment, and 0 in the others.
    fn only_lowest<const SIDES: usize>(self, columns: Self::Vector) -> Self::Vector;
    /// `(low + l + BIAS_LOW, high + h + BIAS_HIGH)` with `h·2^52 + l = a·b` and `0 ≤ l < 2^52`, modulo
    /// `2^64`, of digits `a` and `b`.
    fn mac(
        self,
        low: Self::Vector,
        high: Self::Vector,
        a: Self::Vector,
        b: Self::Vector,
    ) -> (Self::Vector, Self::Vector);
    /// `a + b` modulo `2^64`.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a mod 2^BITS`.
    fn low<const BITS: u32>(self, a: Self::Vector) -> Self::Vector;
    /// `⌊a / 2^BITS⌋`.
    fn carry<const BITS: u32>(self, a: Self::Vector) -> Self::Vector;
    /// Each segment in the place of the one above it; 0 in the lowest.
    fn up<const SIDES: usize>(self, columns: Self::Vector) -> Self::Vector;
    /// Each segment in the place of the one below it; 0 in the uppermost.
    fn down<const SIDES: usize>(self, columns: Self::Vector) -> Self::Vector;
    /// In every lane, whether it is `b`.
    fn equals(self, a: Self::Vector, b: u64) -> Self::Mask;
    /// `b` where the mask is set, else `a`.
    fn select(self, mask: Self::Mask, a: Self::Vector, b: Self::Vector) -> Self::Vector;
}

/// The kernels of this module, compiled for one machine.
pub trait Kernels: Machine<Vector: bytemuck::Pod> {
    /// [`amm`], or [`amm_tiles`], depending on the shape.
    fn amm(
        self,
        shape: Shape,
        x: &mut [Self::Vector],
        y: &[Self::Vector],
        tables: &[Self::Vector],
        space: &mut [Self::Vector],
    );
    /// [`ams`], or [`ams_tiles`].
    fn ams(
        self,
        shape: Shape,
        x: &mut [Self::Vector],
        times: usize,
        tables: &[Self::Vector],
        space: &mut [Self::Vector],
    );
    /// [`select`].
    fn select_entry(self, shape: Shape, out: &mut [Self::Vector], table: &[Self::Vector], index: &[u64]);
}
