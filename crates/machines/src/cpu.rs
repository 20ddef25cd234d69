//! The features that this processor has and the operating system allows. The standard library detects them
//! once.

/// BMI2: MULX.
pub fn has_bmi2() -> bool {
    is_x86_feature_detected!("bmi2")
}

/// BMI2 and ADX: MULX, ADCX and ADOX. (Valgrind runs ADCX and ADOX, but its processor does not name ADX.)
pub fn has_bmi2_adx() -> bool {
    has_bmi2() && (is_x86_feature_detected!("adx") || crate::memcheck::is_running())
}

/// AVX2.
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

/// AVX2 and FMA.
pub fn has_avx2_fma() -> bool {
    has_avx2() && is_x86_feature_detected!("fma")
}

/// AVX-IFMA: VPMADD52 in its VEX forms.
pub fn has_avxifma() -> bool {
    is_x86_feature_detected!("avxifma")
}

/// AVX-512F.
pub fn has_avx512f() -> bool {
    is_x86_feature_detected!("avx512f")
}

/// AVX-512F and AVX-512DQ.
pub fn has_avx512dq() -> bool {
    has_avx512f() && is_x86_feature_detected!("avx512dq")
}

/// AVX512-IFMA; machines with it also need AVX-512F and AVX-512DQ.
pub fn has_avx512ifma() -> bool {
    is_x86_feature_detected!("avx512ifma")
}
