//! The compiled micro-kernels of one machine, and the table of their signatures.

use super::block::{MAX_LANES, Part, WINDOWS};
use super::machine::{Column, Digit, Machine};
use crate::place::AlignedBuf;

/// The table of blocks: calls a macro with the signature of each block, for a machine `M`.
///
/// `for_each_block!(M, callback! { CONTEXT })` is `callback! { CONTEXT ENTRIES }`. An entry is
///
/// ```text
/// mac_rows MacRows [MAX_TILE: a] (c: &'a mut [Column<M>], a: &'a [Digit<M>], b: &'a [Digit<M>]);
/// ```
///
/// * The name of the function in [`block`](crate::batch::block), and as the name of a type.
/// * Where the function has a tile width: the constant of [`Kernels`] that bounds the width, and the argument
///   whose length is the width.
/// * The arguments after the machine. Every reference has the lifetime `'a`.
///
/// The callback needs `Column`, `Digit`, `Part` and `WINDOWS` in scope. A new block is an entry here and its
/// function.
#[macro_export]
macro_rules! for_each_block {
    ($M:ident, $callback:ident! { $($context:tt)* }) => {
        $crate::for_each_papers_block! { $M, $callback! { $($context)*
            mac_rows MacRows [MAX_TILE: a] (c: &'a mut [Column<$M>], a: &'a [Digit<$M>], b: &'a [Digit<$M>]);
            square Square [MAX_SQUARE: a] (c: &'a mut [Column<$M>], a: &'a [Digit<$M>], half: &'a [u64]);
            square_onto SquareOnto [MAX_TRIANGLE: a] (c: &'a mut [Column<$M>], a: &'a [Digit<$M>]);
            reduce_rows ReduceRows [MAX_TILE: friendly] (
                c: &'a mut [Column<$M>],
                friendly: &'a [Digit<$M>],
                q: &'a mut [Digit<$M>],
                last: Option<(&'a [Digit<$M>], Digit<$M>)>
            );
            amm_registers AmmRegisters [MAX_IN_REGISTERS: x] (
                x: &'a mut [Digit<$M>],
                y: &'a [Digit<$M>],
                modulus: &'a [Digit<$M>]
            );
            ams_registers AmsRegisters [MAX_IN_REGISTERS: x] (
                x: &'a mut [Digit<$M>],
                times: usize,
                modulus: &'a [Digit<$M>],
                c: &'a mut [Column<$M>]
            );
            karatsuba_two_terms KaratsubaTwoTerms [MAX_TWO_TERMS: x] (
                x: &'a mut [Digit<$M>],
                times: usize,
                y: &'a [Digit<$M>],
                modulus: &'a [Digit<$M>],
                c: &'a mut [Column<$M>],
                scratch: &'a mut [Digit<$M>]
            );
            karatsuba_terms_multiply KaratsubaTermsMultiply [MAX_TERMS: a] (
                c: &'a mut [Column<$M>],
                a: &'a [Digit<$M>],
                b: &'a [Digit<$M>],
                scratch: &'a mut [Digit<$M>]
            );
            karatsuba_terms_square KaratsubaTermsSquare [MAX_TERMS: a] (
                c: &'a mut [Column<$M>],
                a: &'a [Digit<$M>],
                scratch: &'a mut [Digit<$M>]
            );
            karatsuba_terms_reduce KaratsubaTermsReduce [MAX_TERMS: x] (
                x: &'a mut [Digit<$M>],
                c: &'a mut [Column<$M>],
                modulus: &'a [Digit<$M>],
                scratch: &'a mut [Digit<$M>]
            );
            select_tile SelectTile [MAX_SELECT: out[0]] (
                out: [&'a mut [Digit<$M>]; WINDOWS],
                table: &'a [Digit<$M>],
                stride: usize,
                index: &'a [u64]
            );
            select_shared SelectShared [MAX_TILE: out] (
                out: &'a mut [Digit<$M>],
                table: &'a [u64],
                stride: usize,
                index: &'a [u64]
            );
            scale Scale (x: &'a mut [Digit<$M>], factor: &'a [u64], initial: &'a [u64]);
            turn Turn (out: &'a mut [Digit<$M>], table: &'a [Digit<$M>], stride: usize);
            lookup Lookup (
                out: &'a mut [Digit<$M>],
                table: &'a [Digit<$M>],
                stride: usize,
                index: &'a [u64]
            );
            splat Splat (c: &'a mut [Column<$M>], initial: &'a [u64]);
            add_words AddWords (c: &'a mut [Column<$M>], words: &'a [u64]);
            quotients Quotients (q: &'a mut [Digit<$M>], c: &'a mut [Column<$M>]);
            normalize Normalize (out: &'a mut [Digit<$M>], c: &'a [Column<$M>]);
            difference Difference (
                out: &'a mut [Digit<$M>],
                scratch: &'a mut [Digit<$M>],
                sign: &'a mut [Column<$M>],
                a: &'a [Digit<$M>],
                b: &'a [Digit<$M>]
            );
            karatsuba Karatsuba (
                c: &'a mut [Column<$M>],
                middle: &'a [Column<$M>],
                signs: &'a [Column<$M>],
                extra: &'a [u64],
                part: Part
            );
            reduce_once ReduceOnce (
                out: &'a mut [Digit<$M>],
                scratch: &'a mut [Digit<$M>],
                a: &'a [Digit<$M>],
                modulus: &'a [Digit<$M>]
            );
            add_digits AddDigits (out: &'a mut [Digit<$M>], a: &'a [Digit<$M>]);
            gather Gather (out: &'a mut [Digit<$M>], lanes: &'a [&'a [u64]]);
            scatter Scatter (out: &'a mut [u64], digits: &'a [Digit<$M>]);
        } }
    };
}

/// The blocks that only separated reductions need, after those of [`for_each_block!`](crate::for_each_block).
#[cfg(feature = "papers")]
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_papers_block {
    ($M:ident, $callback:ident! { $($context:tt)* }) => {
        $callback! {
            $($context)*
            low_triangle LowTriangle [MAX_TRIANGLE: a] (
                c: &'a mut [Column<$M>],
                a: &'a [Digit<$M>],
                b: &'a [Digit<$M>]
            );
            high_triangle HighTriangle [MAX_TRIANGLE: a] (
                c: &'a mut [Column<$M>],
                a: &'a [Digit<$M>],
                b: &'a [Digit<$M>]
            );
            settle Settle (out: &'a mut [Digit<$M>], c: &'a mut [Column<$M>]);
            normalize_sum NormalizeSum (
                out: &'a mut [Digit<$M>],
                low: &'a [Digit<$M>],
                c: &'a [Column<$M>],
                d: &'a [Column<$M>]
            );
        }
    };
}

/// Without the feature `papers`, there are none.
#[cfg(not(feature = "papers"))]
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_papers_block {
    ($M:ident, $callback:ident! { $($context:tt)* }) => {
        $callback! { $($context)* }
    };
}

/// The methods of [`Kernels`], from the table.
macro_rules! methods {
    ($($block:ident $Block:ident $([$max:ident: $tile:expr])? ($($argument:ident: $type:ty),*);)*) => {$(
        #[doc = concat!("[`", stringify!($block), "`](crate::batch::block::", stringify!($block), ").")]
        fn $block<'a>(self, $($argument: $type),*);
    )*};
}

/// The blocks of [`crate::batch::block`], each compiled for one machine. Code above it is safe, generic and
/// ordinary; code below it uses the instructions of a processor.
///
/// A block that works on a tile takes the tile's width from a slice's length: from 1 (for numbers in
/// registers, from [`FEWEST_IN_REGISTERS`](crate::batch::block::FEWEST_IN_REGISTERS)) to the constant that
/// [`for_each_block!`](crate::for_each_block) names. Numbers of two terms have exactly that width; numbers of
/// more terms have any multiple of [`TERM`](crate::batch::block::TERM) from
/// [`FEWEST_TERMS`](crate::batch::block::FEWEST_TERMS) to [`MAX_TERMS`](Self::MAX_TERMS) terms. Other widths
/// panic; only a mistake in this crate can cause that, since lengths depend only on the size of the modulus.
pub trait Kernels: Machine<Digit: bytemuck::Pod> {
    /// The cost of a product of two digits in every lane, in tenths of a cycle: the limit of the processor's
    /// ports. Only the choice of window depends on it.
    const PRODUCT_TENTHS: u32;
    /// The widest tile, bounded by the processor's registers.
    const MAX_TILE: usize;
    /// The longest number that one block squares, bounded by code size.
    const MAX_SQUARE: usize;
    /// The widest triangle, in products and squares of longer numbers, bounded by code size.
    const MAX_TRIANGLE: usize;
    /// The longest number whose product and reduction are one block
    /// ([`amm_registers`](crate::batch::block::amm_registers())), bounded by the processor's registers; 0
    /// where that gains nothing, or columns have a bias or can be negative.
    const MAX_IN_REGISTERS: usize;
    /// [`TWO_TERMS_DIGITS`](crate::batch::block::TWO_TERMS_DIGITS) on machines that have a block for such
    /// numbers; else 0. It is 0 where columns have a bias or halves can be negative.
    const MAX_TWO_TERMS: usize;
    /// The most terms of a number of
    /// [`karatsuba_terms_multiply`](crate::batch::block::karatsuba_terms_multiply) on machines that have such
    /// blocks; else 0, like [`MAX_TWO_TERMS`](Self::MAX_TWO_TERMS).
    const MAX_TERMS: usize;
    /// The widest tile of table entries, bounded by the processor's registers: one accumulator for each
    /// window and digit.
    const MAX_SELECT: usize;
    /// From how many digits on squares by Karatsuba's splitting are faster: measured, see
    /// [`crate::batch::Method::fastest`].
    const KARATSUBA_FROM: usize;
    /// From how many digits on reductions by several digits at a time are faster: measured too.
    const TILED_FROM: usize;
    /// From how many digits on half-reduced products with table entries are faster: measured too.
    const AHMM_FROM: usize;

    /// Whether this processor has pipes that add and do not multiply, so that additions beside products are
    /// free: [`crate::batch::Method::fastest`] then splits products.
    fn adds_beside_products(self) -> bool;

    for_each_block!(Self, methods! {});
}

/// A number in every lane: `L` digits.
pub type Number<M> = AlignedBuf<Digit<M>>;

/// A number of `count` digits, of which `digits` has those of each lane.
pub(crate) fn load<'b, M: Kernels>(
    machine: M,
    count: usize,
    digits: impl Fn(usize) -> &'b [u64],
) -> Number<M> {
    let mut out = AlignedBuf::new(machine.digit_zero(), count, None);
    load_into(machine, &mut out, digits);
    out
}

/// Overwrites a number with the digits that `digits` has of each lane.
pub(crate) fn load_into<'b, M: Kernels>(
    machine: M,
    out: &mut [Digit<M>],
    digits: impl Fn(usize) -> &'b [u64],
) {
    let mut lanes: [&[u64]; MAX_LANES] = [&[]; MAX_LANES];
    for (i, lane) in lanes[..M::LANES].iter_mut().enumerate() {
        *lane = digits(i);
    }
    machine.gather(out, &lanes[..M::LANES]);
}
