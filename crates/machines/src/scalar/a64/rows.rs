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

/// One row: `accumulators ← ⌊S/2^64⌋`, with `S = accumulators + block·$y`; the low limb of `S` is left to
/// `$lowest`.
///
/// `S ≤ 2^512 − 1 + (2^512 − 1)(2^64 − 1) < 2^576`, and with a limb that is added before, at most `2^576 − 1`:
/// nothing is carried out of nine limbs. The first chain takes the low halves. It begins with `$first`: ADDS,
/// or ADCS with that limb's carry. The second takes the high halves. `$lowest` adds the low half of the lowest
/// limb, which begins that chain; `$next` comes behind its next limb, which is final then, and keeps the flags.
/// The accumulator that becomes free takes the highest limb: the next row names them one further. Cost: 8
/// products, 17 additions.
macro_rules! products {
    ($y:literal, $first:literal,
        $h0:literal $h1:literal $h2:literal $h3:literal $h4:literal $h5:literal $h6:literal $h7:literal,
        [$($lowest:tt)*], [$($next:tt)*]) => {
        concat!(
            "mul x23, x5, ", $y, "\n umulh x24, x4, ", $y, "\n",
            "mul x25, x6, ", $y, "\n mul x26, x7, ", $y, "\n",
            "mul x27, x8, ", $y, "\n ", $first, " ", $h1, ", ", $h1, ", x23\n",
            "mul x23, x9, ", $y, "\n adcs ", $h2, ", ", $h2, ", x25\n",
            "mul x25, x10, ", $y, "\n adcs ", $h3, ", ", $h3, ", x26\n",
            "mul x26, x11, ", $y, "\n adcs ", $h4, ", ", $h4, ", x27\n",
            "umulh x27, x5, ", $y, "\n adcs ", $h5, ", ", $h5, ", x23\n",
            "umulh x23, x6, ", $y, "\n adcs ", $h6, ", ", $h6, ", x25\n",
            "umulh x25, x7, ", $y, "\n adcs ", $h7, ", ", $h7, ", x26\n",
            "adc x28, xzr, xzr\n",
            $($lowest)*,
            "adcs ", $h1, ", ", $h1, ", x24\n",
            $($next)*,
            "umulh x24, x8, ", $y, "\n adcs ", $h2, ", ", $h2, ", x27\n",
            "umulh x26, x9, ", $y, "\n adcs ", $h3, ", ", $h3, ", x23\n",
            "umulh x27, x10, ", $y, "\n adcs ", $h4, ", ", $h4, ", x25\n",
            "umulh x23, x11, ", $y, "\n adcs ", $h5, ", ", $h5, ", x24\n",
            "adcs ", $h6, ", ", $h6, ", x26\n adcs ", $h7, ", ", $h7, ", x27\n",
            "adc ", $h0, ", x23, x28\n",
        )
    };
}
pub(super) use products;

/// Eight rows: a macro for each, with its offset, two registers that change places from row to row, and its
/// accumulators in order.
macro_rules! eight {
    ($row:ident) => {
        concat!(
            $row!("0", "x21" "x22", "x12" "x13" "x14" "x15" "x16" "x17" "x19" "x20"),
            $row!("8", "x22" "x21", "x13" "x14" "x15" "x16" "x17" "x19" "x20" "x12"),
            $row!("16", "x21" "x22", "x14" "x15" "x16" "x17" "x19" "x20" "x12" "x13"),
            $row!("24", "x22" "x21", "x15" "x16" "x17" "x19" "x20" "x12" "x13" "x14"),
            $row!("32", "x21" "x22", "x16" "x17" "x19" "x20" "x12" "x13" "x14" "x15"),
            $row!("40", "x22" "x21", "x17" "x19" "x20" "x12" "x13" "x14" "x15" "x16"),
            $row!("48", "x21" "x22", "x19" "x20" "x12" "x13" "x14" "x15" "x16" "x17"),
            $row!("56", "x22" "x21", "x20" "x12" "x13" "x14" "x15" "x16" "x17" "x19"),
        )
    };
}
pub(super) use eight;

/// A row that also adds `t[at]`: `t[at] ← low limb of S + t[at]`, the rest goes to the accumulators.
macro_rules! row {
    ($at:literal, $y:literal $z:literal, $h0:literal $($h:literal)*) => {
        concat!(
            "ldr ", $y, ", [x2, ", $at, "]\n ldr ", $z, ", [x0, ", $at, "]\n",
            "adds ", $h0, ", ", $h0, ", ", $z, "\n mul ", $z, ", x4, ", $y, "\n",
            products!(
                $y, "adcs", $h0 $($h)*,
                [concat!("adds ", $h0, ", ", $h0, ", ", $z, "\n str ", $h0, ", [x0, ", $at, "]\n")], [""]
            ),
        )
    };
}

/// A row whose accumulators have `t[at]` already.
macro_rules! first_row {
    ($at:literal, $y:literal $z:literal, $h0:literal $($h:literal)*) => {
        concat!(
            "ldr ", $y, ", [x2, ", $at, "]\n mul ", $z, ", x4, ", $y, "\n",
            products!(
                $y, "adds", $h0 $($h)*,
                [concat!("adds ", $h0, ", ", $h0, ", ", $z, "\n str ", $h0, ", [x0, ", $at, "]\n")], [""]
            ),
        )
    };
}
pub(super) use first_row;

/// The accumulators, from the lowest limb.
macro_rules! accumulators {
    (load) => {
        "ldp x12, x13, [x0]\n ldp x14, x15, [x0, 16]\n ldp x16, x17, [x0, 32]\n ldp x19, x20, [x0, 48]\n"
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

/// The rows of the other `x3 − 1` blocks, behind those of the block at `x1`, whose result `x0` is at. The
/// operand `rows` is the function.
macro_rules! other_blocks {
    () => {
        "b 5f\n4:\n bl {rows}\n5:\n add x0, x0, 64\n add x1, x1, 64\n sub x3, x3, 1\n cbnz x3, 4b\n"
    };
}
pub(super) use other_blocks;

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
