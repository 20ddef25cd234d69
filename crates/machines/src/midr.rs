//! Which core of 64-bit Arm this is, by the register MIDR_EL1.

/// Whether vectors multiply numbers faster than MUL and UMULH do: on Neoverse N1 and on Apple's cores, by
/// LLVM's models of them (docs/notes/arm.md).
pub fn vectors_multiply_faster() -> bool {
    const ARM_NEOVERSE_N1: (u64, u64) = (0x41, 0xd0c);
    const APPLE: u64 = 0x61;
    cfg!(target_vendor = "apple")
        || midr().is_some_and(|midr| {
            let (implementer, part) = (midr >> 24 & 0xff, midr >> 4 & 0xfff);
            implementer == APPLE || (implementer, part) == ARM_NEOVERSE_N1
        })
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    /// What the kernel tells a program, by number. It only reads.
    safe fn getauxval(number: std::ffi::c_ulong) -> std::ffi::c_ulong;
}

/// The register, where the system lets programs read it.
#[cfg(target_os = "linux")]
fn midr() -> Option<u64> {
    const HWCAP: std::ffi::c_ulong = 16;
    const HWCAP_CPUID: std::ffi::c_ulong = 1 << 11;
    (getauxval(HWCAP) & HWCAP_CPUID != 0).then(|| {
        let midr;
        // SAFETY: Linux has just said that programs may read the register, which changes nothing.
        unsafe {
            std::arch::asm!("mrs {}, midr_el1", out(reg) midr, options(nomem, nostack, preserves_flags))
        };
        midr
    })
}

#[cfg(not(target_os = "linux"))]
fn midr() -> Option<u64> {
    None
}
