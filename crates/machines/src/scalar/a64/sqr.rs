//! Squares.

use core::arch::naked_asm;

use super::rows::{accumulators, enter, leave, load_block, other_blocks, rows, zero_blocks};

/// A row of the triangle above the diagonal: the block's limb `$y` multiplies only the limbs above it. As in
/// [`super::rows`], the accumulator that becomes free takes the highest limb; the lowest goes to `t[at]`.
/// `highs` are limbs and the accumulators of their high halves, but for the highest limb; `lows` likewise.
macro_rules! triangle_row {
    ($at:literal, $y:literal, $h0:literal, highs: ($a0:literal $high0:literal) $(($a:literal $high:literal))*,
        lows: $lows:tt) => {
        concat!(
            "umulh x23, ", $a0, ", ", $y, "\n adds ", $high0, ", ", $high0, ", x23\n",
            $("umulh x23, ", $a, ", ", $y, "\n adcs ", $high, ", ", $high, ", x23\n",)*
            "umulh x24, x11, ", $y, "\n adc x24, x24, xzr\n",
            triangle_row!(lows: $at, $y, $h0, $lows),
        )
    };
    ($at:literal, $y:literal, $h0:literal, lows: $lows:tt) => {
        concat!("umulh x24, x11, ", $y, "\n", triangle_row!(lows: $at, $y, $h0, $lows))
    };
    (lows: $at:literal, $y:literal, $h0:literal,
        [($a0:literal $low0:literal) $(($a:literal $low:literal))*]) => {
        concat!(
            "str ", $h0, ", [x0, ", $at, "]\n",
            "mul x25, ", $a0, ", ", $y, "\n adds ", $low0, ", ", $low0, ", x25\n",
            $("mul x25, ", $a, ", ", $y, "\n adcs ", $low, ", ", $low, ", x25\n",)*
            "adc ", $h0, ", x24, xzr\n",
        )
    };
}

/// `t ← a²`, for `a` of `8k` limbs, `t` of `16k`. Cost: `4k(8k + 1)` products.
///
/// For each block the products above the diagonal, its triangle and then its rows by the blocks above it.
/// Behind these, its sixteen limbs of `t` get no more products: they are doubled, and the squares on the
/// diagonal are added.
///
/// # Safety
/// `a` is valid for `8k` limbs, `t` for `16k`, `k > 0`, and `t` does not overlap `a`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sqr(t: *mut u64, a: *const u64, k: usize) {
    // The stack: t[16j], the rest of j; the carries of doubling and of the diagonal.
    naked_asm!(
        enter!(),
        "mov x3, x2",
        "stp x0, x3, [sp]",
        "stp xzr, xzr, [sp, 16]",
        "mov x2, x1",
        "mov x4, x3",
        "mov x5, x0",
        zero_blocks!(),
        "3:",
        accumulators!(load),
        load_block!(),
        triangle_row!("0", "x4", "x12", highs: ("x5" "x14") ("x6" "x15") ("x7" "x16") ("x8" "x17") ("x9" "x19") ("x10" "x20"),
            lows: [("x5" "x13") ("x6" "x14") ("x7" "x15") ("x8" "x16") ("x9" "x17") ("x10" "x19") ("x11" "x20")]),
        triangle_row!("8", "x5", "x13", highs: ("x6" "x16") ("x7" "x17") ("x8" "x19") ("x9" "x20") ("x10" "x12"),
            lows: [("x6" "x15") ("x7" "x16") ("x8" "x17") ("x9" "x19") ("x10" "x20") ("x11" "x12")]),
        triangle_row!("16", "x6", "x14", highs: ("x7" "x19") ("x8" "x20") ("x9" "x12") ("x10" "x13"),
            lows: [("x7" "x17") ("x8" "x19") ("x9" "x20") ("x10" "x12") ("x11" "x13")]),
        triangle_row!("24", "x7", "x15", highs: ("x8" "x12") ("x9" "x13") ("x10" "x14"),
            lows: [("x8" "x20") ("x9" "x12") ("x10" "x13") ("x11" "x14")]),
        triangle_row!("32", "x8", "x16", highs: ("x9" "x14") ("x10" "x15"),
            lows: [("x9" "x13") ("x10" "x14") ("x11" "x15")]),
        triangle_row!("40", "x9", "x17", highs: ("x10" "x16"),
            lows: [("x10" "x15") ("x11" "x16")]),
        triangle_row!("48", "x10", "x19", lows: [("x11" "x17")]),
        // The block's last limb has nothing above it.
        "str x20, [x0, 56]",
        "mov x20, xzr",
        other_blocks!(),
        accumulators!(store),
        // The diagonal, four limbs of a at a time.
        "ldr x0, [sp]",
        "ldp x25, x26, [sp, 16]",
        "mov x3, 2",
        "6:",
        "ldp x21, x22, [x2]\n ldp x23, x24, [x2, 16]",
        "ldp x4, x5, [x0]\n ldp x6, x7, [x0, 16]\n ldp x8, x9, [x0, 32]\n ldp x10, x11, [x0, 48]",
        "mul x12, x21, x21\n umulh x13, x21, x21\n mul x14, x22, x22\n umulh x15, x22, x22",
        "mul x16, x23, x23\n umulh x17, x23, x23\n mul x19, x24, x24\n umulh x20, x24, x24",
        "subs xzr, x25, 1",
        "adcs x4, x4, x4\n adcs x5, x5, x5\n adcs x6, x6, x6\n adcs x7, x7, x7",
        "adcs x8, x8, x8\n adcs x9, x9, x9\n adcs x10, x10, x10\n adcs x11, x11, x11",
        "adc x25, xzr, xzr",
        "subs xzr, x26, 1",
        "adcs x4, x4, x12\n adcs x5, x5, x13\n adcs x6, x6, x14\n adcs x7, x7, x15",
        "adcs x8, x8, x16\n adcs x9, x9, x17\n adcs x10, x10, x19\n adcs x11, x11, x20",
        "adc x26, xzr, xzr",
        "stp x4, x5, [x0]\n stp x6, x7, [x0, 16]\n stp x8, x9, [x0, 32]\n stp x10, x11, [x0, 48]",
        "add x0, x0, 64",
        "add x2, x2, 32",
        "sub x3, x3, 1",
        "cbnz x3, 6b",
        "stp x25, x26, [sp, 16]",
        "ldr x3, [sp, 8]",
        "mov x1, x2",
        "sub x3, x3, 1",
        "stp x0, x3, [sp]",
        "cbnz x3, 3b",
        // The carries depend on the number.
        "stp xzr, xzr, [sp, 16]",
        leave!(),
        rows = sym rows,
    )
}
