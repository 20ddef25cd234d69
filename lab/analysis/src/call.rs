//! One call of a compiled block, as a value: what every interpretation looks at before and after it runs the
//! block.

use zariz_kernels::batch::block::{self, Part, WINDOWS};
use zariz_kernels::batch::{self, Column, Digit};
use zariz_kernels::for_each_block;

/// Makes the calls from the table of blocks.
macro_rules! calls {
    ($($block:ident $Block:ident $([$max:ident: $tile:expr])? ($($argument:ident: $type:ty),*);)*) => {
        /// A call of a block of [`zariz_kernels::batch::block`] on `M`, with its arguments.
        #[expect(missing_docs, reason = "the fields are the arguments of the blocks, which document them")]
        pub enum Call<'a, M: batch::Machine> {
            $(
                #[doc = concat!("[`block::", stringify!($block), "`].")]
                $Block { $($argument: $type),* },
            )*
        }

        impl<M: batch::Kernels> Call<'_, M> {
            /// The block's name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Block { .. } => stringify!($block),)*
                }
            }

            /// Runs the kernel's own code.
            ///
            /// # Panics
            /// If a tile is wider than the machine's widest: its compiled entry points have no such width.
            pub fn run(self, m: M) {
                match self {
                    $(Self::$Block { $($argument),* } => calls!(@run $block [$($max: $tile)?] (m, $($argument),*)),)*
                }
            }
        }
    };

    (@run $block:ident [] $arguments:tt) => { block::$block::<M> $arguments };
    // Few widths, with much code in each.
    (@run $block:ident [MAX_SELECT: $tile:expr] $arguments:tt) => {
        calls!(@width $block, $tile, M::MAX_SELECT, $arguments 1 2 3 4 5 6 7 8)
    };
    // One width.
    (@run $block:ident [MAX_TWO_TERMS: $tile:expr] $arguments:tt) => {
        calls!(@width $block, $tile, M::MAX_TWO_TERMS, $arguments 20)
    };
    // One instance for all widths.
    (@run $block:ident [MAX_TERMS: $tile:expr] $arguments:tt) => {
        block::$block::<M, { block::MOST_TERMS }> $arguments
    };
    (@run $block:ident [$max:ident: $tile:expr] $arguments:tt) => {
        calls!(@width $block, $tile, M::$max, $arguments 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
    };
    (@width $block:ident, $tile:expr, $max:expr, $arguments:tt $($t:literal)*) => {{
        let (width, max) = ($tile.len(), $max);
        assert!(width <= max, "{}: a tile of {width} digits, but the machine has none above {max}", stringify!($block));
        match width {
            $($t => block::$block::<M, $t> $arguments,)*
            _ => panic!("{}: no tile of {width} digits", stringify!($block)),
        }
    }};
}
for_each_block!(M, calls! {});

/// Implements [`batch::Kernels`] for an interpretation that has `fn call(self, call: Call<Self>)`.
macro_rules! interpret {
    ($interpretation:ident) => {
        const _: () = {
            use zariz_kernels::batch::block::{Part, WINDOWS};
            use zariz_kernels::batch::{Column, Digit, Kernels};

            impl<P: $crate::Model> Kernels for $interpretation<P> {
                const PRODUCT_TENTHS: u32 = P::PRODUCT_TENTHS;
                const MAX_TILE: usize = P::MAX_TILE;
                const MAX_SQUARE: usize = P::MAX_SQUARE;
                const MAX_TRIANGLE: usize = P::MAX_TRIANGLE;
                const MAX_IN_REGISTERS: usize = P::MAX_IN_REGISTERS;
                const MAX_TWO_TERMS: usize = P::MAX_TWO_TERMS;
                const MAX_TERMS: usize = P::MAX_TERMS;
                const MAX_SELECT: usize = P::MAX_SELECT;
                const TILED_FROM: usize = P::TILED_FROM;
                const KARATSUBA_FROM: usize = P::KARATSUBA_FROM;
                const AHMM_FROM: usize = P::AHMM_FROM;

                fn adds_beside_products(self) -> bool {
                    false
                }

                zariz_kernels::for_each_block!(Self, interpret! { @methods });
            }
        };
    };
    (@methods $($block:ident $Block:ident $([$max:ident: $tile:expr])? ($($argument:ident: $type:ty),*);)*) => {$(
        fn $block<'a>(self, $($argument: $type),*) {
            self.call($crate::call::Call::$Block { $($argument),* })
        }
    )*};
}
pub(crate) use interpret;
