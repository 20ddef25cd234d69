//! One or two numbers laid *across* vectors: for single requests.
//!
//! Eight consecutive digits of a number, in radix `2^52`, are the lanes of one vector. A lane of an
//! accumulator is a column: it receives 52-bit halves of products, and has twelve bits to spare for their
//! sum. Two numbers side by side, each with a modulus of its own, are worked through in turns, step by step:
//! while the quotient of one waits for its carries, the processor multiplies for the other. They share
//! nothing but the code.
//!
//! # Reduction by whole vectors
//!
//! Let `B = 2^{52·8}`, one vector of digits, and `M' = (−M^{−1} mod B)·M ≡ −1 (mod B)` the friendly multiple
//! (as in [`crate::batch::block::reduce_rows`], with eight digits in place of one), `M'' = (M' + 1)/B ≤ M`.
//! The quotient that clears the lowest vector of a number `U` is then that vector itself, `q = U mod B`, once
//! carries have been passed on: `(U + q·M')/B = ⌊U/B⌋ + q·M''`. So a reduction waits for one propagation of
//! carries in every *eight* digits, and for no multiplication. Carries are found for all eight at once
//! ([`settle`]).
//!
//! The last vector is reduced in Montgomery's own way, `q = U·N' mod B` with `N' = −M^{−1} mod B` and
//! `(U + q·M)/B`, so that the result grows by `M` and not by `B·M`.
//!
//! # Bounds
//!
//! A number has `L` digits in `n = ⌈L/8⌉` vectors; `R = 2^{52L} ≥ 8M`; `e = 8n − L` lanes are left over. A
//! product `T = x·y` is put `e` lanes up, so that it ends where a vector ends: `U = T·2^{52e}`, and `n`
//! vectors are cleared. After the `n − 1` friendly ones, with `q < B` in each, `U' < U/B^{n−1} + B·M`; after
//! the last `U'' < U'/B + M < T/R + 2M`. With `x, y < 4M` that is at most `16M²/8M + 2M = 4M`: stable, as in
//! [`crate::batch::domain`], and no subtraction is made until a number leaves.
//!
//! A column receives at most `L` low and `L` high halves of the product, `8n` and `8n` of the reduction, each
//! at most `2^52`, and carries below `2^13`: less than `(2L + 16n + 1)·2^52`, below `2^63` up to
//! [`MAX_DIGITS`] (asserted there). It is kept in two parts that are added before they are looked at. Biases
//! ([`Machine`]) are off by then, so columns modulo `2^64` are the columns: they are added to every lane of a
//! vector alike, and how many a vector gets is a matter of the shape alone.
//!
//! Both halves of a product are made of the same operands and added to the same lane; a high half belongs one
//! column up. So lane `c` of the high parts is a part of column `c + 1`, until columns are looked at.
//!
//! # Sources
//!
//! Digits across lanes, in a redundant radix: Gueron and Krasnov, *Software implementation of modular
//! exponentiation, using advanced vector instructions architectures* (WAIFI 2012), and RSAZ. The friendly
//! multiple is Gueron and Krasnov's too (*Fast prime field elliptic-curve cryptography with 256-bit primes*,
//! 2015), there for one digit.

/// Writes `$body` once for every `$j` in `0..$n`, `$n ≤ 10`: a loop unrolled before the compiler sees it, so
/// that arrays indexed by `$j` become registers.
macro_rules! unroll {
    ($j:ident in $n:expr, $body:block) => {
        unroll!(@ $j $n, $body 0 1 2 3 4 5 6 7 8 9)
    };
    (@ $j:ident $n:expr, $body:block $($i:literal)*) => {{
        const { assert!($n <= 10, "more than unroll! unrolls") };
        $(if $i < $n {
            let $j: usize = $i;
            $body
        })*
    }};
}

mod bias;
mod constants;
mod domain;
mod general;
mod kernel;
mod settle;

pub use bias::initial;
pub use constants::{Constants, Shape, factors};
pub use domain::Domain;
pub use general::amm_general;
pub use kernel::{amm, columns_for, select, tables_for};
pub use settle::{normalize, settle};

/// Lanes of a vector: consecutive digits of one number.
pub const LANES: usize = 8;
/// `w`, the bits of a digit.
pub const DIGIT_BITS: u32 = 52;
/// The most numbers side by side.
const MOST: usize = 2;
/// The most digits of a number.
pub const MAX_DIGITS: usize = 160;

// The bound on columns above.
const _: () = assert!(2 * MAX_DIGITS + 2 * MAX_DIGITS.next_multiple_of(LANES) < 1 << 11);

/// The vocabulary: a vector of eight lanes of 64 bits.
///
/// A vector holds columns, which are words, or digits as the machine multiplies them
/// ([`digits`](Machine::digits)).
///
/// # The product and its bias
///
/// As in [`crate::batch::Machine`]: [`mac`](Machine::mac) adds the halves of a product to two columns of one
/// lane, and besides, for every call, the constants [`BIAS_LOW`](Machine::BIAS_LOW) and
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

    /// Eight digits of a number, or eight columns.
    type Vector: Copy + Send + Sync + 'static;
    /// A truth value in every lane.
    type Mask: Copy;

    /// 0 in every lane, as columns or digits.
    fn zero(self) -> Self::Vector;
    /// The words, the first in lane 0.
    fn vector(self, words: [u64; LANES]) -> Self::Vector;
    /// The lanes of all vectors, in place, lane 0 first.
    fn words(self, vectors: &[Self::Vector]) -> &[u64];
    /// The lanes of one vector.
    fn lanes(self, vector: &Self::Vector) -> &[u64; LANES];
    /// The lanes of one vector, to write.
    fn lanes_mut(self, vector: &mut Self::Vector) -> &mut [u64; LANES];
    /// The lanes from lane `i` of all `vectors` on.
    fn window(self, vectors: &[Self::Vector], i: usize) -> Self::Vector;
    /// Columns below `2^52` as digits.
    fn digits(self, columns: Self::Vector) -> Self::Vector;
    /// Digits as columns.
    fn columns(self, digits: Self::Vector) -> Self::Vector;
    /// A digit from one lane of a vector of digits, in every lane.
    fn digit(self, lane: &u64) -> Self::Vector;
    /// The digit in every lane of which [`quotient`](Machine::quotient) left this word.
    fn quotient_digit(self, word: &u64) -> Self::Vector;
    /// `(low + l + BIAS_LOW, high + h + BIAS_HIGH)` with `h·2^52 + l = a·b` and `0 ≤ l < 2^52`, modulo
    /// `2^64`, of digits `a` and `b`. The high half belongs one column up, to the next lane.
    fn mac(
        self,
        low: Self::Vector,
        high: Self::Vector,
        a: Self::Vector,
        b: Self::Vector,
    ) -> (Self::Vector, Self::Vector);
    /// `a + b` modulo `2^64`.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a mod 2^52`.
    fn low(self, a: Self::Vector) -> Self::Vector;
    /// `⌊a / 2^52⌋`.
    fn carry(self, a: Self::Vector) -> Self::Vector;
    /// The vector moved up by a lane: lane 0 is the top lane of `below`.
    fn up(self, vector: Self::Vector, below: Self::Vector) -> Self::Vector;
    /// Which lanes are above `2^52 − 1`: bit `i` for lane `i`, no bits above 7.
    fn over(self, a: Self::Vector) -> u32;
    /// Which lanes are `2^52 − 1`, in the same form.
    fn full(self, a: Self::Vector) -> u32;
    /// The digits of a vector of columns, from digit `FROM` on, an even one; the others of `q` are left as
    /// they are. `low` and `high` are the parts of the columns, and `carry` what comes from below; what goes
    /// on is returned. Digits are left as [`quotient_digit`](Machine::quotient_digit) takes them, without any
    /// need for bits above `2^52` to be cleared.
    ///
    /// Precondition: `low + high + 2^13 < 2^64` in each lane.
    ///
    /// One digit after the other, in scalar registers: it takes no longer than [`settle`], and leaves the
    /// multiplier's ports alone. Digits go to memory, from where a word is put into all lanes by a load, and
    /// from a register by two instructions on those ports.
    #[inline(always)]
    fn quotient<const FROM: usize>(
        self,
        low: &[u64; LANES],
        high: &[u64; LANES],
        mut carry: u64,
        q: &mut [u64; LANES],
    ) -> u64 {
        for i in FROM..LANES {
            q[i] = low[i] + high[i] + carry;
            carry = q[i] >> DIGIT_BITS;
        }
        carry
    }
    /// Adds 1 to lane `i` where bit `i` is set, for the low eight bits.
    fn increment(self, a: Self::Vector, lanes: u32) -> Self::Vector;
    /// In every lane, whether `a = b`.
    fn equals(self, a: u64, b: u64) -> Self::Mask;
    /// `b` where the mask is set, else `a`.
    fn select(self, mask: Self::Mask, a: Self::Vector, b: Self::Vector) -> Self::Vector;
}

/// The compiled roots of one machine.
pub trait Kernels: Machine {
    /// [`amm`] or [`amm_general`], depending on the shape.
    fn amm(
        self,
        shape: Shape,
        x: &mut [Self::Vector],
        y: Option<&[Self::Vector]>,
        times: usize,
        tables: &[Self::Vector],
        columns: &mut [Self::Vector],
    );
    /// [`select`].
    fn select_entry(self, shape: Shape, out: &mut [Self::Vector], table: &[Self::Vector], index: &[u64]);
}
