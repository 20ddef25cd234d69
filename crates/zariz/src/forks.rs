//! Forks that a test notes as made are forks for all tests of its process.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by a test that notes forks, and by one that fails where another does.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
