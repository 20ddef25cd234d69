//! The entry points of numbers laid across vectors: one for each number of vectors whose sums stay in
//! registers, and one for each width of tiles; each for one number and for two side by side.

/// Implements [`zariz_kernels::pair::Kernels`] for a machine: `$features` is the list for
/// `#[target_feature]`, empty for a machine that needs none; `$module` is their module: `entry_points`, if
/// their machine code is checked. `$in_registers` has those for more than five vectors, with their
/// `<V, T, H>`. `$tiles` has those for tiles, with their `<W, C>`; the last is for all other numbers of
/// vectors.
macro_rules! pair_entry_points {
    (
        $module:ident, $machine:ty, features: $features:tt,
        in_registers: [$($in_registers:literal => $amm:ident $ams:ident<$v:literal, $t:literal, $h:literal>,)*],
        tiles: [$($tiles:pat => $amm_tiles:ident $ams_tiles:ident<$w:literal, $c:literal>,)*]
    ) => {
        pair_entry_points!(@all $module, $machine, $features, [
            2 => amm_2 ams_2<2, 4, 1>,
            3 => amm_3 ams_3<3, 6, 2>,
            4 => amm_4 ams_4<4, 8, 2>,
            5 => amm_5 ams_5<5, 10, 3>,
            $($in_registers => $amm $ams<$v, $t, $h>,)*
        ], [$($tiles => $amm_tiles $ams_tiles<$w, $c>,)*]);
    };

    (
        @all $module:ident, $machine:ty, $features:tt,
        [$($in_registers:literal => $amm:ident $ams:ident<$v:literal, $t:literal, $h:literal>,)*],
        [$($tiles:pat => $amm_tiles:ident $ams_tiles:ident<$w:literal, $c:literal>,)*]
    ) => {
        mod $module {
            #![allow(unused_unsafe)] // an entry point without target features is safe to call
            use super::*;
            use zariz_kernels::pair::{self, Kernels, Machine, Shape};
            type This = $machine;
            type Vector = <This as Machine>::Vector;

            $(pair_entry_points!(@registers $features $amm $ams<$v, $t, $h>);)*
            $(pair_entry_points!(@tiles $features $amm_tiles $ams_tiles<$w, $c>);)*
            pair_entry_points!(@select $features select);

            impl Kernels for $machine {
                fn amm(self, shape: Shape, x: &mut [Vector], y: &[Vector], tables: &[Vector], space: &mut [Vector]) {
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // entry points.
                    unsafe {
                        match (shape.vectors, shape.count) {
                            $(
                                ($in_registers, 1) => $amm::<1>(self, x, y, tables),
                                ($in_registers, _) => $amm::<2>(self, x, y, tables),
                            )*
                            $(
                                ($tiles, 1) => $amm_tiles::<1>(self, x, y, tables, space),
                                ($tiles, _) => $amm_tiles::<2>(self, x, y, tables, space),
                            )*
                        }
                    }
                }
                fn ams(self, shape: Shape, x: &mut [Vector], times: usize, tables: &[Vector], space: &mut [Vector]) {
                    // SAFETY: as above.
                    unsafe {
                        match (shape.vectors, shape.count) {
                            $(
                                ($in_registers, 1) => $ams::<1>(self, x, times, tables),
                                ($in_registers, _) => $ams::<2>(self, x, times, tables),
                            )*
                            $(
                                ($tiles, 1) => $ams_tiles::<1>(self, x, times, tables, space),
                                ($tiles, _) => $ams_tiles::<2>(self, x, times, tables, space),
                            )*
                        }
                    }
                }
                fn select_entry(self, shape: Shape, out: &mut [Vector], table: &[Vector], index: &[u64]) {
                    // SAFETY: as above.
                    unsafe {
                        match (shape.vectors, shape.count) {
                            (2, 1) => select::<1, 2>(self, out, table, index),
                            (2, _) => select::<2, 2>(self, out, table, index),
                            (3 | 6, 1) => select::<1, 3>(self, out, table, index),
                            (3 | 6, _) => select::<2, 3>(self, out, table, index),
                            (4 | 8, 1) => select::<1, 4>(self, out, table, index),
                            (4 | 8, _) => select::<2, 4>(self, out, table, index),
                            (_, 1) => select::<1, 5>(self, out, table, index),
                            _ => select::<2, 5>(self, out, table, index),
                        }
                    }
                }
            }
        }
    };

    (@registers [$($features:literal)?] $amm:ident $ams:ident<$v:literal, $t:literal, $h:literal>) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $amm<const SIDES: usize>(m: This, x: &mut [Vector], y: &[Vector], tables: &[Vector]) {
            pair::amm::<This, SIDES, $v, $t, $h>(m, x, y, tables)
        }

        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $ams<const SIDES: usize>(m: This, x: &mut [Vector], times: usize, tables: &[Vector]) {
            pair::ams::<This, SIDES, $v, $t, $h>(m, x, times, tables)
        }
    };

    (@tiles [$($features:literal)?] $amm:ident $ams:ident<$w:literal, $c:literal>) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $amm<const SIDES: usize>(
            m: This,
            x: &mut [Vector],
            y: &[Vector],
            tables: &[Vector],
            space: &mut [Vector],
        ) {
            pair::amm_tiles::<This, SIDES, $w, $c>(m, x, y, tables, space)
        }

        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $ams<const SIDES: usize>(
            m: This,
            x: &mut [Vector],
            times: usize,
            tables: &[Vector],
            space: &mut [Vector],
        ) {
            pair::ams_tiles::<This, SIDES, $w, $c>(m, x, times, tables, space)
        }
    };

    (@select [$($features:literal)?] $name:ident) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $name<const SIDES: usize, const N: usize>(m: This, out: &mut [Vector], table: &[Vector], index: &[u64]) {
            pair::select::<This, SIDES, N>(m, out, table, index)
        }
    };
}
