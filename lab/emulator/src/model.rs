//! What VPMADD52LUQ and VPMADD52HUQ compute in one 64-bit lane, in plain integers.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2C, "VPMADD52LUQ" and
//! "VPMADD52HUQ".

/// The bits of a factor that the instructions look at.
const FACTOR: u64 = (1 << 52) - 1;

/// Which half of the 104-bit product is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// VPMADD52LUQ: bits 0 to 51.
    Low,
    /// VPMADD52HUQ: bits 52 to 103.
    High,
}

/// `accumulator + half(a mod 2^52 · b mod 2^52)` modulo `2^64`.
pub fn multiply_add(half: Half, accumulator: u64, a: u64, b: u64) -> u64 {
    let product = u128::from(a & FACTOR) * u128::from(b & FACTOR);
    accumulator.wrapping_add(match half {
        Half::Low => product as u64 & FACTOR,
        Half::High => (product >> 52) as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_make_the_product() {
        let edges = [0, 1, 2, FACTOR - 1, FACTOR, 1 << 51, 0x000f_0f0f_0f0f_0f0f, u64::MAX, 1 << 52, 1 << 63];
        for a in edges {
            for b in edges {
                let (low, high) = (multiply_add(Half::Low, 0, a, b), multiply_add(Half::High, 0, a, b));
                assert!(low <= FACTOR && high <= FACTOR);
                let product = u128::from(a % (1 << 52)) * u128::from(b % (1 << 52));
                assert_eq!((u128::from(high) << 52) + u128::from(low), product, "{a:x} {b:x}");
                assert_eq!(multiply_add(Half::Low, u64::MAX, a, b), low.wrapping_sub(1));
                assert_eq!(multiply_add(Half::High, u64::MAX - 1, a, b), high.wrapping_sub(2));
            }
        }
    }

    /// Against the processor, where it has the instructions.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_processor_agrees() {
        if !is_x86_feature_detected!("avx512ifma") || !is_x86_feature_detected!("avx512f") {
            eprintln!("skipped: the processor lacks AVX512-IFMA");
            return;
        }
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let word = state ^ (state >> 29);
            [word, word | FACTOR, word & FACTOR, FACTOR, u64::MAX << (word % 64), 1 << (word % 64)]
                [(word >> 60) as usize % 6]
        };
        for _ in 0..20_000 {
            let [c, a, b]: [[u64; 8]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            // SAFETY: the processor has AVX-512F and AVX512-IFMA.
            let (low, high) = unsafe { by_processor(&c, &a, &b) };
            for lane in 0..8 {
                assert_eq!(low[lane], multiply_add(Half::Low, c[lane], a[lane], b[lane]));
                assert_eq!(high[lane], multiply_add(Half::High, c[lane], a[lane], b[lane]));
            }
        }
    }

    /// # Safety
    /// The processor must have AVX-512F and AVX512-IFMA.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn by_processor(c: &[u64; 8], a: &[u64; 8], b: &[u64; 8]) -> ([u64; 8], [u64; 8]) {
        use std::arch::x86_64::*;
        // SAFETY: arrays of eight words are as large as a vector and of no lesser validity.
        unsafe {
            let load = |x: &[u64; 8]| _mm512_loadu_si512(x.as_ptr().cast());
            let (c, a, b) = (load(c), load(a), load(b));
            (
                std::mem::transmute::<__m512i, [u64; 8]>(_mm512_madd52lo_epu64(c, a, b)),
                std::mem::transmute::<__m512i, [u64; 8]>(_mm512_madd52hi_epu64(c, a, b)),
            )
        }
    }
}
