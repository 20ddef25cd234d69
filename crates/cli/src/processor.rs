//! The processor: its name, and the features that are hidden.

pub mod design;
pub mod expected;

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

/// A field of the first processor in /proc/cpuinfo, where the system has that file.
fn field(name: &str) -> Option<String> {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpuinfo.lines().find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name));
    line.map(|(_, value)| value.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The processor's name, or `unknown processor` if the system does not report it.
pub fn name() -> String {
    field("model name").filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown processor".into())
}

/// The everyday name of this processor's design, such as `Zen 4`, if it is known.
pub fn design() -> Option<&'static str> {
    let number = |name| field(name)?.parse().ok();
    let numbers = [number("cpu family")?, number("model")?, number("stepping")?];
    design::name(&field("vendor_id")?, numbers, field("flags")?.split(' ').any(|flag| flag == "avx_vnni"))
}
