//! The allocator of the GNU C library, told to return long allocations.

/// Memory of a mebibyte or more goes back to the system when it is freed, whichever thread does that.
///
/// Without this, the GNU allocator learns to keep such memory, up to 64 MiB for each of its arenas, of which every thread
/// may have its own: what a program takes would grow with its threads. Elsewhere nothing is done.
pub fn return_long_allocations() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;

        // `malloc.h`
        const M_MMAP_THRESHOLD: c_int = -3;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        // SAFETY: `int mallopt(int, int)` as `malloc.h` declares it; any thread may call it at any time, and every value is
        // allowed. If it were refused, memory would be kept as before.
        unsafe { mallopt(M_MMAP_THRESHOLD, 1 << 20) };
    }
}
