//! Vector carry propagation chains: one multiplication spread across a vector in radix `2^32`, carries held
//! in masks.
//!
//! The source is paper `phirsa` (Zhao, Pan, Lin, Liu, Xue, Zheng: PhiRSA, 2016), written for a coprocessor
//! with sixteen 32-bit lanes, an addition with carry into and out of a mask, and both halves of a 32-bit
//! product. The layers are those of [`batch`](crate::batch), for single numbers:
//!
//! * [`Machine`]: the operations of a machine, on vectors of sixteen digits.
//! * [`Chains`]: a window of accumulators with its four chains of carries, and what a round does to it
//!   (slides "Four VCPCs", "Computing q").
//! * [`tail`]: the carries that are left when the rounds are over, in a fixed number of steps.
//! * [`amm()`]: whole multiplications: in one window, or split into parts (slide "2048-bit Montgomery
//!   Multiplication").
//! * [`Kernels`]: the compiled kernels of one machine.
//! * [`Constants`]: the precomputed constants of a modulus. [`Context`]: the arithmetic, an implementation of
//!   [`Montgomery`](crate::Montgomery).
//!
//! # Bounds
//!
//! A number has `n` digits, `R = 2^{32n}`, and the modulus is any odd `M` with `1 < M < R`: no bit is spared.
//! Numbers in Montgomery form are below `R`, not necessarily below `M`. For `a, b < R` the rounds yield
//! `S = (a·b + Q·M)/R` with `Q < R`, so `S < a·b/R + M < R + M`; where `S ≥ R`, as the carry out of the
//! topmost digit shows, `M` is subtracted once, under a mask: below `R` again. (The paper subtracts where
//! `S ≥ M`. That needs a comparison, and a number in Montgomery form gains nothing from it.)

mod amm;
mod chains;
mod constants;
mod context;
mod machine;
mod select;
pub mod tail;

pub use amm::amm;
pub use chains::Chains;
pub use constants::Constants;
pub use context::Context;
pub use machine::{DIGITS, Digits, Kernels, Machine, Modulus, SCRATCH, WIDEST};
pub use select::select;
