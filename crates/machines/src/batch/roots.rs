//! The compiled roots: one function per machine, block and tile width. In each, generic kernels take on an
//! instruction set.

/// Implements [`zariz_kernels::batch::Kernels`] for a machine: for every block, a root function with the machine's target
/// features and, for tiled blocks, one instance per width.
///
/// `$features` is the list for `#[target_feature]`, empty for a machine that needs none; the lists are the
/// widths `1..=MAX_TILE`, `1..=MAX_SQUARE`, `1..=MAX_TRIANGLE` and
/// `1..=MAX_SELECT`.
macro_rules! roots {
    (
        $machine:ty, features: [$($features:literal)?], product_tenths: $tenths:literal,
        karatsuba_from: $karatsuba:expr, ahmm_from: $ahmm:expr,
        tiles: [$($tile:literal)*], squares: [$($square:literal)*], triangles: [$($triangle:literal)*],
        selects: [$($select:literal)*]
    ) => {
        mod root {
            #![allow(unused_unsafe)] // a root without target features is safe to call
            use super::*;
            use zariz_kernels::batch::block::{self, Part, WINDOWS};
            use zariz_kernels::batch::Machine;
            type This = $machine;
            type Digit = <This as Machine>::Digit;
            type Column = <This as Machine>::Column;

            roots!(@root [$($features)?] mac_rows<T>(c: &mut [Column], a: &[Digit], b: &[Digit]));
            roots!(@root [$($features)?] square<T>(c: &mut [Column], a: &[Digit], half: &[u64]));
            roots!(@root [$($features)?] square_onto<T>(c: &mut [Column], a: &[Digit]));
            roots!(@root [$($features)?] low_triangle<T>(c: &mut [Column], a: &[Digit], b: &[Digit]));
            roots!(@root [$($features)?] high_triangle<T>(c: &mut [Column], a: &[Digit], b: &[Digit]));
            roots!(@root [$($features)?] reduce_rows<T>(c: &mut [Column], friendly: &[Digit], q: &mut [Digit],
                last: Option<(&[Digit], Digit)>));
            roots!(@root [$($features)?] select_tile<T>(out: [&mut [Digit]; WINDOWS], table: &[Digit],
                stride: usize, index: &[u64]));
            roots!(@root [$($features)?] splat(c: &mut [Column], start: &[u64]));
            roots!(@root [$($features)?] normalize(out: &mut [Digit], c: &[Column]));
            roots!(@root [$($features)?] settle(out: &mut [Digit], c: &mut [Column]));
            roots!(@root [$($features)?] normalize_sum(out: &mut [Digit], low: &[Digit], c: &[Column], d: &[Column]));
            roots!(@root [$($features)?] difference(out: &mut [Digit], spare: &mut [Digit], sign: &mut [Column],
                a: &[Digit], b: &[Digit]));
            roots!(@root [$($features)?] karatsuba(c: &mut [Column], middle: &[Column], signs: &[Column],
                extra: &[u64], part: Part));
            roots!(@root [$($features)?] add(out: &mut [Digit], a: &[Digit]));
            roots!(@root [$($features)?] gather(out: &mut [Digit], lanes: &[&[u64]]));
            roots!(@root [$($features)?] scatter(out: &mut [u64], digits: &[Digit]));
            field_roots!([$($features)?]);

            impl zariz_kernels::batch::Kernels for $machine {
                const PRODUCT_TENTHS: u32 = $tenths;
                const MAX_TILE: usize = roots!(@max $($tile)*);
                const MAX_SQUARE: usize = roots!(@max $($square)*);
                const MAX_TRIANGLE: usize = roots!(@max $($triangle)*);
                const MAX_SELECT: usize = roots!(@max $($select)*);
                const KARATSUBA_FROM: usize = $karatsuba;
                const AHMM_FROM: usize = $ahmm;

                roots!(@tiled [$($tile)*] mac_rows, a, (c: &mut [Column], a: &[Digit], b: &[Digit]));
                roots!(@tiled [$($square)*] square, a, (c: &mut [Column], a: &[Digit], half: &[u64]));
                roots!(@tiled [$($triangle)*] square_onto, a, (c: &mut [Column], a: &[Digit]));
                roots!(@tiled [$($triangle)*] low_triangle, a, (c: &mut [Column], a: &[Digit], b: &[Digit]));
                roots!(@tiled [$($triangle)*] high_triangle, a, (c: &mut [Column], a: &[Digit], b: &[Digit]));
                roots!(@tiled [$($tile)*] reduce_rows, friendly, (c: &mut [Column], friendly: &[Digit],
                    q: &mut [Digit], last: Option<(&[Digit], Digit)>));
                roots!(@tiled [$($select)*] select_tile, out[0], (out: [&mut [Digit]; WINDOWS], table: &[Digit],
                    stride: usize, index: &[u64]));
                roots!(@plain splat splat(c: &mut [Column], start: &[u64]));
                roots!(@plain normalize normalize(out: &mut [Digit], c: &[Column]));
                roots!(@plain settle settle(out: &mut [Digit], c: &mut [Column]));
                roots!(@plain normalize_sum normalize_sum(out: &mut [Digit], low: &[Digit], c: &[Column],
                    d: &[Column]));
                roots!(@plain difference difference(out: &mut [Digit], spare: &mut [Digit], sign: &mut [Column],
                    a: &[Digit], b: &[Digit]));
                roots!(@plain karatsuba karatsuba(c: &mut [Column], middle: &[Column], signs: &[Column],
                    extra: &[u64], part: Part));
                roots!(@plain add_numbers add(out: &mut [Digit], a: &[Digit]));
                roots!(@plain gather gather(out: &mut [Digit], lanes: &[&[u64]]));
                roots!(@plain scatter scatter(out: &mut [u64], digits: &[Digit]));
            }
        }
    };

    (@max $last:literal) => { $last };
    (@max $first:literal $($rest:literal)+) => { roots!(@max $($rest)+) };

    (@root [$($features:literal)?] $block:ident $(<$t:ident>)? ($($arg:ident: $type:ty),*)) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $block $(<const $t: usize>)? (m: This, $($arg: $type),*) {
            block::$block::<This $(, $t)?>(m, $($arg),*)
        }
    };

    (@tiled [$($width:literal)*] $block:ident, $by:expr, ($($arg:ident: $type:ty),*)) => {
        fn $block(self, $($arg: $type),*) {
            let root: unsafe fn(This, $($type),*) = match $by.len() {
                $($width => $block::<$width>,)*
                width => unreachable!("no tile of width {width}"),
            };
            // SAFETY: `self` proves that the processor has the target features of this machine's roots.
            unsafe { root(self, $($arg),*) }
        }
    };

    (@plain $method:ident $block:ident($($arg:ident: $type:ty),*)) => {
        fn $method(self, $($arg: $type),*) {
            // SAFETY: `self` proves that the processor has the target features of this machine's roots.
            unsafe { $block(self, $($arg),*) }
        }
    };
}
