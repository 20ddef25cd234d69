//! Counts the calls of engines on a thread, for tests that must not measure time.

#[cfg(test)]
pub use testing::*;
#[cfg(not(test))]
pub use uncounted::{note as powers, note as products};

#[cfg(not(test))]
mod uncounted {
    #[inline(always)]
    pub fn note(_: usize) {}
}

#[cfg(test)]
mod testing {
    use std::cell::Cell;

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Counts {
        /// Powers computed in constant time.
        pub powers: usize,
        /// Products of plain numbers, and numbers kept in the domain to be multiplied there.
        pub products: usize,
    }

    thread_local! {
        static OF_THREAD: Cell<Counts> = const { Cell::new(Counts { powers: 0, products: 0 }) };
    }

    pub fn powers(count: usize) {
        OF_THREAD.with(|counts| counts.update(|it| Counts { powers: it.powers + count, ..it }));
    }

    pub fn products(count: usize) {
        OF_THREAD.with(|counts| counts.update(|it| Counts { products: it.products + count, ..it }));
    }

    /// The result of a function, and the engine calls it makes on this thread.
    pub fn of<T>(function: impl FnOnce() -> T) -> (T, Counts) {
        OF_THREAD.take();
        (function(), OF_THREAD.take())
    }
}
