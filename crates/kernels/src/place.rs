//! Working memory: at a chosen place within its page, and wiped when dropped.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};
use zeroize::optimization_barrier;

/// Loads compare the low twelve bits of their address with older stores under way, and wait for a match that
/// may not be one. Accumulators and the numbers that are multiplied into them therefore start at different
/// places of a page.
const PAGE: usize = 4096;

/// Where columns start within a page.
pub(crate) const COLUMNS: usize = 0;
/// Where numbers start within a page: measured, 1024-bit squarings are up to 4 % slower at 0 or 1024.
pub(crate) const NUMBERS: usize = 2048;

/// A slice of its own that is overwritten with zeros when dropped.
pub struct Placed<T: Copy> {
    store: Vec<T>,
    start: usize,
    len: usize,
    zero: T,
    offset: Option<usize>,
}

impl<T: Copy> Placed<T> {
    /// `len` copies of `zero`, `offset` bytes into a page (or as near as the size of `T` allows), or
    /// anywhere.
    pub(crate) fn new(zero: T, len: usize, offset: Option<usize>) -> Self {
        let size = size_of::<T>().max(1);
        let mut store = Vec::with_capacity(len + offset.map_or(0, |_| PAGE / size));
        let address = store.as_ptr() as usize % PAGE;
        let start = offset.map_or(0, |offset| (offset + PAGE - address) % PAGE / size);
        store.resize(start + len, zero);
        Self { store, start, len, zero, offset }
    }
}

impl<T: Copy> Clone for Placed<T> {
    fn clone(&self) -> Self {
        let mut out = Self::new(self.zero, self.len, self.offset);
        out.copy_from_slice(self);
        out
    }
}

impl<T: Copy> Deref for Placed<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.store[self.start..self.start + self.len]
    }
}

impl<T: Copy> DerefMut for Placed<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.store[self.start..self.start + self.len]
    }
}

impl<T: Copy> Drop for Placed<T> {
    fn drop(&mut self) {
        let zero = self.zero;
        self.fill(zero);
        optimization_barrier(&self[..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lies_where_it_should() {
        #[derive(Clone, Copy)]
        #[repr(align(64))]
        struct Vector([u64; 8]);
        for offset in [COLUMNS, NUMBERS] {
            let placed = Placed::new(Vector([0; 8]), 77, Some(offset)).clone();
            assert_eq!((placed.len(), placed.as_ptr() as usize % PAGE), (77, offset));
            assert!(placed.iter().all(|vector| vector.0 == [0; 8]));
        }
    }
}
