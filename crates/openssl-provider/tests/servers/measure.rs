//! `cargo xtask handshakes`: haproxy with zariz beside haproxy with OpenSSL's own code.
//!
//! Both run all the time, each with one thread for its connections, and take turns under the same load. A ratio is the
//! median of the ratios of single rounds, so that whatever slows the machine for longer than a round slows both. Processor
//! time is what the server's process used, all its threads together, and what this program, the client, used meanwhile.

use std::fmt::Write;

use crate::haproxy::{Haproxy, Mode};
use crate::load::Tls;
use crate::process::processor_seconds;
use crate::provider::Setup;
use crate::{handshakes, turn};

/// Hides AVX512-IFMA from OpenSSL, as on a processor without it. zariz does not look at this variable.
const HIDDEN: (&str, &str) = ("OPENSSL_ia32cap", ":~0x200000");

/// One load on one server.
#[derive(Clone, Copy)]
struct Sample {
    /// Handshakes a second.
    rate: f64,
    /// Microseconds of processor time for one handshake.
    server: f64,
    client: f64,
    mean_batch: f64,
}

fn sample(haproxy: &Haproxy, tls: Tls, count: usize) -> Sample {
    let (worker, client) = (haproxy.worker(), std::process::id());
    let (counters, server_start, client_start) =
        (haproxy.counters(), processor_seconds(worker), processor_seconds(client));
    let tally = haproxy.load(tls).run(count);
    let each = |id, start| (processor_seconds(id) - start) * 1e6 / count as f64;
    let (server, client) = (each(worker, server_start), each(client, client_start));
    tally.assert_no_failure();
    Sample { rate: tally.rate(), server, client, mean_batch: haproxy.counters().since(counters).mean_batch() }
}

/// The middle one.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// All rounds of one version of TLS, as rows of a table.
fn rounds(name: &str, environment: &[(&str, &str)], out: &mut String) {
    let rounds: usize = std::env::var("ZARIZ_ROUNDS").map_or(7, |text| text.parse().expect("ZARIZ_ROUNDS is a number"));
    let ours = Haproxy::start(Setup::zariz(), Mode::Alone, environment);
    let theirs = Haproxy::start(Setup::default_provider(), Mode::Synchronous, environment);
    for tls in Tls::ALL {
        // Warm: pools, and what zariz measures of its engines in its first calls.
        ours.load(tls).run(500).assert_no_failure();
        theirs.load(tls).run(500).assert_no_failure();
        let pairs: Vec<[Sample; 2]> = (0..rounds)
            .map(|round| match round % 2 {
                0 => [sample(&ours, tls, handshakes()), sample(&theirs, tls, handshakes())],
                _ => {
                    let theirs = sample(&theirs, tls, handshakes());
                    [sample(&ours, tls, handshakes()), theirs]
                }
            })
            .collect();
        let of = |field: fn(&Sample) -> f64| {
            let [ours, theirs] = [0, 1].map(|who| median(pairs.iter().map(|pair| field(&pair[who]))));
            let ratios: Vec<f64> = pairs.iter().map(|pair| field(&pair[0]) / field(&pair[1])).collect();
            (ours, theirs, median(ratios.iter().copied()), ratios)
        };
        for (what, (ours, theirs, ratio, ratios), digits) in [
            ("handshakes a second", of(|sample| sample.rate), 2),
            ("µs of processor time of haproxy a handshake", of(|sample| sample.server), 2),
            ("µs of processor time of the client a handshake", of(|sample| sample.client), 2),
        ] {
            let ratios: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.digits$}")).collect();
            writeln!(
                out,
                "| {name}, {tls} | {what} | {ours:.0} | {theirs:.0} | {ratio:.digits$} | {} |",
                ratios.join(" ")
            )
            .expect("text");
        }
        let batch = median(pairs.iter().map(|pair| pair[0].mean_batch));
        writeln!(out, "| {name}, {tls} | operations in a batch | {batch:.1} | | | |").expect("text");
        print!("{out}");
    }
    ours.stop();
    theirs.stop();
}

#[test]
#[ignore = "a measurement: cargo xtask handshakes"]
fn handshakes_beside_the_default_provider() {
    let _turn = turn();
    let mut out = format!(
        "| | of 64 clients at once, RSA-2048, full handshakes, {} a round | zariz, async | default provider | ratio | of \
         single rounds |\n|---|---|---:|---:|---:|---|\n",
        handshakes()
    );
    rounds("OpenSSL with AVX512-IFMA", &[], &mut out);
    rounds("OpenSSL without AVX512-IFMA", &[HIDDEN], &mut out);
    if let Ok(path) = std::env::var("ZARIZ_RESULTS") {
        std::fs::write(&path, &out).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    println!("{out}");
}
