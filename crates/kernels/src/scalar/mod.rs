//! Numbers one at a time, in limbs of 64 bits: almost Montgomery multiplication by whole products and whole
//! reductions.
//!
//! This is the arithmetic of big-number libraries, for single requests: a vector machine computes eight at a
//! time. [`Kernels`] is the trait of the compiled operations; [`Context`] arranges them for exponentiation.

mod constants;
mod context;

pub use constants::Constants;
pub use context::Context;

/// The operations of one scalar machine, on numbers of `n` limbs, the least significant first.
///
/// `n` is a multiple of [`STEP`](Kernels::STEP), and above 0; numbers that need less are padded with zeros.
/// Operations panic on slices of other lengths, which only a mistake in this crate can cause. Time depends
/// only on `n`.
pub trait Kernels: Copy + Send + Sync + 'static {
    /// Lengths are multiples of this many limbs.
    const STEP: usize;

    /// `t ← a·b`. `t` has `2n` limbs, `a` and `b` have `n`. Cost: `n²` products.
    fn mul(self, t: &mut [u64], a: &[u64], b: &[u64]);

    /// `t ← a²`. `t` has `2n` limbs, `a` has `n`. Cost: `n(n + 1)/2` products.
    fn sqr(self, t: &mut [u64], a: &[u64]);

    /// `out ← (t + q·m) / R`, `R = 2^{64n}`, less `m` if that reaches `R`, with the `q < R` that makes the
    /// division exact. `mu` is `−m^{−1} mod 2^64`; `t` has `2n` limbs, and is overwritten; `out` and `m` have
    /// `n`.
    ///
    /// Bound: `t < R²` gives `(t + q·m)/R < R + m`, so that `out < R`, always; and `t < R·m` gives
    /// `out < 2m`. Cost: `n² + n` products (Montgomery 1985, limb by limb).
    fn reduce(self, out: &mut [u64], t: &mut [u64], m: &[u64], mu: u64);

    /// `out ← ` entry `index` of a table of entries as long as `out`. Reads the whole table.
    fn select(self, out: &mut [u64], table: &[u64], index: u64);
}
