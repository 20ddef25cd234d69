//! `cargo xtask handshakes`: haproxy with zariz beside haproxy with OpenSSL's own code.
//!
//! Both run all the time, each with one thread for its connections, and are loaded alternately. A ratio is
//! the median of the ratios of single rounds, so a disturbance longer than a round slows both. Processor time
//! is that of the server's process with all its threads, and of this program, the client, meanwhile.

use std::fmt::Write;

use crate::haproxy::{Haproxy, Mode};
use crate::load::Tls;
use crate::process::processor_seconds;
use crate::provider::Setup;
use crate::{handshakes, turn};

/// Hides AVX512-IFMA from OpenSSL, as on a processor without it. zariz ignores this variable.
const HIDDEN: (&str, &str) = ("OPENSSL_ia32cap", ":~0x200000");

/// One load on one server.
#[derive(Clone, Copy)]
struct Sample {
    /// Handshakes per second.
    rate: f64,
    /// Microseconds of processor time per handshake.
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

/// The median.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The servers, loaded alternately.
const CONTESTANTS: [&str; 3] = ["default provider", "zariz", "zariz with threads"];

fn contestant(index: usize, environment: &[(&str, &str)]) -> Haproxy {
    match index {
        0 => Haproxy::start(Setup::default_provider(), Mode::Synchronous, environment),
        1 => Haproxy::start(Setup::zariz(), Mode::Alone, environment),
        _ => Haproxy::start(Setup::zariz(), Mode::Threads, environment),
    }
}

/// A title, the figure of a sample, and its digits.
type Row = (&'static str, fn(&Sample) -> f64, usize);

/// The figures of each sample.
const ROWS: [Row; 4] = [
    ("handshakes a second", |sample| sample.rate, 0),
    ("µs of haproxy's processor time for a handshake", |sample| sample.server, 0),
    ("µs of the client's", |sample| sample.client, 0),
    ("operations in a batch", |sample| sample.mean_batch, 1),
];

/// All rounds of both TLS versions, as rows of a table.
fn rounds(name: &str, environment: &[(&str, &str)], out: &mut String) {
    let rounds: usize =
        std::env::var("ZARIZ_ROUNDS").map_or(7, |text| text.parse().expect("ZARIZ_ROUNDS is a number"));
    let servers = [0, 1, 2].map(|index| contestant(index, environment));
    for tls in Tls::ALL {
        // Warm up: pools, and the engines that zariz measures in its first calls.
        servers.iter().for_each(|server| server.load(tls).run(500).assert_no_failure());
        let mut samples = [const { Vec::new() }; 3];
        for round in 0..rounds {
            for turn in 0..3 {
                let index = (round + turn) % 3;
                samples[index].push(sample(&servers[index], tls, handshakes()));
            }
        }
        for (what, field, digits) in ROWS {
            let of = |index: usize| samples[index].iter().map(field);
            let mut row = format!("| {name}, {tls} | {what} |");
            for index in 0..3 {
                let value = median(of(index));
                let ratio = median(of(index).zip(of(0)).map(|(this, default)| this / default));
                let ratio =
                    if index > 0 && ratio.is_finite() { format!(" ({ratio:.2}×)") } else { String::new() };
                let value = if value.is_finite() { format!("{value:.digits$}") } else { "–".into() };
                write!(row, " {value}{ratio} |").expect("text");
            }
            println!("{row}");
            *out += &(row + "\n");
        }
        let rates = [1, 2].map(|index| {
            let ratios =
                samples[index].iter().zip(&samples[0]).map(|(this, default)| this.rate / default.rate);
            ratios.map(|ratio| format!("{ratio:.2}")).collect::<Vec<_>>().join(" ")
        });
        let row = format!(
            "| {name}, {tls} | ratios of single rounds, handshakes a second | | {} | {} |",
            rates[0], rates[1]
        );
        println!("{row}");
        *out += &(row + "\n");
    }
    servers.into_iter().for_each(Haproxy::stop);
}

#[test]
#[ignore = "a measurement: cargo xtask handshakes"]
fn handshakes_beside_the_default_provider() {
    let _turn = turn();
    let mut out = format!(
        "haproxy, `nbthread 1`, RSA-2048, full handshakes of 64 clients at once on loopback, {} a round. The default provider \
         signs without `ssl-mode-async`; zariz's batches are computed by haproxy's own thread, or (`insecure-fork-wanted`) \
         by threads of zariz's. The client shares the machine's {} processors. Medians; ratios are medians of the ratios of \
         single rounds.\n\n| OpenSSL's own code | | {} |\n|---|---|---:|---:|---:|\n",
        handshakes(),
        std::thread::available_parallelism().map_or(1, usize::from),
        CONTESTANTS.join(" | "),
    );
    rounds("with AVX512-IFMA", &[], &mut out);
    rounds("without AVX512-IFMA", &[HIDDEN], &mut out);
    if let Ok(path) = std::env::var("ZARIZ_RESULTS") {
        std::fs::write(&path, &out).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}
