//! Runs machine code with every register set, and looks at every register afterwards.

use std::arch::global_asm;
use std::ptr;

/// The registers before or after. Without AVX-512, registers from 16 on, lanes from 4 on and masks stay as
/// they are.
#[repr(C, align(64))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub vectors: [[u64; 8]; 32],
    /// 16 bits each.
    pub masks: [u64; 8],
    /// In the order of their encoding: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15. Of rsp, what it is
    /// before the code is called.
    pub general: [u64; 16],
    pub flags: u64,
    code: u64,
}

impl State {
    pub fn new(word: &mut impl FnMut() -> u64) -> Self {
        let mut state = Self {
            vectors: std::array::from_fn(|_| std::array::from_fn(|_| word())),
            masks: std::array::from_fn(|_| word() & 0xffff),
            general: std::array::from_fn(|_| word()),
            flags: 0x202 | word() & 0x8d5, // interrupts on, the bit that is always 1, arithmetic flags
            code: 0,
        };
        if !is_wide() {
            state.vectors.iter_mut().for_each(|vector| vector[4..].fill(0));
        }
        state
    }
}

/// Defines `$name(rdi: *mut State)`: loads all, calls the code, stores all. One at a time: it keeps what it
/// needs in statics of that name. `$load` and `$store` are for the vectors and masks.
macro_rules! runner {
    ($name:literal, load: [$($load:literal),*], store: [$($store:literal),*]) => {
        global_asm!(
            concat!(".local ", $name, "_rsp, ", $name, "_state, ", $name, "_code, ", $name, "_rdi"),
            concat!(".comm ", $name, "_rsp, 8, 8"),
            concat!(".comm ", $name, "_state, 8, 8"),
            concat!(".comm ", $name, "_code, 8, 8"),
            concat!(".comm ", $name, "_rdi, 8, 8"),
            concat!(".local run_", $name),
            concat!("run_", $name, ":"),
            "push rbx; push rbp; push r12; push r13; push r14; push r15",
            concat!("mov [rip + ", $name, "_rsp], rsp"),
            concat!("mov [rip + ", $name, "_state], rdi"),
            "mov rax, [rdi + 2248]",
            concat!("mov [rip + ", $name, "_code], rax"),
            $($load,)*
            "push qword ptr [rdi + 2240]",
            "popfq",
            "mov rax, [rdi + 2112]",
            "mov rcx, [rdi + 2120]",
            "mov rdx, [rdi + 2128]",
            "mov rbx, [rdi + 2136]",
            "mov rsp, [rdi + 2144]",
            "mov rbp, [rdi + 2152]",
            "mov rsi, [rdi + 2160]",
            "mov r8, [rdi + 2176]",
            "mov r9, [rdi + 2184]",
            "mov r10, [rdi + 2192]",
            "mov r11, [rdi + 2200]",
            "mov r12, [rdi + 2208]",
            "mov r13, [rdi + 2216]",
            "mov r14, [rdi + 2224]",
            "mov r15, [rdi + 2232]",
            "mov rdi, [rdi + 2168]",
            concat!("call qword ptr [rip + ", $name, "_code]"),
            concat!("mov [rip + ", $name, "_rdi], rdi"),
            concat!("mov rdi, [rip + ", $name, "_state]"),
            "mov [rdi + 2112], rax",
            "mov [rdi + 2120], rcx",
            "mov [rdi + 2128], rdx",
            "mov [rdi + 2136], rbx",
            "mov [rdi + 2144], rsp",
            "mov [rdi + 2152], rbp",
            "mov [rdi + 2160], rsi",
            concat!("mov rax, [rip + ", $name, "_rdi]"),
            "mov [rdi + 2168], rax",
            "mov [rdi + 2176], r8",
            "mov [rdi + 2184], r9",
            "mov [rdi + 2192], r10",
            "mov [rdi + 2200], r11",
            "mov [rdi + 2208], r12",
            "mov [rdi + 2216], r13",
            "mov [rdi + 2224], r14",
            "mov [rdi + 2232], r15",
            concat!("mov rsp, [rip + ", $name, "_rsp]"),
            "pushfq",
            "pop qword ptr [rdi + 2240]",
            $($store,)*
            "vzeroupper",
            "pop r15; pop r14; pop r13; pop r12; pop rbp; pop rbx",
            "ret",
            // A way for Rust to reach it from any compilation unit.
            concat!(".globl ", $name),
            concat!($name, ": jmp run_", $name),
        );
    };
}

runner!(
    "zariz_forms_wide",
    load: [
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
        "vmovdqu64 zmm\\n, [rdi + 64 * \\n]",
        ".endr",
        ".irp n, 0,1,2,3,4,5,6,7",
        "kmovw k\\n, [rdi + 2048 + 8 * \\n]",
        ".endr"
    ],
    store: [
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
        "vmovdqu64 [rdi + 64 * \\n], zmm\\n",
        ".endr",
        ".irp n, 0,1,2,3,4,5,6,7",
        "kmovw [rdi + 2048 + 8 * \\n], k\\n",
        ".endr"
    ]
);
runner!(
    "zariz_forms_narrow",
    load: [
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
        "vmovdqu ymm\\n, [rdi + 64 * \\n]",
        ".endr"
    ],
    store: [
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
        "vmovdqu [rdi + 64 * \\n], ymm\\n",
        ".endr"
    ]
);

unsafe extern "C" {
    fn zariz_forms_wide(state: *mut State);
    fn zariz_forms_narrow(state: *mut State);
}

/// Whether the processor has AVX-512; else a state is sixteen registers of 256 bits.
pub fn is_wide() -> bool {
    is_x86_feature_detected!("avx512f")
}

const PAGE: usize = 4096;

/// Memory for code, data and the code's stack, below 2 GiB so that 32-bit addresses reach it.
pub struct Region(*mut u8);

impl Region {
    /// Two places for code, each four pages long.
    pub const CODE: [usize; 2] = [0, 4 * PAGE];
    /// Where data begins; the stack grows down from here.
    pub const DATA: usize = 128 * PAGE;
    pub const DATA_LEN: usize = 2 * PAGE;
    /// What `rsp` is before the code is called.
    pub const STACK: usize = Self::DATA - 64;

    pub fn new() -> Self {
        let len = Self::DATA + Self::DATA_LEN + PAGE;
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT;
        // SAFETY: a new mapping at an address of the kernel's choice; its last page becomes inaccessible.
        let memory = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        assert_ne!(memory, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        let memory = memory.cast::<u8>();
        // SAFETY: the last page of the mapping.
        assert_eq!(unsafe { libc::mprotect(memory.add(len - PAGE).cast(), PAGE, libc::PROT_NONE) }, 0);
        Self(memory)
    }

    pub fn address(&self, at: usize) -> u64 {
        self.0 as u64 + at as u64
    }

    pub fn bytes(&mut self, at: usize, len: usize) -> &mut [u8] {
        assert!(at + len <= Self::DATA + Self::DATA_LEN);
        // SAFETY: within the accessible pages; the borrow of `self` keeps other slices away.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(at), len) }
    }

    /// Puts code and a return at a place, and runs it. With `trap`, every VPMADD52 in it is made to trap.
    pub fn run(&mut self, at: usize, code: &[u8], trap: bool, state: &State) -> State {
        let place = self.bytes(at, code.len() + 1);
        place[..code.len()].copy_from_slice(code);
        place[code.len()] = 0xc3;
        if trap {
            // SAFETY: the region lives to the end, and code is put there by this function alone; the handler
            // is installed.
            unsafe { zariz_emulator::trap(&mut place[..code.len()]) };
        }
        let mut state = State { code: self.address(at), ..state.clone() };
        // SAFETY: the processor has AVX2, and AVX-512F for the first; the code changes registers and the
        // region's data alone, its stack lies in the region, and tests that come here hold a lock.
        unsafe {
            if is_wide() { zariz_forms_wide(&raw mut state) } else { zariz_forms_narrow(&raw mut state) }
        };
        State { code: 0, ..state }
    }
}

/// The bases of FS and GS; GS gets one that is not 0.
pub fn segment_bases() -> (u64, u64) {
    const ARCH_SET_GS: libc::c_int = 0x1001;
    const ARCH_GET_FS: libc::c_int = 0x1003;
    let (mut fs, gs) = (0u64, 0x1234_5678u64);
    // SAFETY: nothing on x86-64 Linux uses GS in user space; FS is only read.
    unsafe {
        assert_eq!(libc::syscall(libc::SYS_arch_prctl, ARCH_SET_GS, gs), 0);
        assert_eq!(libc::syscall(libc::SYS_arch_prctl, ARCH_GET_FS, &raw mut fs), 0);
    }
    (fs, gs)
}

/// Whether the processor has VPMADD52 in its EVEX forms, and in its VEX forms.
pub fn native_forms() -> (bool, bool) {
    (is_x86_feature_detected!("avx512ifma"), is_x86_feature_detected!("avxifma"))
}
