//! What needs `unsafe`: an allocator that remembers what is allocated, the vector registers of a stopped
//! process, and a few instructions that start a timer.

use nix::libc::{self, c_void, iovec};
use nix::unistd::Pid;
use std::alloc::{GlobalAlloc, Layout, System};
use std::arch::naked_asm;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How many allocations are remembered at once: more than an operation of several batches has.
pub const SLOTS: usize = 1024;
/// Address, size and epoch of each live allocation; address 0 is a free slot. The tracer reads it from
/// outside, by its name: `used` keeps that.
#[used]
pub static LIVE: [[AtomicUsize; 3]; SLOTS] = [const { [const { AtomicUsize::new(0) }; 3] }; SLOTS];
/// What new allocations belong to: 1 is the keys, others are operations. At 0, nothing is remembered.
#[used]
pub static EPOCH: AtomicUsize = AtomicUsize::new(0);
/// Slots from here on were never used.
static USED: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which tells what is live. For one thread.
pub struct Remembering;

// SAFETY: memory is the system allocator's alone; what is remembered is never used as a pointer here.
unsafe impl GlobalAlloc for Remembering {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this method, which is that of the system's.
        let address = unsafe { System.alloc(layout) };
        let epoch = EPOCH.load(Relaxed);
        if epoch != 0
            && let Some(i) = (0..SLOTS).find(|&i| LIVE[i][0].load(Relaxed) == 0)
        {
            let values = [address as usize, layout.size(), epoch];
            LIVE[i].iter().zip(values).for_each(|(place, value)| place.store(value, Relaxed));
            USED.fetch_max(i + 1, Relaxed);
        }
        address
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        let used = LIVE.iter().take(USED.load(Relaxed));
        if let Some(slot) = used.into_iter().find(|slot| slot[0].load(Relaxed) == address as usize) {
            slot[0].store(0, Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(address, layout) }
    }
}

/// Does a system call, then loads the registers that the call used from the stack, and jumps: eight words,
/// under which the 128 bytes below the jump's stack pointer stay as they are. The tracer sets it all up.
#[unsafe(naked)]
pub extern "C" fn call_and_jump() {
    naked_asm!(
        "syscall", "pop r11", "pop rcx", "pop rax", "pop rdx", "pop rsi", "pop rdi", "popfq", "ret 128"
    )
}

/// Bytes of [`call_and_jump`]: 2 each of SYSCALL and POP R11, 1 each of six others, 3 of RET.
pub const CALL_AND_JUMP: u64 = 13;

/// The floating-point and vector registers of a stopped process, as XSAVE lays them out.
pub fn vectors(process: Pid) -> io::Result<Vec<u8>> {
    let mut area = vec![0; 1 << 14];
    let len = transfer(libc::PTRACE_GETREGSET, process, &mut area)?;
    area.truncate(len);
    Ok(area)
}

/// Sets the registers of [`vectors`].
pub fn set_vectors(process: Pid, area: &mut [u8]) -> io::Result<()> {
    transfer(libc::PTRACE_SETREGSET, process, area).map(|_| ())
}

fn transfer(request: libc::c_uint, process: Pid, area: &mut [u8]) -> io::Result<usize> {
    const NT_X86_XSTATE: usize = 0x202;
    let mut vector = iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() };
    // SAFETY: the kernel reads or writes at most `iov_len` bytes of `area`, which is borrowed for as long as
    // that takes, and writes `vector`. A process that is not a stopped tracee of ours is an error.
    let result =
        unsafe { libc::ptrace(request, process.as_raw(), NT_X86_XSTATE as *mut c_void, &raw mut vector) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(vector.iov_len) }
}

/// Where XSAVE keeps a part of the state: offset and size. Both are 0 if the processor lacks it.
pub fn part_of_state(component: u32) -> (usize, usize) {
    let leaf = std::arch::x86_64::__cpuid_count(0xd, component);
    (leaf.ebx as usize, leaf.eax as usize)
}
