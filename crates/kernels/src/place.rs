//! Working memory: at a chosen place within its page, and wiped when dropped.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};
use zeroize::optimization_barrier;

/// A processor compares the low twelve bits of a load's address with those of unfinished stores. If they
/// match, the load waits, even if the addresses differ. Accumulators and the numbers that are multiplied into
/// them therefore start at different places of a page. (Zen 4 seems to compare some four bits more, of the
/// physical page: see "Places in memory" in docs/notes/performance.md.)
const PAGE: usize = 4096;
/// The bytes of a line of the caches: as long as the longest vector, which is aligned to that.
const LINE: usize = 64;

/// Where columns start within a page.
pub(crate) const COLUMNS: usize = 0;
/// Where numbers start within a page: measured, 1024-bit squarings are up to 4 % slower at 0 or 1024.
pub(crate) const NUMBERS: usize = 2048;

/// So many lines of 64 bytes behind [`NUMBERS`], modulo a page.
pub(crate) const fn behind_numbers(lines: usize) -> usize {
    (NUMBERS + 64 * lines) % PAGE
}

/// An owned slice, aligned for vectors, that is overwritten with zeros when dropped.
///
/// All fields are whole words, so there is no padding: a move of padding would copy what the stack had there,
/// which may be a secret, to where nothing overwrites it.
pub struct AlignedBuf<T: Copy = u64> {
    /// Unused elements, the slice, more unused elements, and last a zero, with which it is wiped.
    store: Vec<T>,
    start: usize,
    len: usize,
    /// The bytes after which places repeat: [`LINE`] or [`PAGE`].
    unit: usize,
}

impl<T: Copy> AlignedBuf<T> {
    /// `len` copies of `zero`, `offset` bytes into a page (or as near as the size of `T` allows), or
    /// at the beginning of any line.
    pub(crate) fn new(zero: T, len: usize, offset: Option<usize>) -> Self {
        match offset {
            Some(offset) => Self::within(zero, len, PAGE, offset),
            None => Self::within(zero, len, LINE, 0),
        }
    }

    fn within(zero: T, len: usize, unit: usize, offset: usize) -> Self {
        const { assert!(size_of::<Self>() == size_of::<Vec<T>>() + 3 * size_of::<usize>()) }
        let size = size_of::<T>().max(1);
        let room = unit / size;
        let mut store = Vec::with_capacity(room + len + 1);
        let address = store.as_ptr() as usize % unit;
        let start = room.min((offset + unit - address) % unit / size);
        store.resize(start + len + 1, zero);
        Self { store, start, len, unit }
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

    /// Overwrites all of its memory, also that which it used when it was longer.
    fn wipe(&mut self) {
        self.len = self.capacity();
        self.clear();
    }

    /// The longest it can be where it is.
    fn capacity(&self) -> usize {
        self.store.len() - self.start - 1
    }
}

/// Unused slices at the place of numbers, kept for the next numbers: those of a batch are too long to be
/// allocated fast. They keep their contents until they are used again or dropped.
pub struct Pool<T: Copy = u64>(Vec<AlignedBuf<T>>);

impl<T: Copy> Default for Pool<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Pool<T> {
    /// `len` elements of any value, in the shortest slice that has room, or in a new one.
    pub(crate) fn take(&mut self, zero: T, len: usize) -> AlignedBuf<T> {
        let fitting = self.0.iter().enumerate().filter(|(_, slice)| slice.capacity() >= len);
        match fitting.min_by_key(|(_, slice)| slice.capacity()) {
            Some((i, _)) => {
                let mut out = self.0.swap_remove(i);
                out.len = len;
                out
            }
            None => AlignedBuf::new(zero, len, Some(NUMBERS)),
        }
    }

    /// Keeps a slice.
    pub(crate) fn put(&mut self, slice: AlignedBuf<T>) {
        self.0.push(slice);
    }
}

impl<T: Copy> Clone for AlignedBuf<T> {
    fn clone(&self) -> Self {
        let mut out = Self::within(self.zero(), self.len(), self.unit, self.as_ptr() as usize % self.unit);
        out.copy_from_slice(self);
        out
    }
}

impl<T: Copy> Deref for AlignedBuf<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.store[self.start..self.start + self.len]
    }
}

impl<T: Copy> DerefMut for AlignedBuf<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.store[self.start..self.start + self.len]
    }
}

impl<T: Copy> Drop for AlignedBuf<T> {
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
        assert_eq!(AlignedBuf::new(0u64, 77, None).as_ptr() as usize % LINE, 0);
        for offset in [COLUMNS, NUMBERS, behind_numbers(24), behind_numbers(42)] {
            let placed = AlignedBuf::new(Vector([0; 8]), 77, Some(offset)).clone();
            assert_eq!((placed.len(), placed.as_ptr() as usize % PAGE), (77, offset));
            assert!(placed.iter().all(|vector| vector.0 == [0; 8]));
        }
    }

    #[test]
    fn slices_serve_again_and_are_wiped_whole() {
        let (zero, seven, mut pool) = (Vector([0; 8]), Vector([7; 8]), Pool::default());
        for len in [90, 5] {
            let mut slice = AlignedBuf::new(zero, len, Some(NUMBERS));
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
