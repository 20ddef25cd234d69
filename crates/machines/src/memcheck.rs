//! Requests to valgrind's memcheck, to see whether a branch or an address depends on a secret. Memory with a
//! [`secret`] is marked as undefined, so memcheck reports what depends on it, until it is marked [`public`].
//! Without the feature `memcheck`, or outside of valgrind, they do nothing.

/// Requests of memcheck.h and valgrind.h.
#[cfg(all(feature = "memcheck", target_arch = "x86_64"))]
mod requests {
    const MEMCHECK: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16;
    pub const MAKE_MEM_UNDEFINED: u64 = MEMCHECK + 1;
    pub const MAKE_MEM_DEFINED: u64 = MEMCHECK + 2;
    pub const RUNNING_ON_VALGRIND: u64 = 0x1001;

    /// Sends a request about memory; returns valgrind's answer, or 0 outside of it.
    pub fn send<T>(request: u64, memory: &mut [T]) -> u64 {
        let arguments = [request, memory.as_mut_ptr() as u64, size_of_val(memory) as u64, 0, 0, 0];
        let answer;
        // SAFETY: valgrind's client request (valgrind.h): the rotations add up to none, and an exchange of a
        // register with itself does nothing; valgrind reads the arguments and writes rdx.
        unsafe {
            std::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") arguments.as_ptr(),
                inout("rdx") 0u64 => answer,
                inout("rdi") 0u64 => _,
            );
        }
        answer
    }
}

/// Has memcheck report each branch and address that depends on these numbers.
pub fn secret<T>(numbers: &mut [T]) {
    #[cfg(all(feature = "memcheck", target_arch = "x86_64"))]
    requests::send(requests::MAKE_MEM_UNDEFINED, numbers);
    let _ = numbers;
}

/// The same value, which is no secret any more.
#[inline(always)]
pub fn public<T: Copy>(value: T) -> T {
    let mut value = [value];
    publish(&mut value);
    value[0]
}

/// Ends what [`secret`] began.
#[inline(always)]
pub fn publish<T>(numbers: &mut [T]) {
    #[cfg(all(feature = "memcheck", target_arch = "x86_64"))]
    requests::send(requests::MAKE_MEM_DEFINED, numbers);
    let _ = numbers;
}

/// Whether valgrind runs this program.
#[inline(always)]
pub fn is_running() -> bool {
    #[cfg(all(feature = "memcheck", target_arch = "x86_64"))]
    return requests::send::<u8>(requests::RUNNING_ON_VALGRIND, &mut []) != 0;
    #[cfg(not(all(feature = "memcheck", target_arch = "x86_64")))]
    false
}
