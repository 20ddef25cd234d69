//! Child processes, and the resources of this process.

use std::ffi::c_int;
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

/// A forked child.
#[must_use]
pub struct Child(libc::pid_t);

/// Forks a child to do some work, which must take less than two minutes.
pub fn fork(work: impl FnOnce()) -> Child {
    // SAFETY: the child only does what libcrypto and glibc allow after a fork while no other thread is inside
    // them. It exits without this process's destructors.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: no pointers.
            unsafe { libc::alarm(120) };
            let result = catch_unwind(AssertUnwindSafe(work));
            if let Err(panic) = &result {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("(no text)");
                // Not by `eprintln`: the test harness would capture it.
                let _ = writeln!(std::io::stderr(), "in a child: {text}");
            }
            // SAFETY: ends the process.
            unsafe { libc::_exit(c_int::from(result.is_err())) }
        }
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        child => Child(child),
    }
}

impl Child {
    /// Waits for the child, which must have succeeded.
    #[track_caller]
    pub fn succeeds(self) {
        let mut status = 0;
        // SAFETY: our own child.
        assert_eq!(unsafe { libc::waitpid(self.0, &mut status, 0) }, self.0);
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        assert_ne!(signal, Some(libc::SIGALRM), "the child hangs");
        assert_eq!((signal, libc::WEXITSTATUS(status)), (None, 0), "the child's signal and exit code");
    }
}

/// Drops root's capabilities, so that file modes apply to this process. It must be a child with one thread.
pub fn give_up_root() {
    #[repr(C)]
    struct Header {
        version: u32,
        process: c_int,
    }
    // `_LINUX_CAPABILITY_VERSION_3`, and this process.
    let header = Header { version: 0x2008_0522, process: 0 };
    // No effective, permitted or inheritable capabilities; two words of each.
    let none = [0_u32; 6];
    // SAFETY: the structures that this version of the call reads.
    let done = unsafe { libc::syscall(libc::SYS_capset, &raw const header, &raw const none) };
    assert_eq!(done, 0, "capset: {}", std::io::Error::last_os_error());
}

/// How many files this process has open.
pub fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}

/// Waits until this process has this many files open: a worker of the provider may still hold some for a
/// moment.
#[track_caller]
pub fn files_return_to(before: usize) {
    wait_for("open files", open_files, before);
}

/// Waits until this process has this many threads: a joined thread is still counted for a moment.
#[track_caller]
pub fn threads_return_to(before: usize) {
    wait_for("threads", threads, before);
}

#[track_caller]
fn wait_for(what: &str, count: fn() -> usize, before: usize) {
    for _ in 0..1000 {
        if count() == before {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{before} {what} before, and now {}", count());
}

/// How many threads this process has.
pub fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("/proc").count()
}

/// The resident memory of this process, in KiB.
pub fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
    line.split_whitespace().next().and_then(|size| size.parse().ok()).expect("a size")
}
