//! How large numbers in Montgomery form can be: the constants that the code uses.
//!
//! A bound is in multiples of the modulus `M`, and numbers are below it. `analysis` proves, from the worst
//! operands and with exact integers, that no operation leaves these bounds (docs/generated/results.md).

/// Bits that are free above a modulus: `R ≥ 2^3·M` in [`batch`](crate::batch), [`pair`](crate::pair) and
/// [`rsaz`](crate::rsaz).
pub const FREE_BITS: usize = 3;
/// Numbers in Montgomery form are below `4M` there.
pub const BOUND: usize = 4;
/// A product of a number below `R` and one below `M` is below `3M`: so are numbers that enter or leave.
pub const REDUCED: usize = 3;

/// [`FREE_BITS`] with almost-half-Montgomery multiplication: `R ≥ 32M`.
pub const FREE_BITS_AHMM: usize = 5;
/// [`BOUND`] with almost-half-Montgomery multiplication.
pub const BOUND_AHMM: usize = 5;
/// The `K` of a table entry is below `17M/8` (see [`batch::ahmm`](crate::batch::ahmm)).
pub const K_AHMM_EIGHTHS: usize = 17;

/// In a private operation of RSA, the sum of its two parts is below `6M`.
pub const PARTS: usize = 2 * REDUCED;
/// The product of that sum by an inverse mask below `3M` is below `5M`.
pub const UNMASKED: usize = 5;

/// [`REDUCED`] where numbers in Montgomery form are below `R`, and a modulus need only be below `R`: in
/// [`scalar`](crate::scalar) and `carry`.
pub const REDUCED_FULL: usize = 2;

/// Bits that are free above a modulus where numbers are doubled `2^window − 1` times before each square:
/// `R ≥ 2^(2(2^window + 1))·M` (see [`batch::doubling`](crate::batch::doubling)).
pub const fn free_bits_for_doubling(window: usize) -> usize {
    2 * ((1 << window) + 1)
}

// A reduction by friendly multiples leaves less than T/R + 2M. Of x, y < 4M:
const _: () = assert!(BOUND * BOUND <= (BOUND - 2) << FREE_BITS);
// Of x < R and y < M, so that T/R < M:
const _: () = assert!(REDUCED == 1 + 2);
// Squares of x < 5M are below 3M, as table entries are.
const _: () = assert!(BOUND_AHMM * BOUND_AHMM <= (REDUCED - 2) << FREE_BITS_AHMM);
// K and x·B/R of x < 5M and an entry B < 3M are together below 3M.
const _: () = assert!(
    (K_AHMM_EIGHTHS << FREE_BITS_AHMM) + 8 * BOUND_AHMM * REDUCED <= (8 * (BOUND_AHMM - 2)) << FREE_BITS_AHMM
);
// The sum of the parts of a private operation, by an inverse mask; and that by a number below M, to leave.
const _: () =
    assert!(PARTS * REDUCED <= (UNMASKED - 2) << FREE_BITS && UNMASKED <= (REDUCED - 2) << FREE_BITS);
