//! The program. Only that it measures every row and says so: how fast anything is depends on the machine.

use std::process::{Command, Stdio};

use serde_json::Value;
use zariz::Engine;
use zariz_needs::needs;

#[path = "../../../crates/cli/tests/cli/run.rs"]
#[allow(dead_code, reason = "the tests of the program `zariz` use all of it")]
mod run;

use run::{Done, program, zariz};
#[cfg(target_os = "linux")]
use run::{Folder, another_library, module, run};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_zariz-papers");

/// The quickest run: each row is measured three times or a few more.
const QUICK: [&str; 2] = ["--seconds", "0.001"];

/// The names of the libraries that rows need.
#[cfg(target_os = "linux")]
const LIBRARIES: [&str; 4] = ["libgmp.so.10", "libcrypto.so.3", "libcrypto.so.4", "libcrypto.so.1.1"];

fn quick(arguments: &[&str]) -> Done {
    zariz(QUICK.iter().chain(arguments)).exits(0).says_nothing()
}

fn json(done: &Done) -> Value {
    serde_json::from_slice(&done.stdout).expect("JSON")
}

/// The rows of a table, which must be there.
fn rows<'a>(paper: &'a Value, table: &str) -> &'a [Value] {
    let tables = paper["tables"].as_array().expect("tables");
    let found = tables.iter().find(|found| found["name"] == table);
    found.and_then(|table| table["rows"].as_array()).expect("the table has rows")
}

/// What every row and paper must have; every row without another library must have been measured.
fn check(paper: &Value) {
    assert!(
        paper["citation"].is_string() && paper["processor"].is_string() && paper["notes"].is_array(),
        "{paper}"
    );
    assert!(paper["seconds"] == 0.001 && paper["lanes"].as_u64().is_some_and(|lanes| lanes >= 1));
    let counter = paper["cycles_per_second"].as_f64();
    assert!(counter.is_none_or(|hertz| hertz > 1e8), "{counter:?}");
    for table in paper["tables"].as_array().expect("tables") {
        assert!(table["title"].is_string() && table["source"].is_string() && table["notes"].is_array());
        assert!(
            table["title"].as_str().is_some_and(|title| !title.contains("at once")),
            "{}",
            table["title"]
        );
        for row in table["rows"].as_array().expect("rows") {
            for key in ["row", "size", "unit", "published", "measured", "rounds", "nanoseconds", "engine"] {
                assert!(row.get(key).is_some(), "{key} is not in {row}");
            }
            let (unit, engine) =
                (row["unit"].as_str().expect("a unit"), row["engine"].as_str().expect("an engine"));
            assert!(
                row["published"].is_null() || row["published"].as_f64().is_some_and(|figure| figure > 0.0)
            );
            assert!(
                row["size"].as_u64().is_some_and(|size| size == 381 || (512..=8192).contains(&size)),
                "{row}"
            );
            let untimed =
                ["times", "percent", "M", "digit products", "vector instructions", "instructions", "bits"];
            let is_timed = !untimed.contains(&unit);
            let in_cycles = unit.ends_with("cycles");
            let [measured, least, most] = ["measured", "least", "most"].map(|key| row[key].as_f64());
            if measured.is_none() {
                assert!(row.get("note").is_some() || (in_cycles && counter.is_none()), "{row}");
                assert!(least.is_none() && most.is_none() && row["rounds"].is_null(), "{row}");
                assert!(row["nanoseconds"].is_null() || counter.is_none(), "{row}");
                continue;
            }
            // What is measured has a note where only the pairs are no peer.
            assert!(
                row.get("note").is_none() || row["row"].as_str().is_some_and(|row| row.contains("_x2")),
                "{row}"
            );
            assert_eq!(row["nanoseconds"].as_f64().is_some_and(|time| time > 0.0), is_timed, "{row}");
            assert!(measured.is_some_and(|figure| figure > 0.0) || unit == "percent", "{row}");
            if engine == "counted" {
                assert!(
                    row["rounds"].is_null() && least.is_none() && most.is_none() && row["noisy"] == false,
                    "{row}"
                );
            } else {
                assert!(row["rounds"].as_u64().is_some_and(|rounds| (3..=15).contains(&rounds)), "{row}");
                assert!(
                    least <= measured && measured <= most && least.is_some() && row["noisy"].is_boolean(),
                    "{row}"
                );
            }
            let known = engine == paper["engine"] || engine == "counted" || engine.contains(' ');
            let known = known || Engine::ALL.iter().any(|one| one.name() == engine);
            assert!(known, "{row}");
        }
    }
}

/// The names of a table's rows at one size.
fn names(rows: &[Value], size: u64) -> Vec<&str> {
    rows.iter().filter(|row| row["size"] == size).filter_map(|row| row["row"].as_str()).collect()
}

/// A row's published figure.
fn published(rows: &[Value], size: u64, name: &str) -> Option<f64> {
    let row = rows.iter().find(|row| row["size"] == size && row["row"] == name);
    row.unwrap_or_else(|| panic!("no {name} at {size}"))["published"].as_f64()
}

#[test]
fn every_row_of_ahmm_on_the_slowest_engine() {
    let paper = json(&quick(&["ahmm", "--json", "--engine", "portable"]));
    assert!(
        paper["paper"] == "ahmm"
            && paper["engine"] == "portable"
            && paper["libraries"] == Value::Array(vec![])
    );
    let note = paper["notes"][0].as_str().expect("a note");
    assert!(note.contains("AVX512-IFMA") && note.contains("portable"), "{note}");
    let notes = paper["notes"].to_string();
    assert!(notes.contains("ratios are medians over rounds, not ratios of the figures shown"), "{notes}");
    assert!(notes.contains("This engine does eight operations one after the other"), "{notes}");
    check(&paper);
    let small = &paper["tables"][0]["notes"].to_string();
    assert!(
        small.contains("a sixth") && small.contains("blinding and the check with the public exponent"),
        "{small}"
    );

    let rsa = rows(&paper, "rsa2048");
    let signing = ["sign: baseline (AMM)", "sign: new (AHMM)", "sign: gain"];
    let verifying = ["verify: baseline (AMM)", "verify: new (AHMM)"];
    assert_eq!(names(rsa, 2048), [&signing[..], &verifying].concat());
    let figures = rsa.iter().map(|row| row["published"].as_f64()).collect::<Option<Vec<_>>>();
    assert_eq!(figures, Some(vec![7809.6, 8508.0, 1.089, 125_591.4, 126_700.8]));

    let more = rows(&paper, "rsa-more");
    assert_eq!(more.len(), 9);
    for size in [3072, 4096, 8192] {
        assert_eq!(names(more, size), signing);
    }
    let multiplication = rows(&paper, "multiplication");
    assert_eq!(multiplication.len(), 12);
    for size in [1024, 1536, 2048, 4096] {
        assert_eq!(names(multiplication, size), ["AMM", "AHMM", "AHMM: speedup vs AMM"]);
    }
    assert!(more.iter().chain(multiplication).all(|row| row["published"].is_null()));

    // Without a module, the rows are there with what the paper has, and say how to measure them.
    let through = rows(&paper, "openssl-speed");
    assert_eq!(through.len(), 27);
    for row in through {
        assert!(
            row["measured"].is_null()
                && row["note"].as_str().is_some_and(|note| note.contains("--provider PATH"))
        );
    }
    published_through_the_provider(through);
}

#[test]
fn a_wrong_file_for_crypto_mb_is_told_before_anything_is_measured() {
    for file in ["/does/not/exist/libcrypto_mb.so", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")] {
        let done = zariz(QUICK.iter().chain(&["ahmm", "--crypto-mb", file]));
        assert!(done.exits(3).says(&["--crypto-mb: ", file]).stdout.is_empty());
    }
}

#[ignore = "needs crypto_mb: set ZARIZ_CRYPTO_MB=libcrypto_mb.so, and give --ignored"]
#[test]
fn crypto_mb_has_rows_of_its_own() {
    let file = std::env::var("ZARIZ_CRYPTO_MB").expect("ZARIZ_CRYPTO_MB names a libcrypto_mb.so");
    let paper = json(&quick(&["ahmm", "--json", "--crypto-mb", &file]));
    check(&paper);
    let rows_of =
        |table| rows(&paper, table).iter().filter(|row| row["row"].to_string().contains("crypto_mb"));
    let named = |row: &Value| {
        (row["row"].as_str().expect("a name").to_owned(), row["size"].as_u64().expect("a size"))
    };
    let (sign, ratio, verify) = ("sign: crypto_mb", "sign: AHMM vs crypto_mb", "verify: crypto_mb");
    let expected = [
        (sign, 2048),
        (ratio, 2048),
        (verify, 2048),
        (sign, 3072),
        (ratio, 3072),
        (sign, 4096),
        (ratio, 4096),
    ];
    let found: Vec<_> = rows_of("rsa2048").chain(rows_of("rsa-more")).map(named).collect();
    assert_eq!(found, expected.map(|(name, size)| (name.to_owned(), size)));
    for row in rows_of("rsa2048").chain(rows_of("rsa-more")) {
        assert!(row["measured"].as_f64().is_some_and(|figure| figure > 0.0), "{row}");
    }
    let engine = rows_of("rsa2048").next().and_then(|row| row["engine"].as_str());
    assert!(engine.is_some_and(|engine| engine.starts_with("crypto_mb ")), "{engine:?}");
}

/// Rows of `openssl speed`, and what the paper has of them.
fn published_through_the_provider(rows: &[Value]) {
    let expected = [
        ("sign: default provider", None),
        ("sign: zariz, baseline (AMM)", Some(7809.6)),
        ("sign: zariz, new (AHMM)", Some(8508.0)),
        ("sign: gain", Some(1.089)),
        ("sign: AMM vs default provider", None),
        ("sign: AHMM vs default provider", None),
        ("verify: default provider", None),
        ("verify: zariz, baseline (AMM)", Some(125_591.4)),
        ("verify: zariz, new (AHMM)", Some(126_700.8)),
    ];
    for size in [2048, 3072, 4096] {
        assert_eq!(names(rows, size), expected.map(|(name, _)| name));
        for (name, figure) in expected {
            assert_eq!(published(rows, size, name), figure.filter(|_| size == 2048), "{name} at {size}");
        }
    }
}

#[needs("openssl")]
#[test]
#[cfg(target_os = "linux")]
fn ahmm_through_the_provider() {
    let folder = Folder::new();
    // With any name of the file.
    let file = folder.join("another-name.so");
    std::fs::copy(module(), &file).expect("copied");
    let file = file.to_str().expect("a name");
    let paper = json(&quick(&["ahmm", "--json", "--provider", file]));
    check(&paper);
    let rows = rows(&paper, "openssl-speed");
    published_through_the_provider(rows);
    for row in rows {
        assert!(row["measured"].is_number() && row.get("note").is_none(), "{row}");
        let by = row["engine"].as_str().expect("an engine");
        let default = row["row"].as_str().is_some_and(|name| name.ends_with(": default provider"));
        assert_eq!(by.starts_with("OpenSSL "), default, "{row}");
    }
    // Ratios are those of the rates, as far as rounds agree.
    let of = |size: u64, name: &str| {
        let row = rows.iter().find(|row| row["size"] == size && row["row"] == name).expect("a row");
        ["least", "measured", "most"].map(|key| row[key].as_f64().expect("a figure"))
    };
    let [default, ours, ratio] =
        ["sign: default provider", "sign: zariz, baseline (AMM)", "sign: AMM vs default provider"]
            .map(|name| of(3072, name));
    assert!(
        ours[0] / default[2] <= ratio[1] + 0.001 && ratio[1] - 0.001 <= ours[2] / default[0],
        "{ours:?} {default:?}"
    );
    let notes = paper["tables"][1]["notes"].to_string();
    assert!(
        notes.contains("-async_jobs 8") && notes.contains("RSA-4096: by the provider's counters"),
        "{notes}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_module_that_cannot_be_used_is_told_before_anything_is_measured() {
    let folder = Folder::new();
    let text = folder.file("text.so", " ".repeat(99));
    for (file, why) in [(text, "cannot load it as a provider"), (folder.join("missing.so"), "No such file")] {
        let mut command = program();
        run(command.args(["ahmm", "--seconds", "99", "--provider"]).arg(file), b"").exits(3).says(&[why]);
    }
}

#[test]
fn every_row_of_truncated() {
    let paper = json(&quick(&["truncated", "--json"]));
    assert_eq!(paper["paper"], "truncated");
    check(&paper);
    let libraries = paper["libraries"].as_array().expect("libraries");
    assert_eq!(libraries.len(), 2);
    for size in [1024, 2048, 4096] {
        let complexity = rows(&paper, "complexity");
        assert_eq!(names(complexity, size).len(), 22);
        for (family, gain) in [("schoolbook", 0.5), ("Karatsuba", 0.33), ("Karatsuba 2", 0.22)] {
            let row = |name: &str| {
                let name = format!("{family}{name}");
                complexity
                    .iter()
                    .find(|row| row["size"] == size && row["row"] == *name)
                    .expect("the row is there")
            };
            let counted = |name: &str| row(name)["measured"].as_f64().expect("counted");
            let whole = counted(", normal");
            assert_eq!(row(": gain tr/nml")["published"], gain);
            assert!(
                (counted(": gain tr/nml") - (whole - counted(", truncated"))).abs() < 0.002,
                "{family} at {size}"
            );
            assert!(row(": gain tr/nml")["unit"] == "M" && row(", normal")["engine"] == "counted");
            // In digit products the families compare, and the method's M cancels.
            let digits = row(", normal: digit products");
            assert!(digits["unit"] == "digit products" && digits["published"].is_null(), "{digits}");
            let ratio = counted(", truncated: digit products") / counted(", normal: digit products");
            assert!((ratio * whole - counted(", truncated")).abs() < 0.01, "{family} at {size}");
        }
        for (name, figure) in
            [("schoolbook, truncated", 2.0), ("Karatsuba, normal", 2.67), ("Karatsuba 2, normal", 2.78)]
        {
            assert_eq!(published(complexity, size, name), Some(figure));
            let row = complexity.iter().find(|row| row["size"] == size && row["row"] == name);
            let measured = row.and_then(|row| row["measured"].as_f64()).expect("counted");
            assert!((measured - figure).abs() < 0.1, "{name} at {size}: {measured}");
        }
        let methods = ["Schoolbook", "Truncated Schoolbook", "Karatsuba", "Truncated Karatsuba"];
        let methods = [&methods[..], &["Karatsuba 2", "Truncated Karatsuba 2", "AMM"]].concat();
        for (table, count, more) in [
            ("multiplication", 17, &["GMP (x8)", "OpenSSL (x8)", "AHMM"][..]),
            ("squaring", 14, &["GMP (x8)", "AMM, squares by Karatsuba"]),
            (
                "exponentiation",
                22,
                &["GMP (x8)", "OpenSSL consttime (x8)", "OpenSSL consttime_x2 (x4)", "AHMM"],
            ),
        ] {
            let names = names(rows(&paper, table), size);
            assert_eq!(names.len(), count, "{table}: {names:?}");
            for name in methods.iter().chain(more) {
                assert!(names.contains(name), "{table}: {name} is not in {names:?}");
            }
        }
    }
    let notes = paper["notes"].to_string();
    let eight = match paper["lanes"].as_u64() {
        Some(8) => "by this engine all at once",
        Some(4) => "by this engine 4 at once",
        _ => "by this engine one after the other",
    };
    assert!(notes.contains(eight) && notes.contains("not ratios of the figures shown"), "{notes}");
    // Figures that the paper gives in cycles alone.
    let power = rows(&paper, "exponentiation");
    for (size, figure) in [(1024, None), (2048, Some(13.2)), (4096, Some(10.8))] {
        let row =
            power.iter().find(|row| row["size"] == size && row["row"] == "Karatsuba: saved by truncation");
        let row = row.expect("the row is there");
        assert_eq!(row["published"].as_f64(), figure);
        assert_eq!(
            row.get("published_note").and_then(Value::as_str),
            figure.map(|_| "computed from its cycles")
        );
    }
    pairs_that_are_no_peer_are_told(power);
    the_choice_is_named(power);
    // Figures of each table, and what the paper leaves out.
    assert_eq!(published(rows(&paper, "multiplication"), 2048, "Truncated Karatsuba"), Some(7286.0));
    assert_eq!(published(rows(&paper, "multiplication"), 1024, "Truncated Karatsuba"), None);
    assert_eq!(published(rows(&paper, "squaring"), 4096, "Schoolbook: speedup vs GMP"), Some(4.33));
    assert_eq!(published(rows(&paper, "exponentiation"), 1024, "GMP (x8)"), Some(11_333.0));
    assert_eq!(published(rows(&paper, "exponentiation"), 4096, "Schoolbook: speedup vs consttime_x2"), None);
}

/// Of pairs that are hardly faster than single powers, a note says so; of others, none.
fn pairs_that_are_no_peer_are_told(power: &[Value]) {
    for size in [1024, 2048, 4096] {
        let row =
            |name: &str| power.iter().find(|row| row["size"] == size && row["row"] == name).expect("a row");
        let [single, pair] = ["OpenSSL consttime (x8)", "OpenSSL consttime_x2 (x4)"].map(row);
        let [Some(one), Some(two)] = [single, pair].map(|row| row["least"].as_f64()) else { continue };
        for row in
            [pair, row("Schoolbook: speedup vs consttime_x2"), row("Karatsuba: speedup vs consttime_x2")]
        {
            let note = row.get("note").and_then(Value::as_str);
            assert!(
                note.is_none_or(|note| note.contains("this OpenSSL has no vector code for pairs")),
                "{row}"
            );
            // The program compares unrounded nanoseconds.
            if one / two < 1.28 {
                assert!(note.is_some(), "{row}");
            } else if one / two > 1.32 {
                assert!(note.is_none(), "{row}");
            }
        }
        assert!(single.get("note").is_none(), "{single}");
    }
}

/// The library's choice is one of its methods, and told at each size.
fn the_choice_is_named(power: &[Value]) {
    for size in [1024, 2048, 4096] {
        let choices: Vec<_> =
            names(power, size).into_iter().filter_map(|name| name.strip_prefix("zariz takes: ")).collect();
        let [choice] = choices[..] else { panic!("{choices:?} at {size}") };
        assert!(choice.parse::<zariz::Method>().is_ok(), "{choice}");
    }
}

#[test]
fn every_row_of_ncc() {
    let paper = json(&quick(&["ncc", "--json"]));
    assert!(paper["paper"] == "ncc" && paper["libraries"] == Value::Array(vec![]));
    assert!(!paper["notes"].to_string().contains("The paper uses AVX512-IFMA"), "{}", paper["notes"]);
    let operations = rows(&paper, "operations");
    let figures: Vec<f64> = operations.iter().filter_map(|row| row["published"].as_f64()).collect();
    assert_eq!(figures, [3.687, 3.124, 517.68, 46.049, 34.741, 31.498, 29.576, 17.503]);
    assert!(operations[2]["row"] == "Multiplication by BigUint" && operations[2]["unit"] == "ns");
    // Without their instructions, the last two and the ratio have none.
    assert!(operations[..5].iter().all(|row| row["measured"].as_f64().is_some_and(|time| time > 0.0)));
    let more = rows(&paper, "more");
    let with_lanes: Vec<_> = zariz::Engine::ALL.iter().filter(|engine| engine.has_lanes()).collect();
    let available = with_lanes.iter().filter(|engine| engine.is_available()).count();
    assert_eq!(more.len(), 3 + 3 * available + (with_lanes.len() - available));
    for engine in with_lanes {
        let name = format!("Multiplication, kept in lanes: {engine}");
        let row = more.iter().find(|row| row["row"] == *name).expect("a row for each engine");
        assert_eq!(row["measured"].is_null(), !engine.is_available(), "{row}");
    }
    if operations.iter().chain(more).all(|row| !row["measured"].is_null()) {
        check(&paper);
    }
}

#[test]
fn every_row_of_phirsa() {
    for engine in ["auto", "portable"] {
        let paper = json(&quick(&["phirsa", "--json", "--engine", engine]));
        assert_eq!(paper["paper"], "phirsa");
        check(&paper);
        let tables: Vec<&str> = paper["tables"]
            .as_array()
            .expect("tables")
            .iter()
            .filter_map(|table| table["name"].as_str())
            .collect();
        assert_eq!(tables, ["analysis", "multiplication", "decryption", "keliris", "chang", "platforms"]);
        let row = |table: &str, size: u64, name: &str| {
            let found = rows(&paper, table).iter().find(|row| row["size"] == size && row["row"] == name);
            found.unwrap_or_else(|| panic!("no {name} of {size} bits in {table}")).clone()
        };
        // Counted, and what the paper prints.
        let figures = |row: Value| [row["published"].as_f64(), row["measured"].as_f64()];
        assert_eq!(figures(row("analysis", 1024, "carry chains: rounds")), [Some(704.0); 2]);
        assert_eq!(figures(row("analysis", 1024, "redundant, by formula")), [Some(1224.0); 2]);
        for (size, published) in [(512, 218.0), (1024, 724.0), (2048, 2797.0)] {
            for (table, name) in [("multiplication", "vector instructions"), ("keliris", "carry chains")] {
                let [printed, ours] = figures(row(table, size, name));
                assert_eq!(printed, Some(published));
                assert!(
                    ours.is_some_and(|ours| (1.0..1.05).contains(&(ours / published))),
                    "{size}: {ours:?}"
                );
            }
        }
        for (size, window, published) in [(1024, 5.0, 258_370.0), (2048, 6.0, 41_803.0), (4096, 6.0, 5358.0)]
        {
            assert_eq!(figures(row("decryption", size, "window size (bits)")), [Some(window); 2]);
            assert_eq!(row("decryption", size, "all threads: throughput")["published"], published);
            assert_eq!(row("chang", size, "carry chains, order put right")["published"], published);
        }
        // The two tables contradict each other, and one has its columns in reverse order.
        assert_eq!(row("platforms", 1024, "Xeon Phi: throughput")["published"], 234_981.0);
        assert_eq!(row("chang", 1024, "carry chains, as printed")["published"], 5358.0);
        assert!(row("chang", 1024, "carry chains, as printed")["published_note"].is_string());
        // All that is ours is measured; utilization needs vector instructions and a clock.
        let vector = Engine::CarryChains.uses_vectors();
        let name = if vector { "carry-chains, AVX-512F" } else { "carry-chains, no vectors" };
        for (table, of_chains, of_eight) in [
            ("multiplication", "cycles", "eight lanes: cycles for each"),
            ("decryption", "one thread: throughput", "eight signatures: throughput"),
        ] {
            assert_eq!(row(table, 1024, of_chains)["engine"], name);
            let eight = row(table, 1024, of_eight)["engine"].clone();
            assert!(eight == engine || engine == "auto" && eight == Engine::best().name(), "{eight}");
        }
        for table in ["multiplication", "decryption"] {
            for row in rows(&paper, table) {
                let share = row["unit"] == "percent";
                assert!(
                    row["measured"].is_number()
                        || share && !vector
                        || row["unit"].as_str().is_some_and(|unit| unit.ends_with("cycles")),
                    "{row}"
                );
            }
        }
        // One thread's throughput is one over its latency.
        let rate = row("decryption", 2048, "one thread: throughput")["measured"].as_f64().expect("measured");
        let latency =
            row("decryption", 2048, "one thread: latency (ms)")["measured"].as_f64().expect("measured");
        assert!((rate * latency / 1000.0 - 1.0).abs() < 0.01, "{rate} a second, {latency} ms");
    }
}

#[test]
fn rsaz_has_instructions_powers_and_products() {
    let paper = json(&quick(&["rsaz", "--json"]));
    check(&paper);
    let instructions = rows(&paper, "instructions");
    let of = |name: &str| instructions.iter().find(|row| row["row"] == name).expect("the row is there");
    let count = |name: &str| of(name)["measured"].as_f64().expect("counted");
    let [ours, scalar] = ["RSAZ, chained quotients", "OpenSSL's scalar code"].map(count);
    let saved = of("RSAZ, chained: fewer than OpenSSL's scalar");
    assert_eq!(saved["published"], 51.0);
    assert!(
        (saved["measured"].as_f64().expect("counted") - 100.0 * (1.0 - ours / scalar)).abs() < 0.06,
        "{saved}"
    );
    let with_mulx = of("RSAZ, chained: fewer than scalar with MULX");
    assert_eq!(with_mulx["published"], 26.0);
    let expected = 100.0 * (1.0 - ours / count("zariz's scalar code, MULX and ADX"));
    assert!((with_mulx["measured"].as_f64().expect("counted") - expected).abs() < 0.06, "{with_mulx}");
    let power = rows(&paper, "power");
    for size in [512, 1024, 2048] {
        let names = names(power, size);
        for name in [
            "RSAZ, chained quotients",
            "RSAZ, friendly quotients",
            "zariz's scalar code",
            "OpenSSL consttime",
        ] {
            assert!(names.contains(&name), "{name} is not in {names:?}");
        }
    }
    assert_eq!(published(power, 1024, "RSAZ, chained: speedup vs OpenSSL"), Some(1.85));
    assert_eq!(published(power, 2048, "RSAZ, chained: speedup vs OpenSSL"), None);
    let products = rows(&paper, "products");
    assert_eq!(published(products, 1024, "multiplication, chained quotients"), Some(2592.0));
    assert_eq!(published(products, 1024, "squaring, chained quotients"), None);
}

#[test]
fn titles_and_notes_count_what_the_engine_does_at_once() {
    let done = quick(&["truncated", "--engine", "portable"]);
    let text = done.text().split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["by this engine one after the other", "Montgomery squarings, eight of each", "~ marks figures"]
    {
        assert!(text.contains(words), "{words} is not in {done:?}");
    }
    assert!(!text.contains("eight at once") && !text.contains("all at once"), "{done:?}");
}

#[test]
fn text_says_the_same_in_80_columns_for_all_papers() {
    let done = quick(&[]);
    for words in [
        "ahmm: Erdinc Ozturk",
        "rsaz: Shay Gueron",
        "truncated: Laurent-Stéphane Didier",
        "ncc: NCC Group",
        "RSA-2048 (operations per second)",
        "7,809.6",
        "1.089 x",
        "published      counted\n",
        "19.3 %*",
        "* computed from its cycles",
        "  4096 bits",
        "614,637",
        "4.66 x",
        "ns\n",
    ] {
        assert!(done.text().contains(words), "{words} is not in {done:?}");
    }
    for name in [
        "AHMM: speedup vs AMM",
        "Truncated Karatsuba 2",
        "Karatsuba: speedup vs consttime_x2",
        "sign: gain",
        "Multiplication by BigUint",
    ] {
        assert!(
            done.lines().iter().any(|line| line.trim_start().starts_with(name)),
            "{name} is not in {done:?}"
        );
    }
    // A word of the system's loader may be longer than a line.
    let long = done.lines().into_iter().find(|line| line.chars().count() >= 80 && line.contains("  "));
    assert_eq!(long, None);
    assert!(done.lines().iter().all(|line| line.trim_end() == *line), "{done:?}");
}

#[test]
fn mistakes_exit_with_2() {
    for arguments in [
        &["ahmm", "--engine", "sse9"][..],
        &["ahmm", "--engine", "scalar"],
        &["ahmm", "--threads", "2"],
        &["--seconds", "0"],
        &["--seconds", "NaN"],
    ] {
        let done = zariz(arguments).exits(2);
        assert!(done.stdout.is_empty() && !done.stderr.is_empty(), "{arguments:?}");
    }
    zariz(["--seconds", "3601"]).exits(2).says(&["3601", "a number from 0.001 to 3600"]);
}

/// No control character of a name reaches the terminal.
#[test]
fn messages_have_no_control_characters() {
    const HOSTILE: &str = "x\u{1b}[31m\rerror: \u{7}\nforged";
    for arguments in [&[HOSTILE][..], &["ahmm", "--crypto-mb", HOSTILE], &["ahmm", "--provider", HOSTILE]] {
        let done = zariz(arguments);
        assert!(matches!(done.code, Some(2 | 3)), "{done:?}");
        assert!(!done.stderr.chars().any(|c| c != '\n' && c.is_control()), "{done:?}");
        assert!(!done.stderr.lines().any(|line| line.starts_with("forged")), "{done:?}");
    }
}

#[needs("script")]
#[test]
fn it_tells_how_long_it_will_take() {
    let mut script = Command::new("script");
    let command = format!("timeout 3 \"{PROGRAM}\" ahmm --seconds 1 > /dev/null");
    let done =
        run::run(script.args(["-q", "-e", "-c", &command, "/dev/null"]).env("TERM", "xterm"), b"").exits(124);
    assert!(done.text().contains("ahmm: rsa2048") && done.text().contains("(about 18 s left)"), "{done:?}");
}

#[test]
fn papers_that_are_not_there_are_refused_with_those_that_are() {
    for name in ["rsa", "RSAZ", "AHMM", ""] {
        zariz([name]).exits(2).says(&["PAPER", "ahmm", "rsaz", "truncated"]);
    }
}

#[test]
fn json_is_an_array_for_several_papers_and_a_name_twice_is_one() {
    let all = json(&quick(&["truncated", "ahmm", "--json"]));
    let names: Vec<&str> =
        all.as_array().expect("an array").iter().filter_map(|paper| paper["paper"].as_str()).collect();
    assert_eq!(names, ["ahmm", "truncated"]);
    assert_eq!(json(&quick(&["ahmm", "ahmm", "--json"]))["paper"], "ahmm");
}

/// Runs `truncated` with a folder before those in which the system looks for libraries.
#[cfg(target_os = "linux")]
fn beside(folder: &Folder, more: &[&str]) -> Done {
    let mut command = program();
    command.args(QUICK.iter().chain(&["truncated"]).chain(more)).env("LD_LIBRARY_PATH", folder.path());
    run(&mut command, b"").exits(0).says_nothing()
}

/// Rows that need the first library, and the second.
#[cfg(target_os = "linux")]
const OF_LIBRARIES: [&[&str]; 2] = [
    &["GMP (x8)", "Karatsuba: speedup vs GMP"],
    &["OpenSSL consttime (x8)", "OpenSSL consttime_x2 (x4)", "Schoolbook: speedup vs consttime_x2"],
];

/// Checks that rows of libraries are there without figures, and give these reasons.
#[cfg(target_os = "linux")]
fn without_libraries(folder: &Folder, reasons: [&str; 2]) {
    let paper = json(&beside(folder, &["--json"]));
    check(&paper);
    let libraries = paper["libraries"].as_array().expect("libraries");
    let power = rows(&paper, "exponentiation");
    for ((library, reason), names) in libraries.iter().zip(reasons).zip(OF_LIBRARIES) {
        assert!(library["version"].is_null(), "{library}");
        assert!(library["note"].as_str().is_some_and(|note| note.contains(reason)), "{library}");
        for name in names {
            let row = power.iter().find(|row| row["row"] == *name).expect("a row");
            assert!(row["measured"].is_null(), "{row}");
            assert!(row["note"].as_str().is_some_and(|note| note.contains(reason)), "{row}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn broken_libraries_leave_their_rows_without_figures() {
    let folder = Folder::new();
    for library in LIBRARIES {
        folder.file(library, "no library at all, but text\n");
    }
    // The loader stops at a file of the right name that is no library.
    without_libraries(&folder, ["libgmp.so.10: ", "libcrypto.so.3: "]);
    without_libraries(&folder, ["install GMP (on Debian and Ubuntu: libgmp10)", "libssl3"]);

    let done = beside(&folder, &[]);
    for name in OF_LIBRARIES.concat() {
        assert!(
            done.lines().iter().any(|line| line.trim_start().starts_with(name) && line.contains(" -")),
            "{done:?}"
        );
    }
    assert!(
        done.text().contains("GMP was not found") && done.text().contains("OpenSSL was not found"),
        "{done:?}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn so_do_libraries_that_lack_a_function() {
    let folder = Folder::new();
    for library in LIBRARIES {
        std::os::unix::fs::symlink(another_library(), folder.join(library)).expect("linked");
    }
    without_libraries(&folder, ["libgmp.so.10 has no __gmp", "libcrypto.so.3 has no OpenSSL_version"]);
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    for arguments in [&["truncated"][..], &["ahmm", "--json"]] {
        let mut child = program();
        child
            .args(QUICK.iter().chain(arguments))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().expect("started");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ended");
        assert_eq!((output.status.success(), output.stderr), (false, Vec::new()), "{arguments:?}");
    }
}
