//! What was measured on which design: RSA-2048 signatures of one core, as a multiple of OpenSSL's rate on the
//! same machine. A test compares this table with docs/benchmarks, which is made of lab/results.

/// One design's results.
pub struct Measured {
    /// The design, as [`super::design`] names it.
    pub design: &'static str,
    /// Its page of docs/benchmarks.
    pub page: &'static str,
    /// The gain in batches of 64, in hundredths.
    pub batch: u32,
    /// The gain with one signature at a time, in hundredths.
    pub single: u32,
}

/// All that were measured.
pub const MEASURED: [Measured; 6] = [
    measured("Zen", "epyc-17-1-2", 97, 97),
    measured("Zen 3", "epyc-19-1-1", 169, 104),
    measured("Zen 4", "epyc-19-11-1", 219, 135),
    measured("Zen 5", "epyc-1a-2-1", 411, 194),
    measured("Emerald Rapids", "xeon-6-cf-2", 363, 193),
    measured("Granite Rapids", "xeon-6-a7-1", 328, 109),
];

const fn measured(design: &'static str, page: &'static str, batch: u32, single: u32) -> Measured {
    Measured { design, page, batch, single }
}

/// The results of a design, or else of the measured one that is nearest by its instructions: `None` without
/// AVX2, and for AVX-512 without IFMA, of which no processor was measured.
pub fn nearest(design: Option<&str>, features: &[&str]) -> Option<&'static Measured> {
    let of = |name| MEASURED.iter().find(|measured| measured.design == name);
    let has = |feature| features.contains(&feature);
    design.and_then(of).or_else(|| match () {
        () if has("avx512ifma") => of("Emerald Rapids"),
        () if has("avx512f") || !has("avx2") => None,
        () => of("Zen 3"),
    })
}
