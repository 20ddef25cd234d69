//! Values that each process has for itself, and settings of the process.
//!
//! A child made by `fork` begins with a copy of its parent's memory. It must not use random numbers that its
//! parent also uses. It must not wait for a lock that a thread of its parent held: the child has no such
//! thread to release it.
//!
//! [`return_long_allocations`] asks the C library's allocator not to keep long allocations.
//! [`ending_signals`] and [`end_by`] are for programs that clean up before a signal ends them. With the
//! feature `descriptors`, `was_closed` tells which standard streams were closed.

mod allocator;
#[cfg(feature = "descriptors")]
mod descriptors;
mod generation;
#[cfg(unix)]
mod signals;

pub use allocator::return_long_allocations;
#[cfg(feature = "descriptors")]
pub use descriptors::was_closed;
#[cfg(unix)]
pub use signals::{end_by, ending_signals};

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use once_cell::race::OnceBox;

/// How many forks led to this process since the first call of [`Process::current`] in it or its ancestors.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// The identity of a process.
///
/// On Linux, a page of memory tells processes apart: the system clears it in every child that gets a copy of
/// it. (A child that shares its parent's memory counts as the same process here: it also shares the locks.)
/// On other systems, the number of forks and the process identifier together tell processes apart. Neither is
/// enough alone: identifiers are reused in other namespaces, and children made by the system call `clone` are
/// not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    forks: u64,
    number: u64,
}

impl Process {
    /// This process. Costs a system call if the system clears no page (before Linux 4.14, and on other
    /// systems). The first call maps the page: make it before a sandbox forbids `mmap` and `madvise`.
    pub fn current() -> Self {
        count_forks();
        Self { forks: forks(), number: generation::number() }
    }
}

/// How many forks led to this process since the first call of [`Process::current`] in it or its ancestors.
/// Costs no system call.
pub fn forks() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

/// Counts a fork. Forks by the C library count themselves. Counting one too many is harmless: every
/// [`PerProcess`] value is then made again.
pub extern "C" fn note_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Registers [`note_fork`] with the C library, to be called in every child.
fn count_forks() {
    // Not `Once`: in a child, it might be locked.
    static ASKED: AtomicBool = AtomicBool::new(false);
    if cfg!(unix) && !ASKED.load(Ordering::Acquire) {
        // SAFETY: the function adds to a counter, which is allowed in a child. The C library forgets it when
        // it unloads this code. If there is no memory for the entry, only process identifiers are used.
        #[cfg(unix)]
        let _ = unsafe { libc::pthread_atfork(None, None, Some(note_fork)) };
        // Set it only now: after a fork before this, the child tries again. If two threads both register it,
        // forks count twice.
        ASKED.store(true, Ordering::Release);
    }
}

/// A value that each process makes for itself at first use.
///
/// No lock is held while a value is made: several threads may each make one at once, and all use the one that
/// is stored first. A process never drops a value of another process: a thread that does not exist here may
/// have been changing it.
#[derive(Debug)]
pub struct PerProcess<T>(OnceBox<Link<T>>);

/// The value of one process; the link to those of its children.
#[derive(Debug)]
struct Link<T> {
    process: Process,
    value: ManuallyDrop<T>,
    next: OnceBox<Link<T>>,
}

impl<T> PerProcess<T> {
    /// No value yet.
    pub const fn new() -> Self {
        Self(OnceBox::new())
    }

    /// The value of this process. If there is none, `make` makes it, from the value of the nearest ancestor
    /// that had one. `make` may try that ancestor's locks, but never wait for them.
    pub fn get_or_init(&self, make: impl Fn(Option<&T>) -> T) -> &T {
        let process = Process::current();
        let (mut place, mut inherited) = (&self.0, None);
        loop {
            let link = place.get_or_init(|| {
                let value = ManuallyDrop::new(make(inherited));
                Box::new(Link { process, value, next: OnceBox::new() })
            });
            if link.process == process {
                return &link.value;
            }
            (place, inherited) = (&link.next, Some(&*link.value));
        }
    }

    /// The value of this process, if it has one.
    pub fn get(&self) -> Option<&T> {
        let process = Process::current();
        let mut link = self.0.get();
        while let Some(found) = link.filter(|link| link.process != process) {
            link = found.next.get();
        }
        link.map(|link| &*link.value)
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for Link<T> {
    fn drop(&mut self) {
        if self.process == Process::current() {
            // SAFETY: the link is being dropped, and nothing else drops or takes its value.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
