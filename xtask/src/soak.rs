//! `cargo xtask soak`: haproxy under clients that misbehave, asynchronous jobs that are abandoned, and the
//! library's queue under callers who give up, panic and fork, for long; memory and descriptors must not grow.
//! The step of that name is short.

use anyhow::{Context, Result, bail};
use std::path::Path;

use crate::process::{cargo, run};
use crate::processor;

/// What is run without arguments.
const LONG: usize = 1_000_000;

/// How much there is to do.
#[derive(Clone, Copy)]
struct Amount {
    handshakes: usize,
    jobs: usize,
    /// Of numbers; about a fifth as many are signatures and powers.
    requests: usize,
    /// Each part ends after so many at the latest.
    minutes: usize,
}

/// Reads the arguments, runs what they ask for, and keeps reports, which are written as the run goes on.
pub fn measure(arguments: &[&str]) -> Result<()> {
    let mut amount = Amount { handshakes: LONG, jobs: LONG, requests: LONG, minutes: 60 * 24 };
    for words in arguments.chunks(2) {
        let (what, number) = match words {
            ["--handshakes", number] => (&mut amount.handshakes, number),
            ["--jobs", number] => (&mut amount.jobs, number),
            ["--requests", number] => (&mut amount.requests, number),
            ["--minutes", number] => (&mut amount.minutes, number),
            _ => bail!(
                "soak takes --handshakes N, --jobs N, --requests N (0 leaves that part out) and --minutes N"
            ),
        };
        *what = number.parse().with_context(|| format!("{} {number} is not a number", words[0]))?;
    }
    let results = processor::results("soak", "")?;
    println!("reports: {}-*.md, written as the run goes on", results.display());
    soak(amount, Some(&results))
}

/// The short form, and whether what is lost on purpose is found. In the profile of tests, which is built
/// already.
pub fn check() -> Result<()> {
    soak(Amount { handshakes: 8_000, jobs: 30_000, requests: 200_000, minutes: 60 }, None)?;
    tests("soak", &["a_soak_finds_lost_contexts"], &[], "test")?;
    tests("servers", &["soak::a_soak_finds_connections_that_stay"], &[], "test")
}

fn soak(amount: Amount, results: Option<&Path>) -> Result<()> {
    let profile = if results.is_some() { "release" } else { "test" };
    let [jobs, handshakes, requests, minutes] =
        [amount.jobs, amount.handshakes, amount.requests, amount.minutes].map(|number| number.to_string());
    let of = |variable, amount| {
        let mut environment = vec![(variable, amount), ("ZARIZ_SOAK_MINUTES", minutes.as_str())];
        environment.extend(results.and_then(Path::to_str).map(|path| ("ZARIZ_RESULTS", path)));
        environment
    };
    if amount.requests > 0 {
        let name = "callers_of_all_sorts";
        tests("requests", &[name], &of("ZARIZ_SOAK_REQUESTS", requests.as_str()), profile)?;
    }
    if amount.jobs > 0 {
        let name = "jobs_that_are_abandoned_late_or_lose_their_keys";
        tests("soak", &[name], &of("ZARIZ_SOAK_JOBS", jobs.as_str()), profile)?;
    }
    if amount.handshakes > 0 {
        let name = "soak::haproxy_with_reloads_cuts_and_silence";
        tests("servers", &[name], &of("ZARIZ_SOAK_HANDSHAKES", handshakes.as_str()), profile)?;
    }
    Ok(())
}

/// Runs tests of the provider, which otherwise are left out or short.
fn tests(program: &str, names: &[&str], environment: &[(&str, &str)], profile: &str) -> Result<()> {
    // Of all crates together, as the step of tests builds them: with one alone, features differ.
    let mut test = cargo(&["test", "--workspace", "--locked", "--profile", profile]);
    test.args(["--test", program, "--", "--include-ignored", "--exact", "--nocapture"])
        .args(names)
        .envs(environment.iter().copied());
    run(test).context("something failed or grew; the page above says what")
}
