//! The facts of a machine that an interpretation of it has too.

use zariz_kernels::batch;
use zariz_machines::batch::Find;

/// The facts of a machine on which the work of the kernels depends.
pub trait Model: Copy + Send + Sync + 'static {
    /// The name, as `zariz::Engine` has it.
    const NAME: &'static str;
    /// [`batch::Machine::LANES`] of the machine; interpretations have one lane, since all lanes do the same.
    const LANES: usize;
    /// [`batch::Machine::DIGIT_BITS`].
    const DIGIT_BITS: u32;
    /// [`batch::Machine::BIAS_LO`].
    const BIAS_LO: u64;
    /// [`batch::Machine::BIAS_HI`].
    const BIAS_HI: u64;
    /// [`batch::Machine::SIGNED`]: the quotient of a product is then the nearest integer, and what remains
    /// can be negative.
    const SIGNED: bool;
    /// [`batch::Machine::TWO_ROWS`].
    const TWO_ROWS: bool;
    /// [`batch::Machine::FOUR_ROWS`].
    const FOUR_ROWS: bool;
    /// [`batch::Kernels::PRODUCT_TENTHS`].
    const PRODUCT_TENTHS: u32;
    /// [`batch::Kernels::MAX_TILE`].
    const MAX_TILE: usize;
    /// [`batch::Kernels::MAX_SQUARE`].
    const MAX_SQUARE: usize;
    /// [`batch::Kernels::MAX_TRIANGLE`].
    const MAX_TRIANGLE: usize;
    /// [`batch::Kernels::MAX_IN_REGISTERS`].
    const MAX_IN_REGISTERS: usize;
    /// [`batch::Kernels::MAX_TWO_TERMS`].
    const MAX_TWO_TERMS: usize;
    /// [`batch::Kernels::MAX_TERMS`].
    const MAX_TERMS: usize;
    /// [`batch::Kernels::MAX_SELECT`].
    const MAX_SELECT: usize;
    /// [`batch::Kernels::TILED_FROM`].
    const TILED_FROM: usize;
    /// [`batch::Kernels::KARATSUBA_FROM`].
    const KARATSUBA_FROM: usize;
    /// [`batch::Kernels::AHMM_FROM`].
    const AHMM_FROM: usize;
}

/// A machine is its own model.
impl<M: Find> Model for M {
    const NAME: &'static str = <M as Find>::NAME;
    const LANES: usize = <M as batch::Machine>::LANES;
    const DIGIT_BITS: u32 = <M as batch::Machine>::DIGIT_BITS;
    const BIAS_LO: u64 = <M as batch::Machine>::BIAS_LO;
    const BIAS_HI: u64 = <M as batch::Machine>::BIAS_HI;
    const SIGNED: bool = <M as batch::Machine>::SIGNED;
    const TWO_ROWS: bool = <M as batch::Machine>::TWO_ROWS;
    const FOUR_ROWS: bool = <M as batch::Machine>::FOUR_ROWS;
    const PRODUCT_TENTHS: u32 = <M as batch::Kernels>::PRODUCT_TENTHS;
    const MAX_TILE: usize = <M as batch::Kernels>::MAX_TILE;
    const MAX_SQUARE: usize = <M as batch::Kernels>::MAX_SQUARE;
    const MAX_TRIANGLE: usize = <M as batch::Kernels>::MAX_TRIANGLE;
    const MAX_IN_REGISTERS: usize = <M as batch::Kernels>::MAX_IN_REGISTERS;
    const MAX_TWO_TERMS: usize = <M as batch::Kernels>::MAX_TWO_TERMS;
    const MAX_TERMS: usize = <M as batch::Kernels>::MAX_TERMS;
    const MAX_SELECT: usize = <M as batch::Kernels>::MAX_SELECT;
    const TILED_FROM: usize = <M as batch::Kernels>::TILED_FROM;
    const KARATSUBA_FROM: usize = <M as batch::Kernels>::KARATSUBA_FROM;
    const AHMM_FROM: usize = <M as batch::Kernels>::AHMM_FROM;
}
