//! Which processor the measurements are of, from `/proc/cpuinfo`.

use serde::{Deserialize, Serialize};

/// The first processor of the machine.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Processor {
    /// The maker's brand string.
    pub brand: String,
    /// The maker's identification.
    pub vendor: String,
    /// Family, model and stepping, which tell processors with one brand string apart.
    pub family: u32,
    /// See `family`.
    pub model: u32,
    /// See `family`.
    pub stepping: u32,
    /// Logical processors.
    pub threads: usize,
    /// The features that matter here, as the kernel names them.
    pub features: Vec<String>,
}

/// Instruction sets that some library chooses its code by.
const FEATURES: [&str; 15] = [
    "bmi2",
    "adx",
    "avx2",
    "fma",
    "avx512f",
    "avx512dq",
    "avx512bw",
    "avx512vl",
    "avx512ifma",
    "avx_ifma",
    "avx512_vbmi2",
    "sha_ni",
    "avx_vnni",
    "avx10",
    "apx",
];

impl Processor {
    /// This machine's processor; unknown fields are empty or 0.
    pub fn detect() -> Processor {
        Processor::parse(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// From the text of `/proc/cpuinfo`.
    fn parse(text: &str) -> Processor {
        let value = |name: &str| {
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim() == name)
                .map_or("", |(_, value)| value.trim())
        };
        let flags: Vec<&str> = value("flags").split_whitespace().collect();
        Processor {
            brand: value("model name").to_owned(),
            vendor: value("vendor_id").to_owned(),
            family: value("cpu family").parse().unwrap_or(0),
            model: value("model").parse().unwrap_or(0),
            stepping: value("stepping").parse().unwrap_or(0),
            threads: text
                .lines()
                .filter(|line| line.split(':').next().is_some_and(|key| key.trim() == "processor"))
                .count(),
            features: FEATURES
                .iter()
                .filter(|name| flags.contains(name))
                .map(|&name| name.to_owned())
                .collect(),
        }
    }

    /// A name for files: what of the brand tells something, then family, model and stepping in hexadecimal,
    /// such as `xeon-6-cf-2`.
    pub fn slug(&self) -> String {
        const NOISE: [&str; 6] = ["intel", "amd", "cpu", "processor", "core", "with"];
        let brand = self.brand.to_lowercase().replace("(r)", "").replace("(tm)", "");
        let brand = brand.split('@').next().unwrap_or_default();
        let words = brand
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty() && !NOISE.contains(word));
        let mut parts: Vec<String> = words.map(str::to_owned).collect();
        if parts.is_empty() {
            parts.push("processor".to_owned());
        }
        parts.extend([self.family, self.model, self.stepping].map(|number| format!("{number:x}")));
        parts.join("-")
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        let brand = if self.brand.is_empty() { "unknown processor" } else { &self.brand };
        format!("{brand}, family {} model {} stepping {}", self.family, self.model, self.stepping)
    }

    /// Whether it multiplies 52-bit integers in vectors, which OpenSSL and AWS-LC then use.
    pub fn has_ifma(&self) -> bool {
        self.features.iter().any(|name| name == "avx512ifma" || name == "avx_ifma")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processors() {
        let text = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n\
                    model name\t: Intel(R) Xeon(R) Processor\nstepping\t: 2\nflags\t\t: fpu avx2 fma avx512ifma\n\
                    processor\t: 1\n";
        let processor = Processor::parse(text);
        assert_eq!(processor.slug(), "xeon-6-cf-2");
        assert_eq!(processor.threads, 2);
        assert_eq!(processor.features, ["avx2", "fma", "avx512ifma"]);
        assert!(processor.has_ifma());
        let epyc = Processor {
            brand: "AMD EPYC 9R14".into(),
            family: 25,
            model: 17,
            stepping: 1,
            ..Processor::parse("")
        };
        assert_eq!(epyc.slug(), "epyc-9r14-19-11-1");
        let xeon = Processor {
            brand: "Intel(R) Xeon(R) CPU @ 2.80GHz".into(),
            family: 6,
            model: 85,
            stepping: 7,
            ..epyc
        };
        assert_eq!(xeon.slug(), "xeon-6-55-7");
        assert_eq!(Processor::parse("").slug(), "processor-0-0-0");
    }
}
