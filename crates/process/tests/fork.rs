//! Per-process values across real forks.
#![cfg(unix)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use zariz_process::{PerProcess, Process, forks};

/// Runs a function in a child made by `fork`. Returns whether it returned true.
fn in_child(function: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child calls the function, which the C library's `fork` allows to allocate, and ends.
    in_child_made_by(|| unsafe { libc::fork() }, function)
}

/// Runs a function in a child that `make` makes. Returns whether it returned true. An alarm ends a child that
/// hangs.
fn in_child_made_by(make: impl FnOnce() -> libc::pid_t, function: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child calls the function and ends; the parent waits for it, and writes its status.
    unsafe {
        match make() {
            -1 => panic!("no child: {}", std::io::Error::last_os_error()),
            0 => {
                libc::alarm(60);
                let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(function)).unwrap_or(false);
                libc::_exit(if good { 0 } else { 1 })
            }
            child => {
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &mut status, 0), child);
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
            }
        }
    }
}

#[test]
fn each_process_has_its_own_value() {
    let values = PerProcess::new();
    // How many ancestors had a value. (If two threads began to count, forks are counted twice.)
    let make = |inherited: Option<&Vec<usize>>| match inherited {
        None => vec![0],
        Some(inherited) => [&inherited[..], &[inherited.len()]].concat(),
    };
    assert_eq!(values.get(), None);
    let (parent, counted) = (Process::current(), forks());
    assert_eq!(*values.get_or_init(make), [0]);
    assert_eq!(values.get(), Some(&vec![0]));
    // Children of one parent, one after the other, and a grandchild.
    for _ in 0..3 {
        assert!(in_child(|| {
            let child = Process::current();
            let fresh = values.get().is_none() && *values.get_or_init(make) == [0, 1];
            let kept = values.get() == Some(&vec![0, 1]);
            let grandchild =
                in_child(|| Process::current() != child && *values.get_or_init(make) == [0, 1, 2]);
            child != parent && forks() > counted && fresh && kept && grandchild
        }));
    }
    assert_eq!(*values.get_or_init(make), [0], "the parent keeps its own");
}

/// The C library does not notice children made by the bare system call, and counts no fork.
#[test]
#[cfg(target_os = "linux")]
fn a_child_that_no_one_counts_is_another_process() {
    let values = PerProcess::new();
    let (parent, counted) = (Process::current(), forks());
    assert_eq!(*values.get_or_init(|_| 1), 1);
    // SAFETY: the child allocates nothing, reads and writes its own memory, and ends.
    let make = || unsafe {
        libc::syscall(libc::SYS_clone, libc::SIGCHLD as libc::c_long, 0, 0, 0, 0) as libc::pid_t
    };
    assert!(in_child_made_by(make, || {
        let differs = Process::current() != parent && forks() == counted && values.get().is_none();
        differs && Process::current() == Process::current()
    }));
    assert_eq!((Process::current(), values.get()), (parent, Some(&1)));
}

#[test]
fn a_lock_that_a_thread_of_the_parent_holds_stops_no_child() {
    let values: PerProcess<Mutex<u32>> = PerProcess::new();
    let make = |inherited: Option<&Mutex<u32>>| match inherited.map(Mutex::try_lock) {
        None => Mutex::new(1),
        Some(Err(_)) => Mutex::new(2),
        Some(Ok(_)) => Mutex::new(3),
    };
    let value = |values: &PerProcess<Mutex<u32>>| *values.get_or_init(make).lock().expect("not poisoned");
    assert_eq!(value(&values), 1);
    let held = values.get_or_init(make).lock();
    assert!(in_child(|| value(&values) == 2 && value(&values) == 2));
    drop(held);
    assert!(in_child(|| value(&values) == 3));
}

#[test]
fn a_process_drops_its_own_value_only() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = || DROPPED.load(Ordering::Relaxed);
    let values: PerProcess<Counted> = PerProcess::new();
    values.get_or_init(|_| Counted);
    let values = std::cell::Cell::new(Some(values));
    assert!(in_child(|| {
        drop(values.take());
        dropped() == 0
    }));
    let kept = values.take().expect("the parent's");
    values.set(Some(kept));
    assert!(in_child(|| {
        let mine = values.take().expect("the parent's");
        mine.get_or_init(|_| Counted);
        drop(mine);
        dropped() == 1
    }));
    drop(values.take());
    assert_eq!(dropped(), 1);
}
