//! What was measured on which design: RSA-2048 signatures of one core, as a multiple of OpenSSL's rate on the
//! same machine. A test compares this table with docs/benchmarks, which is made of lab/results.

/// One design's results.
pub struct Measured {
    /// The design, as [`super::design`] names it.
    pub design: &'static str,
    /// Whether it has AVX512-IFMA.
    pub ifma: bool,
    /// Its page of docs/benchmarks.
    pub page: &'static str,
    /// The gain in batches of 64, in hundredths.
    pub batch: u32,
    /// The gain with one signature at a time, in hundredths.
    pub single: u32,
}

/// All that were measured.
pub const MEASURED: [Measured; 6] = [
    Measured { design: "Zen", ifma: false, page: "epyc-17-1-2", batch: 97, single: 97 },
    Measured { design: "Zen 3", ifma: false, page: "epyc-19-1-1", batch: 169, single: 104 },
    Measured { design: "Zen 4", ifma: true, page: "epyc-19-11-1", batch: 219, single: 135 },
    Measured { design: "Zen 5", ifma: true, page: "epyc-1a-2-1", batch: 411, single: 194 },
    Measured { design: "Emerald Rapids", ifma: true, page: "xeon-6-cf-2", batch: 363, single: 193 },
    Measured { design: "Granite Rapids", ifma: true, page: "xeon-6-a7-1", batch: 328, single: 109 },
];

/// The results of a design, or else of the measured one that is nearest by its instructions: `None` without
/// AVX2, and for AVX-512 without IFMA, of which no processor was measured. A virtual machine may lack
/// instructions of its processor.
pub fn nearest(design: Option<&str>, features: &[&str]) -> Option<&'static Measured> {
    let of = |name| MEASURED.iter().find(|measured| measured.design == name);
    let has = |feature| features.contains(&feature);
    let nearest = match () {
        () if has("avx512ifma") => of("Emerald Rapids"),
        () if has("avx512f") || !has("avx2") => return None,
        () => of("Zen 3"),
    };
    design.and_then(of).filter(|own| own.ifma == has("avx512ifma")).or(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_without_its_instructions_is_another() {
        const AVX2: &[&str] = &["avx2"];
        const AVX512: &[&str] = &["avx2", "avx512f"];
        const IFMA: &[&str] = &["avx2", "avx512f", "avx512ifma"];
        for (design, features, expected) in [
            (Some("Zen 4"), IFMA, Some("Zen 4")),
            (Some("Zen 4"), AVX512, None),
            (Some("Zen 4"), AVX2, Some("Zen 3")),
            (Some("Zen"), AVX2, Some("Zen")),
            (Some("Zen"), &[], None),
            (Some("Ice Lake"), IFMA, Some("Emerald Rapids")),
            (None, AVX2, Some("Zen 3")),
        ] {
            let found = nearest(design, features).map(|measured| measured.design);
            assert_eq!(found, expected, "{design:?} with {features:?}");
        }
    }
}
