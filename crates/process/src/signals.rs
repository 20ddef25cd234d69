//! Signals that end a process: which they are, and how to end by one of them.

use std::ffi::c_int;
use std::{mem, ptr};

/// The signals that end this process unless it handles them, for a program that must clean up first.
///
/// This leaves out SIGKILL, which cannot be handled; signals for faults of the program itself, such as
/// SIGSEGV; and signals that this process ignores, for example SIGHUP under `nohup`. It never leaves out
/// SIGINT and SIGTERM: a script's shell makes its background jobs ignore SIGINT, but a signal sent to such a
/// job is still meant to end it.
pub fn ending_signals() -> Vec<c_int> {
    let mut signals = vec![
        libc::SIGABRT,
        libc::SIGALRM,
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGPIPE,
        libc::SIGPROF,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGVTALRM,
        libc::SIGXCPU,
        libc::SIGXFSZ,
    ];
    #[cfg(target_os = "linux")]
    signals.extend(
        [libc::SIGIO, libc::SIGPWR, libc::SIGSTKFLT].into_iter().chain(libc::SIGRTMIN()..=libc::SIGRTMAX()),
    );
    signals.retain(|signal| [libc::SIGINT, libc::SIGTERM].contains(signal) || !is_ignored(*signal));
    signals
}

fn is_ignored(signal: c_int) -> bool {
    // SAFETY: zeroes are a valid `sigaction`. The call changes nothing, and only writes the present action
    // there.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Ends the process by the signal's default action, so that its parent sees why it ended. Forbids a memory
/// dump if the system allows that: memory may hold secrets.
pub fn end_by(signal: c_int) -> ! {
    // SAFETY: zeroes are a valid `sigaction` and a valid set of signals. The default action runs no code of
    // this process. A limit is only lowered. A call that fails changes nothing, and `abort` follows.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, &action, ptr::null_mut());
        let mut unblocked: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&mut unblocked);
        libc::sigaddset(&mut unblocked, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &unblocked, ptr::null_mut());
        libc::raise(signal);
    }
    std::process::abort()
}
