//! `cargo xtask handshakes`: TLS handshakes of haproxy with zariz and without.

use anyhow::{Context, Result};

use crate::process::{cargo, root, run};
use crate::processor;

/// Runs the measurement among the tests of the provider, and keeps what it finds. `ZARIZ_HANDSHAKES` and
/// `ZARIZ_ROUNDS` make it longer or shorter.
pub fn measure() -> Result<()> {
    let results = root().join(format!("{}/handshakes-{}.md", processor::RESULTS, processor::slug()?));
    let mut test =
        cargo(&["test", "--release", "--locked", "-p", "zariz-openssl-provider", "--test", "servers", "--"]);
    test.args(["--ignored", "--exact", "measure::handshakes_beside_the_default_provider", "--nocapture"]);
    test.env("ZARIZ_RESULTS", &results);
    run(test).context("the handshakes could not be measured")?;
    println!("written: {}", results.display());
    Ok(())
}
