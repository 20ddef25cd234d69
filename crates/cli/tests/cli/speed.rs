//! `zariz speed`: that it measures and reports. The figures depend on the machine.

use serde_json::Value;
use zariz_needs::needs;

use crate::args;
use crate::run::{Done, program, run, zariz};

fn json(arguments: &[&str]) -> Vec<Value> {
    let quick = ["speed", "--json", "--seconds", "0.01"];
    let done = zariz(quick.iter().chain(arguments)).exits(0).says_nothing();
    serde_json::from_slice(&done.stdout).expect("a JSON array")
}

/// The lines of a table, except notes about other programs, which may run during tests.
fn lines(done: &Done) -> Vec<&str> {
    done.lines().into_iter().filter(|line| !line.starts_with("  (~ other programs ran")).collect()
}

#[test]
fn json_has_every_operation() {
    let rows = json(&[
        "rsa1024",
        "rsa2048",
        "rsa3072",
        "rsa4096",
        "modexp1024",
        "modexp2048",
        "modexp4096",
        "--batch",
        "8",
    ]);
    let operations: Vec<&str> = rows.iter().filter_map(|row| row["operation"].as_str()).collect();
    let expected = [
        [
            "rsa1024-sign",
            "rsa1024-verify",
            "rsa2048-sign",
            "rsa2048-verify",
            "rsa3072-sign",
            "rsa3072-verify",
        ]
        .as_slice(),
        &["rsa4096-sign", "rsa4096-verify", "modexp1024", "modexp2048", "modexp4096"],
    ];
    assert_eq!(operations, expected.concat());
    for row in &rows {
        assert!(row["engine"].is_string() && row["threads"] == 1 && row["batch"] == 8, "{row}");
        let number = |name: &str| row[name].as_f64().unwrap_or_default();
        assert!(number("ops_per_second") > 0.0 && number("p50_us") > 0.0, "{row}");
        assert!(number("p50_us") <= number("p99_us"), "{row}");
        // The median of times is at most twice their mean; the figures are rounded.
        let share = row["processor_share"].as_f64().expect("a number");
        let (p50, clock_rate) = (number("p50_us") - 0.05, number("ops_per_second") * (share - 0.0005));
        assert!(p50 * clock_rate <= 2.001e6, "{row}");
        // Other programs may run, or not.
        assert!((0.0..=1.0).contains(&share), "{row}");
        assert!(if row["disturbed_rounds"] == 1 { share <= 0.95 } else { share >= 0.95 }, "{row}");
        assert!(row.get("peer").is_none() && row.get("ratio").is_none(), "{row}");
    }
}

#[test]
fn the_largest_key_and_the_slowest_engine() {
    let rows = json(&["rsa8192", "--engine", "portable", "--threads", "2", "--batch", "1"]);
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["engine"] == "portable" && row["threads"] == 2 && row["batch"] == 1));
}

#[test]
fn the_table_has_the_columns_of_openssl() {
    let done =
        zariz(["speed", "--seconds", "0.01", "rsa1024", "rsa2048", "modexp1024"]).exits(0).says_nothing();
    let lines = lines(&done);
    assert_eq!(lines.len(), 5, "{done:?}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let header = words(lines[0]);
    assert_eq!(header[..6], ["sign", "verify", "sign/s", "verify/s", "engine", "thr"]);
    assert_eq!(words(lines[2])[..3], ["rsa", "2048", "bits"]);
    assert!(words(lines[2])[3].ends_with('s') && words(lines[2])[4].ends_with('s'));
    assert!(words(lines[2])[5..7].iter().all(|rate| rate.parse::<f64>().is_ok_and(|rate| rate > 0.0)));
    assert_eq!(words(lines[3])[..2], ["modexp", "modexp/s"]);
    assert_eq!(words(lines[4])[..3], ["modexp", "1024", "bits"]);
}

#[needs("openssl")]
#[test]
fn a_comparison_has_a_peer_and_a_ratio() {
    let rows = json(&["rsa1024", "modexp1024", "--compare", "openssl", "--rounds", "1"]);
    for row in &rows[..2] {
        assert!(row["peer"].as_str().is_some_and(|peer| peer.contains("SSL ")), "{row}");
        let number = |name: &str| row[name].as_f64().expect("a number");
        let ratio = number("ops_per_second") / number("peer_ops_per_second");
        assert!((ratio / number("ratio") - 1.0).abs() < 0.01, "{row}");
    }
    let row = &rows[2];
    assert!(row["peer"].is_null() && row["peer_ops_per_second"].is_null() && row["ratio"].is_null(), "{row}");
    assert!(row.as_object().is_some_and(|row| row.contains_key("peer") && row.contains_key("ratio")));

    let compare =
        ["speed", "rsa1024", "modexp1024", "--compare", "openssl", "--rounds", "1", "--seconds", "0.01"];
    let table = zariz(compare.iter().chain(&["--threads", "2"])).exits(0);
    assert!(
        table.text().contains("times as fast") && table.text().contains("no such operation"),
        "{table:?}"
    );
}

#[test]
fn without_openssl_a_comparison_is_refused() {
    let mut command = program();
    command.args(args!["speed", "--compare", "openssl", "rsa1024"]).env("PATH", "/does/not/exist");
    run(&mut command, b"").exits(3).says(&["error: the openssl program cannot be run"]);
}

/// Targets that make keys or primes.
const MADE: [&str; 4] = ["keygen1024", "prime1024", "safeprime512", "keygen2048"];

#[test]
fn fixed_bases_keys_and_primes_are_measured() {
    let rows = json(&["fixedbase1024", "fixedbase2048", "fixedbase4096", "--batch", "8"]);
    assert_eq!(rows.len(), 3);
    let made = json(&MADE.into_iter().chain(["--batch", "3", "--threads", "2"]).collect::<Vec<_>>());
    let operations: Vec<&str> = made.iter().filter_map(|row| row["operation"].as_str()).collect();
    assert_eq!(operations, MADE);
    assert!(made.iter().all(|row| row["batch"] == 3 && row["threads"] == 2), "{made:?}");
    for row in rows.iter().chain(&made) {
        let number = |name: &str| row[name].as_f64().unwrap_or_default();
        assert!(number("ops_per_second") > 0.0 && number("p50_us") <= number("p99_us"), "{row}");
        assert!(row.get("peer").is_none() && row.get("peer_start_seconds").is_none(), "{row}");
    }
}

#[needs("openssl")]
#[test]
fn keys_and_primes_are_compared_with_processes() {
    let options = ["fixedbase1024", "--compare", "openssl", "--rounds", "2", "--threads", "2"];
    let rows = json(&MADE[..3].iter().copied().chain(options).collect::<Vec<_>>());
    for row in &rows[..3] {
        let number = |name: &str| row[name].as_f64().expect("a number");
        assert!(number("peer_ops_per_second") > 0.0 && number("ratio") > 0.0, "{row}");
        assert!(number("peer_start_seconds") > 0.0 && number("peer_start_seconds") < 1.0, "{row}");
    }
    assert!(rows[3]["ratio"].is_null() && rows[3].get("peer_start_seconds").is_none(), "{}", rows[3]);

    let compare = ["speed", "--compare", "openssl", "--rounds", "1", "--seconds", "0.01"];
    let table =
        zariz(compare.iter().chain(&["fixedbase1024", "prime1024", "safeprime512"])).exits(0).says_nothing();
    let lines = lines(&table);
    assert_eq!(lines.len(), 3 + 2 * 5, "{table:?}");
    assert!(lines[2].contains("no such operation") && lines[7].contains("openssl starts a process for each"));
    // Headers and values are aligned.
    assert_eq!(lines[0].find("engine"), lines[1].find("auto"), "{}", table.text());
    assert!(lines[3].contains(" prime ") && lines[3].contains(" prime/s "), "{}", table.text());
    assert!(lines[9].starts_with("safeprime  512 bits "), "{}", table.text());
}
