//! Which core of 64-bit Arm this is, by the register MIDR_EL1.

/// Arm's Neoverse N1.
pub fn is_neoverse_n1() -> bool {
    midr().is_some_and(|midr| implementer(midr) == 0x41 && midr >> 4 & 0xfff == 0xd0c)
}

/// One of Apple's.
pub fn is_apples() -> bool {
    cfg!(target_vendor = "apple") || midr().is_some_and(|midr| implementer(midr) == 0x61)
}

fn implementer(midr: u64) -> u64 {
    midr >> 24 & 0xff
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    /// What the kernel tells a program, by number. It only reads.
    safe fn getauxval(number: std::ffi::c_ulong) -> std::ffi::c_ulong;
}

/// The register, where the system lets programs read it. It is read once: Linux answers by a trap, for the
/// core on which the thread runs.
#[cfg(target_os = "linux")]
fn midr() -> Option<u64> {
    static MIDR: std::sync::OnceLock<Option<u64>> = std::sync::OnceLock::new();
    const HWCAP: std::ffi::c_ulong = 16;
    const HWCAP_CPUID: std::ffi::c_ulong = 1 << 11;
    *MIDR.get_or_init(|| {
        (getauxval(HWCAP) & HWCAP_CPUID != 0).then(|| {
            let midr;
            // SAFETY: Linux has just said that programs may read the register, which changes nothing.
            unsafe {
                std::arch::asm!("mrs {}, midr_el1", out(reg) midr, options(nomem, nostack, preserves_flags))
            };
            midr
        })
    })
}

#[cfg(not(target_os = "linux"))]
fn midr() -> Option<u64> {
    None
}
