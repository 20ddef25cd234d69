//! Montgomery's reduction.

use core::arch::naked_asm;

use super::rows::{accumulators, eight, enter, leave, load_block, other_blocks, products, rows};

/// A row whose multiplier, `$q`, makes its own lowest limb 0: `q = S·μ mod 2^64`. It is written in that limb's
/// place. `x2` is `μ`; the next quotient goes to `$next`.
///
/// The low half of `q·m[0]` is not computed: with the limb that it makes 0 it carries, unless that limb is 0
/// already. So the second chain begins with the carry of `limb − 1`.
macro_rules! quotient_row {
    ($at:tt, $q:literal $next:literal, $h0:literal $h1:literal $($h:literal)*) => {
        concat!(
            "str ", $q, ", [x0, ", $at, "]\n",
            products!(
                $q, "adds", $h0 $h1 $($h)*,
                [concat!("subs xzr, ", $h0, ", 1\n")], [quotient!($at, $next, $h1)]
            ),
        )
    };
}

/// The quotient of the row behind that at an offset.
macro_rules! quotient {
    ("56", $next:literal, $h:literal) => {
        ""
    };
    ($at:tt, $next:literal, $h:literal) => {
        concat!("mul ", $next, ", ", $h, ", x2\n")
    };
}

/// `out ← (t + q·m)/R`, less `m` if that reaches `R = 2^{512k}`; `out` and `m` of `8k` limbs, `t` of `16k`,
/// overwritten; `mu = −m^{−1} mod 2^64`. Bound: see [`zariz_kernels::scalar::Kernels::reduce`]. Cost: `64k²`
/// products.
///
/// Eight quotients at a time, found in the rows of the lowest block of `m`, then rows of those by the other
/// blocks.
///
/// # Safety
/// `out` and `m` are valid for `8k` limbs, `t` for `16k`, `k > 0`, and `t` overlaps neither of the others.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn reduce(out: *mut u64, t: *mut u64, m: *const u64, mu: u64, k: usize) {
    // The stack: m, μ, k, the carry, the rest of j, out.
    naked_asm!(
        enter!(),
        "stp x2, x3, [sp]",
        "stp x4, xzr, [sp, 16]",
        "stp x4, x0, [sp, 32]",
        "mov x0, x1",
        "3:",
        "ldp x1, x2, [sp]",
        "ldr x3, [sp, 16]",
        accumulators!(load),
        load_block!(),
        "mul x21, x12, x2",
        eight!(quotient_row),
        "mov x2, x0",
        other_blocks!(),
        // The carry of the eight limbs before these.
        "ldp x21, x3, [sp, 24]",
        "ldp x4, x5, [x0]\n ldp x6, x7, [x0, 16]\n ldp x8, x9, [x0, 32]\n ldp x10, x11, [x0, 48]",
        "subs xzr, x21, 1",
        "adcs x12, x12, x4\n adcs x13, x13, x5\n adcs x14, x14, x6\n adcs x15, x15, x7",
        "adcs x16, x16, x8\n adcs x17, x17, x9\n adcs x19, x19, x10\n adcs x20, x20, x11",
        "adc x21, xzr, xzr",
        accumulators!(store),
        "add x0, x2, 64",
        "sub x3, x3, 1",
        "stp x21, x3, [sp, 24]",
        "cbnz x3, 3b",
        // out ← t[8k..] − m, masked; x21: all ones, or 0.
        "sub x21, xzr, x21",
        "ldr x1, [sp]",
        "ldr x3, [sp, 16]",
        "ldr x2, [sp, 40]",
        "subs xzr, xzr, xzr", // no borrow
        "6:",
        load_block!(),
        "add x1, x1, 64",
        accumulators!(load),
        "add x0, x0, 64",
        "and x4, x4, x21\n and x5, x5, x21\n and x6, x6, x21\n and x7, x7, x21",
        "and x8, x8, x21\n and x9, x9, x21\n and x10, x10, x21\n and x11, x11, x21",
        "sbcs x12, x12, x4\n sbcs x13, x13, x5\n sbcs x14, x14, x6\n sbcs x15, x15, x7",
        "sbcs x16, x16, x8\n sbcs x17, x17, x9\n sbcs x19, x19, x10\n sbcs x20, x20, x11",
        "stp x12, x13, [x2]\n stp x14, x15, [x2, 16]\n stp x16, x17, [x2, 32]\n stp x19, x20, [x2, 48]",
        "add x2, x2, 64",
        "sub x3, x3, 1",
        "cbnz x3, 6b",
        // μ and the carry depend on the modulus.
        "str xzr, [sp, 8]",
        "str xzr, [sp, 24]",
        leave!(),
        rows = sym rows,
    )
}
