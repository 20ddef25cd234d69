//! The roots of numbers laid across vectors: one for each tuned digit count, and one for each width of tiles.

/// Implements [`zariz_kernels::pair::Kernels`] for a machine: `$features` is the list for
/// `#[target_feature]`, empty for a machine that needs none; `$module` is their module, `root` for those
/// whose machine code is checked.
macro_rules! pair_roots {
    ($module:ident, $machine:ty, features: [$($features:literal)?]) => {
        mod $module {
            #![allow(unused_unsafe)] // a root without target features is safe to call
            use super::*;
            use zariz_kernels::pair::{self, Kernels, Machine, Shape};
            type This = $machine;
            type Vector = <This as Machine>::Vector;

            // Digits: vectors, one more, vectors of columns, lanes left over.
            pair_roots!(@tuned [$($features)?] amm_10<2, 3, 4, 6>);
            pair_roots!(@tuned [$($features)?] amm_16<2, 3, 4, 0>);
            pair_roots!(@tuned [$($features)?] amm_20<3, 4, 6, 4>);
            pair_roots!(@tuned [$($features)?] amm_30<4, 5, 8, 2>);
            pair_roots!(@tuned [$($features)?] amm_40<5, 6, 10, 0>);
            pair_roots!(@general [$($features)?] amm_tiles_3<3, 4>);
            pair_roots!(@general [$($features)?] amm_tiles_4<4, 5>);
            pair_roots!(@general [$($features)?] amm_tiles_5<5, 6>);
            pair_roots!(@select [$($features)?] select);

            impl Kernels for $machine {
                fn amm(
                    self,
                    shape: Shape,
                    x: &mut [Vector],
                    y: Option<&[Vector]>,
                    times: usize,
                    tables: &[Vector],
                    columns: &mut [Vector],
                ) {
                    let tiles = shape.tiles;
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // roots.
                    unsafe {
                        match (shape.digits, shape.width) {
                            (10, _) => amm_10(self, x, y, times, tables, columns),
                            (16, _) => amm_16(self, x, y, times, tables, columns),
                            (20, _) => amm_20(self, x, y, times, tables, columns),
                            (30, _) => amm_30(self, x, y, times, tables, columns),
                            (40, _) => amm_40(self, x, y, times, tables, columns),
                            (_, 3) => amm_tiles_3(self, tiles, x, y, times, tables, columns),
                            (_, 4) => amm_tiles_4(self, tiles, x, y, times, tables, columns),
                            (_, 5) => amm_tiles_5(self, tiles, x, y, times, tables, columns),
                            (_, width) => unreachable!("no tile of width {width}"),
                        }
                    }
                }
                fn select_entry(self, shape: Shape, out: &mut [Vector], table: &[Vector], index: &[u64]) {
                    let root: unsafe fn(This, &mut [Vector], &[Vector], &[u64]) = match shape.width {
                        2 => select::<2>,
                        3 => select::<3>,
                        4 => select::<4>,
                        5 => select::<5>,
                        width => unreachable!("no tile of width {width}"),
                    };
                    // SAFETY: as above.
                    unsafe { root(self, out, table, index) }
                }
            }
        }
    };

    (@tuned [$($features:literal)?] $name:ident<$n:literal, $w:literal, $t:literal, $e:literal>) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $name(
            m: This,
            x: &mut [Vector],
            y: Option<&[Vector]>,
            times: usize,
            tables: &[Vector],
            columns: &mut [Vector],
        ) {
            pair::amm::<This, $n, $w, $t, $e>(m, x, y, times, tables, columns)
        }
    };

    (@general [$($features:literal)?] $name:ident<$n:literal, $w:literal>) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $name(
            m: This,
            tiles: usize,
            x: &mut [Vector],
            y: Option<&[Vector]>,
            times: usize,
            tables: &[Vector],
            columns: &mut [Vector],
        ) {
            pair::amm_general::<This, $n, $w>(m, tiles, x, y, times, tables, columns)
        }
    };

    (@select [$($features:literal)?] $name:ident) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $name<const N: usize>(m: This, out: &mut [Vector], table: &[Vector], index: &[u64]) {
            pair::select::<This, N>(m, out, table, index)
        }
    };
}
