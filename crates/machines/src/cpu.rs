//! The features that this processor has, the operating system allows and [`HIDE`](crate::HIDE) does not hide.
//! The standard library detects them once. For other facts, this file asks CPUID.

use std::arch::x86_64::{__cpuid, CpuidResult};
use std::sync::OnceLock;

use crate::hidden::is_hidden;

/// An extended leaf of CPUID (`8000_0000` and above), if the processor has it.
#[allow(unused_unsafe)] // later compilers know that CPUID is safe on x86-64
pub fn extended_leaf(leaf: u32) -> Option<CpuidResult> {
    const EXTENDED: u32 = 0x8000_0000;
    // SAFETY: every x86-64 processor has the instruction and its leaf 8000_0000, which names the highest
    // leaf.
    let highest = unsafe { __cpuid(EXTENDED) }.eax;
    // SAFETY: the processor has just said that it has this leaf.
    (EXTENDED..=highest).contains(&leaf).then(|| unsafe { __cpuid(leaf) })
}

/// The leaf of AMD's that says how wide the vector units are.
const WIDTHS: u32 = 0x8000_001a;

/// Whether the processor says that it computes vectors of 256 bits as two halves: AMD's Zen, Zen+ and some
/// older ones do. (AMD's manual, volume 3, CPUID leaf `8000_001A`, EAX: bit 0 is FP128, bit 2 FP256, bit 3
/// FP512. Intel's small cores halve vectors too, but do not report it; QEMU leaves the leaf zero.)
pub fn halves_256_bit_vectors() -> bool {
    const HALVES: u32 = 1;
    const WHOLE: u32 = 1 << 2 | 1 << 3;
    extended_leaf(WIDTHS).is_some_and(|leaf| leaf.eax & (HALVES | WHOLE) == HALVES)
}

/// Whether the processor has pipes that add vectors beside those that execute VPMADD52. AMD's have since Zen
/// 4, their first with VPMADD52: two of four pipes multiply. Of Intel's servers, each pipe for vectors of 512
/// bits does both.
pub fn adds_beside_vpmadd52() -> bool {
    static ADDS: OnceLock<bool> = OnceLock::new();
    *ADDS.get_or_init(|| {
        #[allow(unused_unsafe)] // later compilers know that CPUID is safe on x86-64
        // SAFETY: every x86-64 processor has the instruction and its leaf 0.
        let leaf = unsafe { __cpuid(0) };
        [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD"
    })
}

/// BMI2: MULX.
pub fn has_bmi2() -> bool {
    is_x86_feature_detected!("bmi2")
}

/// BMI2 and ADX: MULX, ADCX and ADOX. (Valgrind runs ADCX and ADOX, but its processor does not name ADX.)
pub fn has_bmi2_adx() -> bool {
    has_bmi2() && !is_hidden("adx") && (is_x86_feature_detected!("adx") || crate::memcheck::is_running())
}

/// AVX2.
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && !is_hidden("avx2")
}

/// AVX2 and FMA.
pub fn has_avx2_fma() -> bool {
    has_avx2() && is_x86_feature_detected!("fma")
}

/// AVX-IFMA: VPMADD52 in its VEX forms.
pub fn has_avxifma() -> bool {
    is_x86_feature_detected!("avxifma") && !is_hidden("ifma")
}

/// AVX-512F.
pub fn has_avx512f() -> bool {
    has_avx2() && is_x86_feature_detected!("avx512f") && !is_hidden("avx512")
}

/// AVX-512F and AVX-512DQ.
pub fn has_avx512dq() -> bool {
    has_avx512f() && is_x86_feature_detected!("avx512dq")
}

/// AVX512-IFMA; machines with it also need AVX-512F and AVX-512DQ.
pub fn has_avx512ifma() -> bool {
    is_x86_feature_detected!("avx512ifma") && !is_hidden("ifma")
}

/// The features that machines use, and whether the processor and the operating system have them.
#[inline]
pub fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detected {
        ($($name:tt),*) => { vec![$(($name, is_x86_feature_detected!($name))),*] };
    }
    detected!("bmi2", "adx", "avx2", "fma", "avxifma", "avx512f", "avx512dq", "avx512ifma")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    /// What `/proc/cpuinfo` says of this processor.
    fn info(key: &str) -> Option<String> {
        let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    }

    #[test]
    fn of_family_23_only_models_below_48_halve_vectors() {
        let number = |key| info(key).and_then(|value| value.parse::<u32>().ok());
        let says = super::extended_leaf(super::WIDTHS).is_some_and(|leaf| leaf.eax != 0);
        match (info("vendor_id").as_deref(), number("cpu family"), number("model")) {
            (Some("AuthenticAMD"), Some(23), Some(model)) if says => {
                assert_eq!(super::halves_256_bit_vectors(), model < 48);
            }
            (Some("AuthenticAMD"), Some(..23), _) => {}
            (Some("AuthenticAMD" | "GenuineIntel"), ..) => assert!(!super::halves_256_bit_vectors()),
            _ => {}
        }
    }

    #[test]
    fn amds_processors_add_beside_vpmadd52() {
        if let Some(vendor) = info("vendor_id") {
            assert_eq!(super::adds_beside_vpmadd52(), vendor == "AuthenticAMD");
        }
    }
}
