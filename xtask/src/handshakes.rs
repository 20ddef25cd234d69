//! `cargo xtask handshakes`: TLS handshakes of haproxy with zariz and without.

use anyhow::{Context, Result};
use std::fs;

use crate::process::{cargo, root, run};

/// Runs the measurement among the tests of the provider, and keeps what it finds. `ZARIZ_HANDSHAKES` and
/// `ZARIZ_ROUNDS` make it longer or shorter.
pub fn measure() -> Result<()> {
    let results = root().join(format!("bench/results/handshakes-{}.md", processor()?));
    let mut test = cargo(&["test", "--release", "--locked", "-p", "zariz-openssl-provider", "--test", "servers", "--"]);
    test.args(["--ignored", "--exact", "measure::handshakes_beside_the_default_provider", "--nocapture"]);
    test.env("ZARIZ_RESULTS", &results);
    run(test).context("the handshakes could not be measured")?;
    println!("written: {}", results.display());
    Ok(())
}

/// The processor's family, model and stepping in hexadecimal, as other results are named.
fn processor() -> Result<String> {
    let text = fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name));
        line.map(|(_, value)| value.trim()).with_context(|| format!("/proc/cpuinfo has no {name}"))
    };
    let number =
        |name| field(name)?.parse::<u32>().with_context(|| format!("the {name} of /proc/cpuinfo is not a number"));
    let maker = if field("model name")?.contains("Xeon") { "xeon" } else { "cpu" };
    Ok(format!("{maker}-{:x}-{:x}-{:x}", number("cpu family")?, number("model")?, number("stepping")?))
}
