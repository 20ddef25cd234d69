//! The compiled entry points: one function per machine, block and tile width. Each compiles a generic kernel
//! for an instruction set.

/// Implements [`zariz_kernels::batch::Kernels`] for a machine: for every block of the table, an entry point
/// with the machine's target features and, for blocks with a tile width, one instance per width.
///
/// `$features` is the list for `#[target_feature]`, empty for a machine that needs none; the lists are the
/// widths `1..=MAX_TILE`, `1..=MAX_SQUARE`, `1..=MAX_TRIANGLE`, `4..=MAX_IN_REGISTERS`, only `MAX_TWO_TERMS`
/// if it is not 0, only `MAX_TERMS` if it is not 0 (one instance for all widths), and `1..=MAX_SELECT`.
macro_rules! entry_points {
    (
        $machine:ident, features: [$($features:literal)?], product_tenths: $tenths:literal,
        tiled_from: $tiled:expr, karatsuba_from: $karatsuba:expr, ahmm_from: $ahmm:expr,
        adds_beside: $adds:expr,
        tiles: $tiles:tt, squares: $squares:tt, triangles: $triangles:tt, in_registers: $in_registers:tt, two_terms: $two_terms:tt,
        terms: $terms:tt, selects: $selects:tt
    ) => {
        mod entry_points {
            #![allow(unused_unsafe)] // an entry point without target features is safe to call
            #![allow(dead_code)] // of a block without widths
            use zariz_kernels::batch::block::{self, Part, WINDOWS};
            use zariz_kernels::batch::{Column, Digit, Kernels};
            use zariz_kernels::for_each_block;
            type This = super::$machine;

            for_each_block!(This, entry_points! { @functions [$($features)?] });

            impl Kernels for This {
                const PRODUCT_TENTHS: u32 = $tenths;
                const MAX_TILE: usize = entry_points!(@last $tiles);
                const MAX_SQUARE: usize = entry_points!(@last $squares);
                const MAX_TRIANGLE: usize = entry_points!(@last $triangles);
                const MAX_IN_REGISTERS: usize = entry_points!(@last $in_registers);
                const MAX_TWO_TERMS: usize = entry_points!(@last $two_terms);
                const MAX_TERMS: usize = entry_points!(@last $terms);
                const MAX_SELECT: usize = entry_points!(@last $selects);
                const TILED_FROM: usize = $tiled;
                const KARATSUBA_FROM: usize = $karatsuba;
                const AHMM_FROM: usize = $ahmm;

                fn adds_beside_products(self) -> bool {
                    $adds
                }

                for_each_block!(This, entry_points! { @methods $tiles $squares $triangles $in_registers $two_terms $terms $selects });
            }
        }
    };

    (@last []) => { 0 };
    (@last [$last:literal]) => { $last };
    (@last [$first:literal $($rest:literal)+]) => { entry_points!(@last [$($rest)+]) };

    // The function of every block, generic over its tile width.
    (@functions $features:tt $(
        $block:ident $Block:ident $([$max:ident: $tile:expr])? ($($argument:ident: $type:ty),*);
    )*) => {
        $(entry_points!(@function $features $block [$($max)?] ($($argument: $type),*));)*
    };
    (@function [$($features:literal)?] $block:ident [] ($($argument:ident: $type:ty),*)) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $block<'a>(m: This, $($argument: $type),*) {
            block::$block(m, $($argument),*)
        }
    };
    (@function [$($features:literal)?] $block:ident [$max:ident] ($($argument:ident: $type:ty),*)) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $block<'a, const T: usize>(m: This, $($argument: $type),*) {
            block::$block::<This, T>(m, $($argument),*)
        }
    };

    // The method of every block: calls its function, or the instance of its function for the tile width.
    (@methods $tiles:tt $squares:tt $triangles:tt $in_registers:tt $two_terms:tt $terms:tt $selects:tt $(
        $block:ident $Block:ident $([$max:ident: $tile:expr])? ($($argument:ident: $type:ty),*);
    )*) => {
        $(entry_points!(@method
            $block [$($max: $tile;)? $tiles $squares $triangles $in_registers $two_terms $terms $selects] ($($argument: $type),*)
        );)*
    };
    (@method $block:ident [MAX_TILE: $tile:expr; $list:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt] $arguments:tt) => {
        entry_points!(@instances $list $block, $tile, $arguments);
    };
    (@method $block:ident [MAX_SQUARE: $tile:expr; $a:tt $list:tt $c:tt $d:tt $e:tt $f:tt $g:tt] $arguments:tt) => {
        entry_points!(@instances $list $block, $tile, $arguments);
    };
    (@method $block:ident [MAX_TRIANGLE: $tile:expr; $a:tt $b:tt $list:tt $d:tt $e:tt $f:tt $g:tt] $arguments:tt) => {
        entry_points!(@instances $list $block, $tile, $arguments);
    };
    (@method $block:ident [MAX_IN_REGISTERS: $tile:expr; $a:tt $b:tt $c:tt $list:tt $e:tt $f:tt $g:tt] $arguments:tt) => {
        entry_points!(@instances $list $block, $tile, $arguments);
    };
    (@method $block:ident [MAX_TWO_TERMS: $tile:expr; $a:tt $b:tt $c:tt $d:tt $list:tt $f:tt $g:tt] $arguments:tt) => {
        entry_points!(@instances $list $block, $tile, $arguments);
    };
    (@method $block:ident [MAX_TERMS: $tile:expr; $a:tt $b:tt $c:tt $d:tt $e:tt $list:tt $g:tt] $arguments:tt) => {
        entry_points!(@up_to $list $block, $tile, $arguments);
    };
    (@method $block:ident [MAX_SELECT: $tile:expr; $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $list:tt] $arguments:tt) => {
        entry_points!(@instances $list $block, $tile, $arguments);
    };
    (@method $block:ident $lists:tt ($($argument:ident: $type:ty),*)) => {
        fn $block<'a>(self, $($argument: $type),*) {
            // SAFETY: `self` proves that the processor has the target features of this machine's entry
            // points.
            unsafe { $block(self, $($argument),*) }
        }
    };
    // One instance for all widths up to so many terms. As below, the call is hidden from the compiler.
    (@up_to [] $block:ident, $tile:expr, $arguments:tt) => {
        entry_points!(@instances [] $block, $tile, $arguments);
    };
    (@up_to [$most:literal] $block:ident, $tile:expr, ($($argument:ident: $type:ty),*)) => {
        fn $block<'a>(self, $($argument: $type),*) {
            assert!($tile.len() <= $most * block::TERM, "more terms than {}", $most);
            let entry_point: unsafe fn(This, $($type),*) = std::hint::black_box($block::<$most> as _);
            // SAFETY: `self` proves that the processor has the target features of this machine's entry
            // points.
            unsafe { entry_point(self, $($argument),*) }
        }
    };
    (@instances [] $block:ident, $tile:expr, ($($argument:ident: $type:ty),*)) => {
        fn $block<'a>(self, $($argument: $type),*) {
            let _ = ($($argument),*);
            unreachable!("this machine has no width of {}", stringify!($block))
        }
    };
    // With one width, the compiler would drop arguments that it knows, and `cargo xtask codegen` could not
    // tell which register holds which.
    (@instances [$width:literal] $block:ident, $tile:expr, ($($argument:ident: $type:ty),*)) => {
        fn $block<'a>(self, $($argument: $type),*) {
            assert_eq!($tile.len(), $width, "the width of a tile");
            let entry_point: unsafe fn(This, $($type),*) = std::hint::black_box($block::<$width> as _);
            // SAFETY: `self` proves that the processor has the target features of this machine's entry
            // points.
            unsafe { entry_point(self, $($argument),*) }
        }
    };
    (@instances [$($width:literal)*] $block:ident, $tile:expr, ($($argument:ident: $type:ty),*)) => {
        fn $block<'a>(self, $($argument: $type),*) {
            let entry_point: unsafe fn(This, $($type),*) = match $tile.len() {
                $($width => $block::<$width> as _,)*
                width => unreachable!("no tile of width {width}"),
            };
            // SAFETY: `self` proves that the processor has the target features of this machine's entry
            // points.
            unsafe { entry_point(self, $($argument),*) }
        }
    };
}
