//! What is to be measured.

/// The words of the command line after the subject.
pub struct Arguments {
    lengths: Vec<usize>,
    names: Vec<String>,
}

impl Arguments {
    /// Numbers are lengths, and all other words names.
    pub fn new(words: impl Iterator<Item = String>) -> Self {
        let (lengths, names) = words.partition::<Vec<String>, _>(|word| word.parse::<usize>().is_ok());
        Self { lengths: lengths.iter().filter_map(|word| word.parse().ok()).collect(), names }
    }

    /// The lengths in bits that were asked for, or `usual` ones.
    pub fn lengths(&self, usual: &[usize]) -> Vec<usize> {
        if self.lengths.is_empty() { usual.to_vec() } else { self.lengths.clone() }
    }

    /// Whether to measure `name`: it is among the words, or none of `all` is.
    pub fn includes(&self, name: &str, all: &[&str]) -> bool {
        let is_named = |name: &str| self.names.iter().any(|word| word == name);
        is_named(name) || !all.iter().any(|name| is_named(name))
    }
}

/// The machines of batches, with the cycles that a product of two digits in every lane takes on the ports
/// that multiply.
pub const MACHINES: [(&str, f64); 5] = [
    ("avx512-ifma", 1.0),
    ("avx512-fma", 2.5),
    ("avx-ifma", 1.0),
    ("avx2-fma", 5.0 / 3.0),
    ("portable", 1.0),
];

/// Calls `$measure(name, machine, cycles, …)` with each wanted machine of batches that this processor has.
macro_rules! on_machines {
    ($arguments:expr, $measure:ident($($argument:expr),*)) => {{
        use crate::arguments::MACHINES;
        let names = MACHINES.map(|(name, _)| name);
        for (name, cycles) in MACHINES.into_iter().filter(|(name, _)| $arguments.includes(name, &names)) {
            match name {
                "portable" => $measure(name, zariz_machines::batch::Portable::<1>::new(), cycles, $($argument),*),
                #[cfg(target_arch = "x86_64")]
                _ => {
                    use zariz_machines::batch::{Avx2Fma, Avx512Fma, Avx512Ifma, AvxIfma};
                    match (name, Avx512Ifma::new(), Avx512Fma::new(), AvxIfma::new(), Avx2Fma::new()) {
                        ("avx512-ifma", Some(m), ..) => $measure(name, m, cycles, $($argument),*),
                        ("avx512-fma", _, Some(m), ..) => $measure(name, m, cycles, $($argument),*),
                        ("avx-ifma", .., Some(m), _) => $measure(name, m, cycles, $($argument),*),
                        ("avx2-fma", .., Some(m)) => $measure(name, m, cycles, $($argument),*),
                        _ => eprintln!("{name}: this processor lacks it"),
                    }
                }
                #[cfg(not(target_arch = "x86_64"))]
                _ => {}
            }
        }
    }};
}
pub(crate) use on_machines;
