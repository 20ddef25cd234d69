//! Whether the standard streams were open when the process began.
//!
//! Before `main`, Rust opens the null device in place of each stream that is closed. Then writes are lost
//! without an error, and reads are empty. So this looks earlier, while the program is loaded.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, Ordering};

/// One bit for each of the first three descriptors, set if it was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Whether standard input (0), output (1) or error (2) was closed when the process began. Returns false for
/// other numbers, and on systems that cannot tell.
pub fn was_closed(descriptor: c_int) -> bool {
    (0..3).contains(&descriptor) && CLOSED.load(Ordering::Relaxed) >> descriptor & 1 == 1
}

#[cfg(unix)]
extern "C" fn look() {
    for descriptor in 0..3 {
        // SAFETY: this reads the flags of a descriptor, which may be closed; `fcntl` needs no initialisation.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
}

// SAFETY: the loader calls the functions of this section with arguments, which a C function may ignore. This
// one uses nothing of Rust's library that `main` must initialise.
#[cfg(unix)]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;
