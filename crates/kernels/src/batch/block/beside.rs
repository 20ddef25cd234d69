//! Work beside products: additions that a processor executes while it multiplies, if their instructions are
//! mixed.

use crate::batch::Machine;

/// Work in steps. A product calls a step after each multiply-accumulate, or after a few.
pub(crate) trait Beside<M: Machine> {
    /// Step `n`, from 0 on; there may be more steps than there is work.
    fn step(&mut self, m: M, n: usize);
}

/// No work.
impl<M: Machine> Beside<M> for () {
    #[inline(always)]
    fn step(&mut self, _: M, _: usize) {}
}

/// Two pieces of work, in the same steps.
impl<M: Machine, A: Beside<M>, B: Beside<M>> Beside<M> for (A, B) {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        self.0.step(m, n);
        self.1.step(m, n);
    }
}

/// Optional work.
impl<M: Machine, A: Beside<M>> Beside<M> for Option<A> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if let Some(work) = self {
            work.step(m, n);
        }
    }
}

/// Takes the columns of a product as they become complete: each once, from the lowest up.
pub(crate) trait Sink<M: Machine> {
    /// Column `k`.
    fn put(&mut self, m: M, k: usize, column: M::Column);
}

/// Stores each column at its index.
impl<M: Machine> Sink<M> for [M::Column] {
    #[inline(always)]
    fn put(&mut self, _: M, k: usize, column: M::Column) {
        self[k] = column;
    }
}
