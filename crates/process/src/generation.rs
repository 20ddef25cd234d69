//! A number that differs from that of every ancestor, without a system call.
//!
//! Linux clears a page in every child that gets a copy of it, however the child is made (`MADV_WIPEONFORK`, Linux
//! 4.14). A process that finds it cleared draws a new number.

#[cfg(all(target_os = "linux", not(miri)))]
mod page {
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

    use once_cell::race::OnceBox;

    /// The page, or null where the system has none. A child has its parent's. Threads that begin at once may map one
    /// each, and all use the first that is stored.
    static PAGE: OnceBox<AtomicPtr<AtomicU64>> = OnceBox::new();
    /// The numbers that were drawn in this process and its ancestors.
    static DRAWN: AtomicU64 = AtomicU64::new(0);

    /// This process's number, where there is a page.
    pub fn number() -> Option<u64> {
        let page = PAGE.get_or_init(|| Box::new(AtomicPtr::new(map()))).load(Ordering::Acquire);
        // SAFETY: it is null, or a page that is never unmapped, aligned, and changed by atomic operations alone. Zeros
        // are a number.
        let number = unsafe { page.as_ref() }?;
        match number.load(Ordering::Acquire) {
            0 => {
                let drawn = DRAWN.fetch_add(1, Ordering::Relaxed) + 1;
                // If another thread was earlier, its number is the process's.
                Some(
                    number
                        .compare_exchange(0, drawn, Ordering::AcqRel, Ordering::Acquire)
                        .map_or_else(|of| of, |_| drawn),
                )
            }
            known => Some(known),
        }
    }

    /// A page that is cleared in every child; null where the system has none.
    fn map() -> *mut AtomicU64 {
        let length = size_of::<AtomicU64>();
        // SAFETY: a new mapping, wherever there is room. The advice concerns it alone. If it is not kept, nobody has
        // its address.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let page = libc::mmap(ptr::null_mut(), length, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            if page == libc::MAP_FAILED {
                return ptr::null_mut();
            }
            // An emulator that ignores advice would also take one that does not exist.
            let heeds = libc::madvise(page, length, -1) != 0;
            if heeds && libc::madvise(page, length, libc::MADV_WIPEONFORK) == 0 {
                return page.cast();
            }
            libc::munmap(page, length);
            ptr::null_mut()
        }
    }
}

/// This process's number. Where the system clears no page, it is the process number, and costs a system call.
pub(crate) fn number() -> u64 {
    #[cfg(all(target_os = "linux", not(miri)))]
    if let Some(number) = page::number() {
        return number;
    }
    if cfg!(any(unix, windows)) { std::process::id().into() } else { 0 }
}
