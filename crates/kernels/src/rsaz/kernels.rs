//! The compiled kernels of one machine.

use super::machine::Machine;
use super::workspace::Workspace;

/// The kernels of RSAZ, compiled for one machine: for each digit size, way to find quotients and common
/// length.
pub trait Kernels: Machine<Digit: bytemuck::Pod> {
    /// The cost of a vector multiply-accumulate, in tenths of a cycle: the limit of the processor's ports.
    /// Only the choice of window depends on it.
    const MAC_TENTHS: u32;

    /// [`super::multiply()`], with the digit size and quotients of the working space.
    fn multiply(self, space: &mut Workspace<Self>, x: &mut [Self::Digit], y: &[Self::Digit]);
    /// [`super::square()`], with the digit size and quotients of the working space.
    fn square(self, space: &mut Workspace<Self>, x: &mut [Self::Digit], times: usize);
    /// [`super::select()`].
    fn select(self, out: &mut [Self::Digit], table: &[Self::Digit], index: u64);
}
