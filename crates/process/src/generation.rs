//! A number that differs from those of all ancestor processes, read without a system call.
//!
//! Linux clears a page in every child that gets a copy of it, however the child is made (`MADV_WIPEONFORK`,
//! Linux 4.14). A process that finds it cleared draws a new number.

#[cfg(all(target_os = "linux", not(miri)))]
mod page {
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

    /// The page; null until it is first needed, [`NONE`] if the system has none. A child inherits the
    /// address.
    static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
    /// Only its address is used.
    static NONE: AtomicU64 = AtomicU64::new(0);
    const LENGTH: usize = size_of::<AtomicU64>();
    /// How many numbers were drawn in this process and its ancestors.
    static DRAWN: AtomicU64 = AtomicU64::new(0);

    /// This process's number, if there is a page.
    pub fn number() -> Option<u64> {
        let mut page = PAGE.load(Ordering::Acquire);
        if page.is_null() {
            page = ask();
        }
        if ptr::eq(page, &NONE) {
            return None;
        }
        // SAFETY: the page is aligned, never unmapped, and changed only by atomic operations. Every bit
        // pattern is a valid `u64`.
        let number = unsafe { &*page };
        match number.load(Ordering::Acquire) {
            0 => {
                let drawn = DRAWN.fetch_add(1, Ordering::Relaxed) + 1;
                // If another thread was faster, its number is the process's.
                Some(
                    number
                        .compare_exchange(0, drawn, Ordering::AcqRel, Ordering::Acquire)
                        .err()
                        .unwrap_or(drawn),
                )
            }
            known => Some(known),
        }
    }

    /// Maps the page, unless another thread was faster. Allocates nothing: in a child, the allocator may be
    /// locked.
    fn ask() -> *mut AtomicU64 {
        let mapped = map();
        let page = if mapped.is_null() { ptr::from_ref(&NONE).cast_mut() } else { mapped };
        match PAGE.compare_exchange(ptr::null_mut(), page, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => page,
            Err(earlier) => {
                if !mapped.is_null() {
                    // SAFETY: this thread's mapping, whose address nobody else has.
                    unsafe { libc::munmap(mapped.cast(), LENGTH) };
                }
                earlier
            }
        }
    }

    /// A page that is cleared in every child that gets a copy of it; null if the system has none.
    fn map() -> *mut AtomicU64 {
        // SAFETY: a new mapping, at an address of the system's choice. The advice only concerns this mapping.
        // If it is unmapped here, nobody has its address.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let page =
                libc::mmap(ptr::null_mut(), LENGTH, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            if page == libc::MAP_FAILED {
                return ptr::null_mut();
            }
            // An emulator that ignores all advice also accepts invalid advice.
            let heeds = libc::madvise(page, LENGTH, -1) != 0;
            if heeds && libc::madvise(page, LENGTH, libc::MADV_WIPEONFORK) == 0 {
                return page.cast();
            }
            libc::munmap(page, LENGTH);
            ptr::null_mut()
        }
    }
}

/// This process's number. If the system clears no page, it is the process identifier, and costs a system
/// call.
pub(crate) fn number() -> u64 {
    #[cfg(all(target_os = "linux", not(miri)))]
    if let Some(number) = page::number() {
        return number;
    }
    if cfg!(any(unix, windows)) { std::process::id().into() } else { 0 }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::page;

    /// A child made by the bare system call draws its own number, and keeps it.
    #[test]
    fn a_child_draws_another_number() {
        let parent = page::number().expect("Linux 4.14 or later");
        assert_eq!(page::number(), Some(parent));
        // SAFETY: the child allocates nothing, reads and writes its own memory, and ends.
        let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD as libc::c_long, 0, 0, 0, 0) };
        if child == 0 {
            let mine = page::number();
            let good = mine.is_some_and(|mine| mine > parent) && mine == page::number();
            // SAFETY: it ends the child.
            unsafe { libc::_exit(if good { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: it waits for the child, and writes its status.
        assert_eq!(unsafe { libc::waitpid(child as libc::pid_t, &mut status, 0) }, child as libc::pid_t);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status}");
        assert_eq!(page::number(), Some(parent));
    }
}
