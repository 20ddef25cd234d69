//! The machines of carry chains (one number across a vector, carries in masks), and what their operations
//! cost.

#[macro_use]
mod entry_points;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx512;

pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;

/// Vector instructions for each operation of [`zariz_kernels::carry::Machine`]; moves between registers,
/// loads and constants not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// `multiply`.
    pub multiply: u64,
    /// `multiply_first`.
    pub multiply_first: u64,
    /// `broadcast_first`.
    pub broadcast_first: u64,
    /// `add`.
    pub add: u64,
    /// `add_high`.
    pub add_high: u64,
    /// `add_where`.
    pub add_where: u64,
    /// `shift_down` and `shift_up`.
    pub shift: u64,
    /// `all_ones`, `equal` and `move_where`.
    pub compare: u64,
}

impl Costs {
    /// The costs of `Avx512` as it is written (that type exists only on x86-64, this constant everywhere).
    /// `cargo xtask codegen` compares it with the compiled code.
    pub const AVX512F: Self = Self {
        // Two multiplications and two shuffles.
        multiply: 4,
        multiply_first: 1,
        broadcast_first: 1,
        // Two additions, a ternary logic instruction and a test.
        add: 4,
        // Two additions and a comparison.
        add_high: 3,
        add_where: 1,
        shift: 1,
        compare: 1,
    };
}
