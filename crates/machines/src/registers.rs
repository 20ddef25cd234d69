//! Wiping registers: they keep the last numbers of a computation until other code needs them.

/// Zeroes the registers that a called function may change by the convention of Linux: all vector registers (on
/// Arm without the lower halves of eight of them), mask registers, and the general ones that are not the
/// caller's. Others hold the caller's values again by the time this is called. Elsewhere, the compiler restores
/// those that are the caller's.
///
/// Cost: some ten cycles.
#[inline(never)]
pub fn clear() {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::asm;
        // SAFETY: the instructions change the registers that the clobbers name, and no memory.
        unsafe {
            asm!(
                "xor eax, eax",
                "xor ecx, ecx",
                "xor edx, edx",
                "xor esi, esi",
                "xor edi, edi",
                "xor r8d, r8d",
                "xor r9d, r9d",
                "xor r10d, r10d",
                "xor r11d, r11d",
                clobber_abi("sysv64"),
                options(nomem, nostack),
            );
        }
        if is_x86_feature_detected!("avx") {
            // SAFETY: the processor has AVX; all vector registers are named by the clobbers.
            unsafe { asm!("vzeroall", clobber_abi("sysv64"), options(nomem, nostack, preserves_flags)) };
        }
        // Not `cpu::has_avx512f`: the C library copies through these registers even where zariz may not use
        // them.
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512F; all registers are named by the clobbers.
            unsafe {
                asm!(
                    "vpxorq zmm16, zmm16, zmm16",
                    "vpxorq zmm17, zmm17, zmm17",
                    "vpxorq zmm18, zmm18, zmm18",
                    "vpxorq zmm19, zmm19, zmm19",
                    "vpxorq zmm20, zmm20, zmm20",
                    "vpxorq zmm21, zmm21, zmm21",
                    "vpxorq zmm22, zmm22, zmm22",
                    "vpxorq zmm23, zmm23, zmm23",
                    "vpxorq zmm24, zmm24, zmm24",
                    "vpxorq zmm25, zmm25, zmm25",
                    "vpxorq zmm26, zmm26, zmm26",
                    "vpxorq zmm27, zmm27, zmm27",
                    "vpxorq zmm28, zmm28, zmm28",
                    "vpxorq zmm29, zmm29, zmm29",
                    "vpxorq zmm30, zmm30, zmm30",
                    "vpxorq zmm31, zmm31, zmm31",
                    "kxorw k0, k0, k0",
                    "kxorw k1, k1, k1",
                    "kxorw k2, k2, k2",
                    "kxorw k3, k3, k3",
                    "kxorw k4, k4, k4",
                    "kxorw k5, k5, k5",
                    "kxorw k6, k6, k6",
                    "kxorw k7, k7, k7",
                    clobber_abi("sysv64"),
                    options(nomem, nostack, preserves_flags),
                );
            }
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        use std::arch::asm;
        // SAFETY: the instructions change the registers that the clobbers name, and no memory.
        unsafe {
            asm!(
                "mov x0, xzr\n mov x1, xzr\n mov x2, xzr\n mov x3, xzr\n mov x4, xzr\n mov x5, xzr",
                "mov x6, xzr\n mov x7, xzr\n mov x8, xzr\n mov x9, xzr\n mov x10, xzr\n mov x11, xzr",
                "mov x12, xzr\n mov x13, xzr\n mov x14, xzr\n mov x15, xzr\n mov x16, xzr\n mov x17, xzr",
                "movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0",
                "movi v4.2d, #0\n movi v5.2d, #0\n movi v6.2d, #0\n movi v7.2d, #0",
                "movi v16.2d, #0\n movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0",
                "movi v20.2d, #0\n movi v21.2d, #0\n movi v22.2d, #0\n movi v23.2d, #0",
                "movi v24.2d, #0\n movi v25.2d, #0\n movi v26.2d, #0\n movi v27.2d, #0",
                "movi v28.2d, #0\n movi v29.2d, #0\n movi v30.2d, #0\n movi v31.2d, #0",
                // The upper halves alone: the lower ones are the caller's.
                "mov v8.d[1], xzr\n mov v9.d[1], xzr\n mov v10.d[1], xzr\n mov v11.d[1], xzr",
                "mov v12.d[1], xzr\n mov v13.d[1], xzr\n mov v14.d[1], xzr\n mov v15.d[1], xzr",
                clobber_abi("C"),
                options(nomem, nostack, preserves_flags),
            );
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::arch::asm;

    #[test]
    fn numbers_in_registers_are_gone() {
        let (first, last): (u64, u64);
        // SAFETY: a call, with a stack as calls need it, of a function that changes what its convention lets
        // it; both registers belong to every x86-64 processor.
        unsafe {
            asm!(
                "movq xmm0, r13", "movq xmm15, r13",
                "mov r12, rsp", "and rsp, -16", "call {clear}", "mov rsp, r12",
                "movq r14, xmm0", "movq r15, xmm15",
                in("r13") 0x1234_5678_9abc_def0u64,
                clear = sym called,
                lateout("r14") first, lateout("r15") last,
                out("r12") _, clobber_abi("sysv64"),
            );
        }
        if is_x86_feature_detected!("avx") {
            assert_eq!([first, last], [0, 0]);
        }
    }

    extern "sysv64" fn called() {
        super::clear();
    }
}
