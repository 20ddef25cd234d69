//! Working memory: at a chosen place within its page, and wiped when dropped.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};
use zeroize::optimization_barrier;

/// Loads compare the low twelve bits of their address with older stores under way, and wait for a match that
/// may not be one. Accumulators and the numbers that are multiplied into them therefore start at different
/// places of a page. (Zen 4 seems to compare some four bits more, of the physical page: see "Places in memory" in
/// docs/notes/performance.md.)
const PAGE: usize = 4096;

/// Where columns start within a page.
pub(crate) const COLUMNS: usize = 0;
/// Where numbers start within a page: measured, 1024-bit squarings are up to 4 % slower at 0 or 1024.
pub(crate) const NUMBERS: usize = 2048;

/// So many lines of 64 bytes behind [`NUMBERS`], around the end of a page if need be.
pub(crate) const fn behind_numbers(lines: usize) -> usize {
    (NUMBERS + 64 * lines) % PAGE
}

/// A slice of its own that is overwritten with zeros when dropped.
///
/// All fields are whole words, so there is no padding: a move of padding would copy what the stack had there, which may
/// be a secret, to where nothing overwrites it.
pub struct Placed<T: Copy> {
    /// What lies before the slice, the slice, what lies behind it, and last a zero, with which it is wiped.
    store: Vec<T>,
    start: usize,
    len: usize,
    /// The most that may lie before the slice.
    room: usize,
}

impl<T: Copy> Placed<T> {
    /// `len` copies of `zero`, `offset` bytes into a page (or as near as the size of `T` allows), or
    /// anywhere.
    pub(crate) fn new(zero: T, len: usize, offset: Option<usize>) -> Self {
        match offset {
            Some(offset) => Self::within(zero, len, PAGE / size_of::<T>().max(1), offset),
            None => Self::within(zero, len, 0, 0),
        }
    }

    fn within(zero: T, len: usize, room: usize, offset: usize) -> Self {
        const { assert!(size_of::<Self>() == size_of::<Vec<T>>() + 3 * size_of::<usize>()) }
        let mut store = Vec::with_capacity(room + len + 1);
        let address = store.as_ptr() as usize % PAGE;
        let start = room.min((offset + PAGE - address) % PAGE / size_of::<T>().max(1));
        store.resize(start + len + 1, zero);
        Self { store, start, len, room }
    }

    fn zero(&self) -> T {
        self.store[self.store.len() - 1]
    }

    /// Overwrites it with zeros.
    pub(crate) fn clear(&mut self) {
        let zero = self.zero();
        self.fill(zero);
        optimization_barrier(&self[..]);
    }

    /// Overwrites what it held when it was longer, too.
    fn wipe(&mut self) {
        self.len = self.capacity();
        self.clear();
    }

    /// The longest it can be where it is.
    fn capacity(&self) -> usize {
        self.store.len() - self.start - 1
    }
}

/// Slices at [`NUMBERS`] that are not in use, for the next ones: those of a batch are too long to be allocated fast.
/// They keep what they held until they are used again or dropped.
pub(crate) struct Pool<T: Copy>(Vec<Placed<T>>);

impl<T: Copy> Pool<T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// `len` elements of any value, in the shortest slice that has room, or in a new one.
    pub(crate) fn take(&mut self, zero: T, len: usize) -> Placed<T> {
        let fitting = self.0.iter().enumerate().filter(|(_, slice)| slice.capacity() >= len);
        match fitting.min_by_key(|(_, slice)| slice.capacity()) {
            Some((i, _)) => {
                let mut out = self.0.swap_remove(i);
                out.len = len;
                out
            }
            None => Placed::new(zero, len, Some(NUMBERS)),
        }
    }

    /// Takes all that another has.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    /// Keeps a slice.
    pub(crate) fn put(&mut self, slice: Placed<T>) {
        self.0.push(slice);
    }
}

impl<T: Copy> Clone for Placed<T> {
    fn clone(&self) -> Self {
        let mut out = Self::within(self.zero(), self.len(), self.room, self.as_ptr() as usize % PAGE);
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
        self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Vector([u64; 8]);

    #[test]
    fn lies_where_it_should() {
        for offset in [COLUMNS, NUMBERS, behind_numbers(24), behind_numbers(42)] {
            let placed = Placed::new(Vector([0; 8]), 77, Some(offset)).clone();
            assert_eq!((placed.len(), placed.as_ptr() as usize % PAGE), (77, offset));
            assert!(placed.iter().all(|vector| vector.0 == [0; 8]));
        }
    }

    #[test]
    fn slices_serve_again_and_are_wiped_whole() {
        let (zero, seven, mut pool) = (Vector([0; 8]), Vector([7; 8]), Pool::new());
        for len in [90, 5] {
            let mut slice = Placed::new(zero, len, Some(NUMBERS));
            slice.fill(seven);
            let address = slice.as_ptr();
            pool.put(slice);
            // Shorter and longer than before: the shortest that has room.
            for again in [len - 2, len, len - 1] {
                let slice = pool.take(zero, again);
                assert_eq!((slice.len(), slice.as_ptr()), (again, address));
                assert!(slice.clone().iter().all(|vector| vector.0 == seven.0));
                pool.put(slice);
            }
        }
        assert_eq!((pool.take(zero, 1000).len(), pool.0.len()), (1000, 2));
        let mut short = pool.take(zero, 6);
        assert_eq!((short.len(), short.capacity()), (6, 90));
        short.clear();
        assert!(short.iter().all(|vector| vector.0 == zero.0));
        assert!(short.store.iter().any(|vector| vector.0 == seven.0));
        short.wipe();
        assert!(short.store.iter().all(|vector| vector.0 == zero.0));
    }
}
