//! The processor: its name, and the features that engines use.

use crate::exit::Failure;

/// Checks that every feature in `ZARIZ_HIDE` is known.
pub fn check_hidden() -> Result<(), Failure> {
    match zariz::hidden().iter().find(|name| !zariz::HIDEABLE.contains(&name.as_str())) {
        Some(name) => Err(Failure::Usage(format!(
            "{} hides nothing named {name:?}: it takes {}, separated by commas",
            zariz::HIDE,
            zariz::HIDEABLE.join(", ")
        ))),
        None => Ok(()),
    }
}

/// The processor's name, or `unknown processor` if the system does not report it.
pub fn name() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.split_whitespace().collect::<Vec<_>>().join(" "))
    });
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown processor".into())
}

/// The features that engines use, and whether the processor and the system have them.
#[cfg(target_arch = "x86_64")]
pub fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detected {
        ($($name:tt),*) => { vec![$(($name, std::arch::is_x86_feature_detected!($name))),*] };
    }
    detected!("bmi2", "adx", "avx2", "fma", "avxifma", "avx512f", "avx512dq", "avx512ifma")
}

/// The features that engines use: only x86-64 has any.
#[cfg(not(target_arch = "x86_64"))]
pub fn features() -> Vec<(&'static str, bool)> {
    Vec::new()
}
