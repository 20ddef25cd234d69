//! The processor: its name, and the features that are hidden.

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
