//! One call of a compiled block, as a value: what every interpretation looks at before and after it runs the block.

use zariz_kernels::batch;
use zariz_kernels::batch::block::{self, Part, WINDOWS};

/// A call of a block of [`zariz_kernels::batch::block`] on `M`, with its arguments.
#[expect(missing_docs, reason = "the fields are the arguments of the blocks, which document them")]
pub enum Call<'a, M: batch::Machine> {
    /// [`block::mac_rows`].
    MacRows { c: &'a mut [M::Column], a: &'a [M::Digit], b: &'a [M::Digit] },
    /// [`block::square`].
    Square { c: &'a mut [M::Column], a: &'a [M::Digit], half: &'a [u64] },
    /// [`block::square_onto`].
    SquareOnto { c: &'a mut [M::Column], a: &'a [M::Digit] },
    /// [`block::low_triangle`].
    LowTriangle { c: &'a mut [M::Column], a: &'a [M::Digit], b: &'a [M::Digit] },
    /// [`block::high_triangle`].
    HighTriangle { c: &'a mut [M::Column], a: &'a [M::Digit], b: &'a [M::Digit] },
    /// [`block::reduce_rows`].
    ReduceRows {
        c: &'a mut [M::Column],
        friendly: &'a [M::Digit],
        q: &'a mut [M::Digit],
        last: Option<(&'a [M::Digit], M::Digit)>,
    },
    /// [`block::splat`].
    Splat { c: &'a mut [M::Column], start: &'a [u64] },
    /// [`block::normalize`].
    Normalize { out: &'a mut [M::Digit], c: &'a [M::Column] },
    /// [`block::settle`].
    Settle { out: &'a mut [M::Digit], c: &'a mut [M::Column] },
    /// [`block::normalize_sum`].
    NormalizeSum { out: &'a mut [M::Digit], low: &'a [M::Digit], c: &'a [M::Column], d: &'a [M::Column] },
    /// [`block::difference`].
    Difference {
        out: &'a mut [M::Digit],
        spare: &'a mut [M::Digit],
        sign: &'a mut [M::Column],
        a: &'a [M::Digit],
        b: &'a [M::Digit],
    },
    /// [`block::karatsuba`].
    Karatsuba { c: &'a mut [M::Column], middle: &'a [M::Column], signs: &'a [M::Column], extra: &'a [u64], part: Part },
    /// [`block::add`].
    AddNumbers { out: &'a mut [M::Digit], a: &'a [M::Digit] },
    /// [`block::select_tile`].
    SelectTile { out: [&'a mut [M::Digit]; WINDOWS], table: &'a [M::Digit], stride: usize, index: &'a [u64] },
    /// [`block::gather`].
    Gather { out: &'a mut [M::Digit], lanes: &'a [&'a [u64]] },
    /// [`block::scatter`].
    Scatter { out: &'a mut [u64], digits: &'a [M::Digit] },
}

/// Runs a block with a tile width that is known only now; `narrow` blocks have few, and much code in each.
macro_rules! by_width {
    ($width:expr, $max:expr, $block:ident $arguments:tt) => {
        by_width!(@ $width, $max, $block $arguments 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
    };
    (narrow $width:expr, $max:expr, $block:ident $arguments:tt) => {
        by_width!(@ $width, $max, $block $arguments 1 2 3 4 5 6 7 8)
    };
    (@ $width:expr, $max:expr, $block:ident $arguments:tt $($t:literal)*) => {{
        let (width, max) = ($width, $max);
        assert!(width <= max, "{}: a tile of {width} digits, but the machine has none above {max}", stringify!($block));
        match width {
            $($t => block::$block::<M, $t> $arguments,)*
            _ => panic!("{}: no tile of {width} digits", stringify!($block)),
        }
    }};
}

impl<M: batch::Kernels> Call<'_, M> {
    /// The block's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MacRows { .. } => "mac_rows",
            Self::Square { .. } => "square",
            Self::SquareOnto { .. } => "square_onto",
            Self::LowTriangle { .. } => "low_triangle",
            Self::HighTriangle { .. } => "high_triangle",
            Self::ReduceRows { .. } => "reduce_rows",
            Self::Splat { .. } => "splat",
            Self::Normalize { .. } => "normalize",
            Self::Settle { .. } => "settle",
            Self::NormalizeSum { .. } => "normalize_sum",
            Self::Difference { .. } => "difference",
            Self::Karatsuba { .. } => "karatsuba",
            Self::AddNumbers { .. } => "add",
            Self::SelectTile { .. } => "select_tile",
            Self::Gather { .. } => "gather",
            Self::Scatter { .. } => "scatter",
        }
    }

    /// Runs the kernel's own code.
    ///
    /// # Panics
    /// If a tile is wider than the machine's widest: its compiled roots have no such width.
    pub fn run(self, m: M) {
        match self {
            Self::MacRows { c, a, b } => by_width!(a.len(), M::MAX_TILE, mac_rows(m, c, a, b)),
            Self::Square { c, a, half } => by_width!(a.len(), M::MAX_SQUARE, square(m, c, a, half)),
            Self::SquareOnto { c, a } => by_width!(a.len(), M::MAX_TRIANGLE, square_onto(m, c, a)),
            Self::LowTriangle { c, a, b } => by_width!(a.len(), M::MAX_TRIANGLE, low_triangle(m, c, a, b)),
            Self::HighTriangle { c, a, b } => by_width!(a.len(), M::MAX_TRIANGLE, high_triangle(m, c, a, b)),
            Self::ReduceRows { c, friendly, q, last } => {
                by_width!(friendly.len(), M::MAX_TILE, reduce_rows(m, c, friendly, q, last))
            }
            Self::Splat { c, start } => block::splat(m, c, start),
            Self::Normalize { out, c } => block::normalize(m, out, c),
            Self::Settle { out, c } => block::settle(m, out, c),
            Self::NormalizeSum { out, low, c, d } => block::normalize_sum(m, out, low, c, d),
            Self::Difference { out, spare, sign, a, b } => block::difference(m, out, spare, sign, a, b),
            Self::Karatsuba { c, middle, signs, extra, part } => block::karatsuba(m, c, middle, signs, extra, part),
            Self::AddNumbers { out, a } => block::add(m, out, a),
            Self::SelectTile { out, table, stride, index } => {
                by_width!(narrow out[0].len(), M::MAX_SELECT, select_tile(m, out, table, stride, index))
            }
            Self::Gather { out, lanes } => block::gather(m, out, lanes),
            Self::Scatter { out, digits } => block::scatter(m, out, digits),
        }
    }
}

/// Implements [`batch::Kernels`] for an interpretation that has `fn call(self, call: Call<Self>)`.
macro_rules! machine {
    ($interpretation:ident) => {
        impl<P: $crate::Model> zariz_kernels::batch::Kernels for $interpretation<P> {
            const PRODUCT_TENTHS: u32 = P::PRODUCT_TENTHS;
            const MAX_TILE: usize = P::MAX_TILE;
            const MAX_SQUARE: usize = P::MAX_SQUARE;
            const MAX_TRIANGLE: usize = P::MAX_TRIANGLE;
            const MAX_SELECT: usize = P::MAX_SELECT;
            const KARATSUBA_FROM: usize = P::KARATSUBA_FROM;
            const AHMM_FROM: usize = P::AHMM_FROM;

            machine!(@ mac_rows MacRows(c: &mut [Self::Column], a: &[Self::Digit], b: &[Self::Digit]));
            machine!(@ square Square(c: &mut [Self::Column], a: &[Self::Digit], half: &[u64]));
            machine!(@ square_onto SquareOnto(c: &mut [Self::Column], a: &[Self::Digit]));
            machine!(@ low_triangle LowTriangle(c: &mut [Self::Column], a: &[Self::Digit], b: &[Self::Digit]));
            machine!(@ high_triangle HighTriangle(c: &mut [Self::Column], a: &[Self::Digit], b: &[Self::Digit]));
            machine!(@ reduce_rows ReduceRows(c: &mut [Self::Column], friendly: &[Self::Digit], q: &mut [Self::Digit],
                last: Option<(&[Self::Digit], Self::Digit)>));
            machine!(@ splat Splat(c: &mut [Self::Column], start: &[u64]));
            machine!(@ normalize Normalize(out: &mut [Self::Digit], c: &[Self::Column]));
            machine!(@ settle Settle(out: &mut [Self::Digit], c: &mut [Self::Column]));
            machine!(@ normalize_sum NormalizeSum(out: &mut [Self::Digit], low: &[Self::Digit], c: &[Self::Column],
                d: &[Self::Column]));
            machine!(@ difference Difference(out: &mut [Self::Digit], spare: &mut [Self::Digit],
                sign: &mut [Self::Column], a: &[Self::Digit], b: &[Self::Digit]));
            machine!(@ karatsuba Karatsuba(c: &mut [Self::Column], middle: &[Self::Column], signs: &[Self::Column],
                extra: &[u64], part: zariz_kernels::batch::block::Part));
            machine!(@ add_numbers AddNumbers(out: &mut [Self::Digit], a: &[Self::Digit]));
            machine!(@ select_tile SelectTile(out: [&mut [Self::Digit]; zariz_kernels::batch::block::WINDOWS],
                table: &[Self::Digit], stride: usize, index: &[u64]));
            machine!(@ gather Gather(out: &mut [Self::Digit], lanes: &[&[u64]]));
            machine!(@ scatter Scatter(out: &mut [u64], digits: &[Self::Digit]));
        }
    };
    (@ $method:ident $variant:ident($($argument:ident: $type:ty),*)) => {
        fn $method(self, $($argument: $type),*) {
            self.call($crate::call::Call::$variant { $($argument),* })
        }
    };
}
pub(crate) use machine;
