//! A large stack for code that is called on the small stack of one of OpenSSL's jobs.
//!
//! The code runs on a new thread. If no thread can be started, it runs on the calling thread, on a stack of
//! our own. haproxy, for example, can no longer start threads after it has dropped root's rights
//! (`RLIMIT_NPROC` of 0).

use std::io;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

/// Starts a thread with all signals blocked: the program's handlers are for its own threads.
pub fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the sets of signals are local. A thread begins with the mask of the thread that starts it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let started = start();
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        started
    }
}

/// Calls a function on another stack, and waits for it.
pub fn elsewhere<T: Send>(function: impl FnOnce() -> T + Send) -> io::Result<thread::Result<T>> {
    // If the thread cannot be started, the closure is lost; so it only takes the function out of this when it
    // runs.
    let waiting = Mutex::new(Some(function));
    let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    let by_thread = thread::scope(|scope| {
        let start = || Builder::new().spawn_scoped(scope, || take().map(|function| function()));
        let thread = without_signals(start).ok()?;
        thread.join().transpose()
    });
    match (by_thread, take()) {
        (Some(result), _) => Ok(result),
        (None, Some(function)) => on_another(function),
        (None, None) => Err(io::Error::other("the function is lost")),
    }
}

/// Calls a function on a separate stack, on this thread.
#[cfg(not(all(target_env = "gnu", target_pointer_width = "64")))]
pub fn on_another<T>(_: impl FnOnce() -> T) -> io::Result<thread::Result<T>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(target_env = "gnu", target_pointer_width = "64"))]
pub use switch::on_another;

#[cfg(all(target_env = "gnu", target_pointer_width = "64"))]
mod switch {
    use std::ffi::{c_int, c_uint, c_void};
    use std::mem::{MaybeUninit, transmute};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::{io, ptr, thread};

    /// As large as the stacks of Rust's threads.
    const SIZE: usize = 2 << 20;
    /// The guard region below the stack: at least one page, for every page size.
    const GUARD: usize = 64 << 10;

    /// Memory for a stack. The system clears it before giving it to others.
    struct Stack(*mut c_void);

    impl Stack {
        fn new() -> io::Result<Self> {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: a new mapping, at an address of the system's choice.
            let start =
                unsafe { libc::mmap(ptr::null_mut(), GUARD + SIZE, access, kind | libc::MAP_STACK, -1, 0) };
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let stack = Self(start);
            // SAFETY: the beginning of our own mapping.
            if unsafe { libc::mprotect(start, GUARD, libc::PROT_NONE) } != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(stack)
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            // SAFETY: our own mapping, on which nothing runs any more.
            unsafe { libc::munmap(self.0, GUARD + SIZE) };
        }
    }

    struct Call<F, T> {
        function: Option<F>,
        result: Option<thread::Result<T>>,
    }

    /// The first function on the new stack. When it returns, the thread is back on the old stack. The address
    /// of the call comes in two halves, since `makecontext` passes only integers.
    extern "C" fn enter<F: FnOnce() -> T, T>(high: c_uint, low: c_uint) {
        let call = ((u64::from(high) << 32 | u64::from(low)) as *mut c_void).cast::<Call<F, T>>();
        // SAFETY: `on_another` waits, and does not use it meanwhile.
        let call = unsafe { &mut *call };
        call.result = call.function.take().map(|function| catch_unwind(AssertUnwindSafe(function)));
    }

    /// Calls a function on a separate stack, on this thread. The function must not pause the running job.
    pub fn on_another<F: FnOnce() -> T, T>(function: F) -> io::Result<thread::Result<T>> {
        let stack = Stack::new()?;
        let mut call = Call { function: Some(function), result: None };
        let address = ptr::from_mut(&mut call) as u64;
        let mut back = MaybeUninit::<libc::ucontext_t>::uninit();
        let mut there = MaybeUninit::<libc::ucontext_t>::uninit();
        // SAFETY: `getcontext` fills `there`, and `makecontext` directs it to the new stack and to `enter`,
        // with the arguments given here. `swapcontext` fills `back` and returns once, when `enter` returns.
        let changed = unsafe {
            if libc::getcontext(there.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            let context = &mut *there.as_mut_ptr();
            context.uc_stack.ss_sp = stack.0.byte_add(GUARD);
            context.uc_stack.ss_size = SIZE;
            context.uc_link = back.as_mut_ptr();
            let enter = transmute::<extern "C" fn(c_uint, c_uint), extern "C" fn()>(enter::<F, T>);
            libc::makecontext(context, enter, 2 as c_int, (address >> 32) as c_uint, address as c_uint);
            libc::swapcontext(back.as_mut_ptr(), context)
        };
        if changed != 0 {
            return Err(io::Error::last_os_error());
        }
        call.result.ok_or_else(|| io::Error::other("the function was not called"))
    }
}

#[cfg(test)]
mod tests {
    use super::{elsewhere, on_another};

    /// Uses far more than a job's 32 KiB of stack.
    fn deep(levels: u64) -> u64 {
        let room = std::hint::black_box([levels; 512]);
        if levels == 0 { 0 } else { room[levels as usize % 512] + deep(levels - 1) }
    }

    #[test]
    fn calls_return_from_another_stack() {
        for levels in [0, 10, 100] {
            assert_eq!(
                on_another(|| deep(levels)).expect("room").expect("no panic"),
                levels * (levels + 1) / 2
            );
            assert_eq!(
                elsewhere(|| deep(levels)).expect("room").expect("no panic"),
                levels * (levels + 1) / 2
            );
        }
        assert_eq!(
            on_another(|| on_another(|| deep(100)).expect("room").expect("no panic"))
                .expect("room")
                .expect("no panic"),
            5050
        );
    }

    #[test]
    fn panics_stop_there() {
        assert!(on_another(|| panic!("meant to")).expect("room").is_err());
        assert!(elsewhere(|| panic!("meant to")).expect("room").is_err());
        assert_eq!(on_another(|| 7).expect("room").expect("no panic"), 7);
    }
}
