//! Rows: one limb times a block of eight, added to eight accumulators; and the frame of the operations.

use core::arch::naked_asm;

/// Saves what an operation must restore, and makes room for 48 bytes, which begin at `sp`.
macro_rules! enter {
    () => {
        concat!(
            begin!(),
            "sub sp, sp, 144\n",
            cfi!("def_cfa_offset 144"),
            "stp x19, x20, [sp, 48]\n stp x21, x22, [sp, 64]\n stp x23, x24, [sp, 80]\n",
            "stp x25, x26, [sp, 96]\n stp x27, x28, [sp, 112]\n str x30, [sp, 128]\n",
            cfi!("offset x19, -96"),
            cfi!("offset x20, -88"),
            cfi!("offset x21, -80"),
            cfi!("offset x22, -72"),
            cfi!("offset x23, -64"),
            cfi!("offset x24, -56"),
            cfi!("offset x25, -48"),
            cfi!("offset x26, -40"),
            cfi!("offset x27, -32"),
            cfi!("offset x28, -24"),
            cfi!("offset x30, -16"),
        )
    };
}
pub(super) use enter;

/// Undoes [`enter`], and returns.
macro_rules! leave {
    () => {
        concat!(
            "ldp x19, x20, [sp, 48]\n ldp x21, x22, [sp, 64]\n ldp x23, x24, [sp, 80]\n",
            "ldp x25, x26, [sp, 96]\n ldp x27, x28, [sp, 112]\n ldr x30, [sp, 128]\n",
            "add sp, sp, 144\n",
            cfi!("def_cfa_offset 0"),
            end!(),
        )
    };
}
pub(super) use leave;

/// One row: `t[at] ← low limb of S`, `accumulators ← ⌊S/2^64⌋`, with `S = accumulators + t[at] + block·x21`.
///
/// `S < 2^512 + 2^64 − 1 + (2^512 − 1)(2^64 − 1) ≤ 2^576 − 1`: nothing is carried out of nine limbs. The first
/// chain takes `t[at]` and the high halves, the second the low halves. The accumulator that becomes free takes
/// the highest limb: the next row names them one further. `lowest` adds the lowest limb's product and begins
/// the second chain.
///
/// Precondition: `x21` is the multiplier, `t[at]` is added to the lowest accumulator, with its carry in the
/// flag. Cost: 8 products, 18 additions with carry, that of `t[at]` included.
macro_rules! products {
    ($h0:literal $h1:literal $h2:literal $h3:literal $h4:literal $h5:literal $h6:literal $h7:literal, $($lowest:tt)*) => {
        concat!(
            "umulh x23, x4, x21\n umulh x24, x5, x21\n umulh x25, x6, x21\n umulh x26, x7, x21\n",
            "umulh x27, x8, x21\n adcs ", $h1, ", ", $h1, ", x23\n",
            "umulh x23, x9, x21\n adcs ", $h2, ", ", $h2, ", x24\n",
            "umulh x24, x10, x21\n adcs ", $h3, ", ", $h3, ", x25\n",
            "umulh x28, x11, x21\n adcs ", $h4, ", ", $h4, ", x26\n",
            "mul x25, x5, x21\n adcs ", $h5, ", ", $h5, ", x27\n",
            "mul x26, x6, x21\n adcs ", $h6, ", ", $h6, ", x23\n",
            "mul x27, x7, x21\n adcs ", $h7, ", ", $h7, ", x24\n",
            "mul x23, x8, x21\n adc x28, x28, xzr\n",
            $($lowest)*,
            "mul x24, x9, x21\n adcs ", $h1, ", ", $h1, ", x25\n",
            "mul x25, x10, x21\n adcs ", $h2, ", ", $h2, ", x26\n",
            "mul x26, x11, x21\n adcs ", $h3, ", ", $h3, ", x27\n",
            "adcs ", $h4, ", ", $h4, ", x23\n adcs ", $h5, ", ", $h5, ", x24\n",
            "adcs ", $h6, ", ", $h6, ", x25\n adcs ", $h7, ", ", $h7, ", x26\n",
            "adc ", $h0, ", x28, xzr\n",
        )
    };
}
pub(super) use products;

/// Eight rows: a macro for each, with its offset and its accumulators in order.
macro_rules! eight {
    ($row:ident) => {
        concat!(
            $row!("0", "x12" "x13" "x14" "x15" "x16" "x17" "x19" "x20"),
            $row!("8", "x13" "x14" "x15" "x16" "x17" "x19" "x20" "x12"),
            $row!("16", "x14" "x15" "x16" "x17" "x19" "x20" "x12" "x13"),
            $row!("24", "x15" "x16" "x17" "x19" "x20" "x12" "x13" "x14"),
            $row!("32", "x16" "x17" "x19" "x20" "x12" "x13" "x14" "x15"),
            $row!("40", "x17" "x19" "x20" "x12" "x13" "x14" "x15" "x16"),
            $row!("48", "x19" "x20" "x12" "x13" "x14" "x15" "x16" "x17"),
            $row!("56", "x20" "x12" "x13" "x14" "x15" "x16" "x17" "x19"),
        )
    };
}
pub(super) use eight;

macro_rules! row {
    ($at:literal, $h0:literal $($h:literal)*) => {
        concat!(
            "ldr x21, [x2, ", $at, "]\n ldr x22, [x0, ", $at, "]\n",
            "adds ", $h0, ", ", $h0, ", x22\n mul x22, x4, x21\n",
            products!(
                $h0 $($h)*,
                concat!("adds ", $h0, ", ", $h0, ", x22\n str ", $h0, ", [x0, ", $at, "]\n")
            ),
        )
    };
}

/// The accumulators, from the lowest limb.
macro_rules! accumulators {
    (clear) => {
        "mov x12, xzr\n mov x13, xzr\n mov x14, xzr\n mov x15, xzr\n\
         mov x16, xzr\n mov x17, xzr\n mov x19, xzr\n mov x20, xzr\n"
    };
    (store) => {
        "stp x12, x13, [x0]\n stp x14, x15, [x0, 16]\n stp x16, x17, [x0, 32]\n stp x19, x20, [x0, 48]\n"
    };
}
pub(super) use accumulators;

/// Loads the block at `x1`.
macro_rules! load_block {
    () => {
        "ldp x4, x5, [x1]\n ldp x6, x7, [x1, 16]\n ldp x8, x9, [x1, 32]\n ldp x10, x11, [x1, 48]\n"
    };
}
pub(super) use load_block;

/// Writes zeros to the `x4` blocks at `x5`, above 0.
macro_rules! zero_blocks {
    () => {
        "2:\n stp xzr, xzr, [x5]\n stp xzr, xzr, [x5, 16]\n stp xzr, xzr, [x5, 32]\n stp xzr, xzr, [x5, 48]\n\
         add x5, x5, 64\n sub x4, x4, 1\n cbnz x4, 2b\n"
    };
}
pub(super) use zero_blocks;

/// Eight rows by the block at `x1`: `t[0..8] ←` the low limbs of
/// `accumulators + t[0..8] + block·multipliers`, `accumulators ←` its high limbs.
///
/// A part of the operations, not a function: its registers are those of [`super`].
///
/// # Safety
/// Only the operations may call it, with `x0`, `x1` and `x2` each at eight limbs.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn rows() {
    naked_asm!(begin!(), load_block!(), eight!(row), end!())
}
