//! Makes the GNU C library's allocator return long allocations to the system.

/// Makes freed memory of a mebibyte or more go back to the system, in every thread.
///
/// Call it first in `main`, before the process has a second thread: glibc marks `mallopt` as unsafe while
/// other threads allocate. A library must not call it.
///
/// Without this, the GNU allocator starts to keep such memory, up to 64 MiB for each of its arenas. Every
/// thread may have its own arena, so a program's memory would grow with its threads. With other C libraries,
/// this does nothing.
pub fn return_long_allocations() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: every value of this parameter is allowed. `mallopt` is MT-Unsafe: it changes settings that
    // `malloc` reads in other threads. The caller is at the start of `main`, so there are none. If the value
    // is refused, memory is kept as before.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}
