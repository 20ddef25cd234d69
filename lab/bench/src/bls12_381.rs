//! `zariz-bench bls12-381`: operations in the base field of BLS12-381, ours and those of blst, arkworks and
//! num-bigint.
//!
//! All libraries are measured in two conditions. In a *chain* each operation needs the result of the one
//! before: its latency. Of *independent* operations there are 64 at a time: throughput. Operations are done
//! in place where a library can, and elements are in the library's own form: only the rows that say so
//! include conversions. All take turns in short rounds; figures are medians over rounds, ratios medians of
//! the rounds' ratios.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use ark_bls12_381::Fq;
use ark_ff::{BigInteger, Field, PrimeField};
use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use zariz::Engine;
use zariz_bls12_381::{Form, Fp, Fp8, mul_batch_on};

use crate::args::FieldArgs;
use crate::blst::Element;
use crate::pages;
use crate::processor::Processor;
use crate::statistics::{median, percentile};

/// Independent elements.
const COUNT: usize = 64;

/// Nanoseconds that a row takes in a round, about: many times what a core takes to power up its widest
/// vectors.
const SLICE: f64 = 300_000.0;

/// Something to time.
struct Row {
    operation: &'static str,
    condition: &'static str,
    who: String,
    /// Does `operations` operations.
    call: Box<dyn FnMut()>,
    operations: usize,
    calls: usize,
    nanoseconds: Vec<f64>,
}

/// A row as it is told.
#[derive(Serialize, Deserialize)]
struct Told {
    operation: String,
    condition: String,
    library: String,
    /// Of one operation: the median of the rounds.
    nanoseconds: f64,
    /// The tenth of the rounds that were fastest took at most this.
    fastest_tenth: f64,
    /// How many times as fast as blst under the same condition; nothing where blst has no such row.
    times_blst: Option<f64>,
}

/// The results.
#[derive(Serialize, Deserialize)]
struct Report {
    date: String,
    commit: String,
    compiler: String,
    processor: Processor,
    rounds: usize,
    versions: Vec<(String, String)>,
    rows: Vec<Told>,
}

const CHAIN: &str = "chain";
const INDEPENDENT: &str = "64 independent";

/// Measures, prints, and writes.
pub fn run(args: &FieldArgs) -> Result<()> {
    ensure!(args.rounds > 0, "--rounds must be more than 0");
    if let Some(cpu) = args.cpu {
        ensure!(
            core_affinity::set_for_current(core_affinity::CoreId { id: cpu }),
            "cannot stay on processor {cpu}"
        );
    }
    agree()?;
    let mut rows = rows()?;
    for row in &mut rows {
        calibrate(row);
    }
    for _ in 0..args.rounds {
        for row in &mut rows {
            let start = Instant::now();
            for _ in 0..row.calls {
                (row.call)();
            }
            row.nanoseconds.push(start.elapsed().as_secs_f64() * 1e9 / (row.calls * row.operations) as f64);
        }
    }
    let report = Report {
        date: time::OffsetDateTime::now_utc().date().to_string(),
        commit: env!("ZARIZ_COMMIT").to_owned(),
        compiler: env!("COMPILER").to_owned(),
        processor: Processor::detect(),
        rounds: args.rounds,
        versions: [
            ("blst", env!("VERSION_OF_BLST")),
            ("arkworks", env!("VERSION_OF_ARK_BLS12_381")),
            ("num-bigint", env!("VERSION_OF_NUM_BIGINT")),
        ]
        .map(|(name, version)| (name.to_owned(), version.to_owned()))
        .to_vec(),
        rows: rows.iter().filter_map(|row| told(row, &rows)).collect(),
    };
    print!("{}", text(&report));
    let name = format!("bls12-381-{}", report.processor.slug());
    pages::save(&args.out(), &name, "json", serde_json::to_string_pretty(&report)? + "\n")
}

/// The page of a run's data.
pub fn page(data: &str) -> Result<String> {
    Ok(format!("# The field of BLS12-381\n\n```text\n{}```\n", text(&serde_json::from_str(data)?)))
}

/// How often to call, to fill a slice of time; warms up, too.
fn calibrate(row: &mut Row) {
    loop {
        let start = Instant::now();
        for _ in 0..row.calls {
            (row.call)();
        }
        if start.elapsed().as_secs_f64() * 1e9 > SLICE {
            return;
        }
        row.calls *= 2;
    }
}

fn told(row: &Row, all: &[Row]) -> Option<Told> {
    let same = |other: &&Row| {
        other.who == "blst"
            && (other.operation, other.condition)
                == (row.operation.trim_end_matches(" in lanes"), row.condition)
    };
    let blst = all.iter().find(same);
    let ratio = |blst: &Row| {
        let ratios: Vec<f64> =
            blst.nanoseconds.iter().zip(&row.nanoseconds).map(|(blst, ours)| blst / ours).collect();
        median(&ratios)
    };
    Some(Told {
        operation: row.operation.to_owned(),
        condition: row.condition.to_owned(),
        library: row.who.clone(),
        nanoseconds: median(&row.nanoseconds)?,
        fastest_tenth: percentile(&row.nanoseconds, 0.1)?,
        times_blst: blst.and_then(ratio),
    })
}

fn text(report: &Report) -> String {
    let mut text = format!(
        "BLS12-381 base field, one thread, {}\nzariz {}, {}, {}; {} rounds\n",
        report.processor.describe(),
        report.commit,
        report
            .versions
            .iter()
            .map(|(name, version)| format!("{name} {version}"))
            .collect::<Vec<_>>()
            .join(", "),
        report.compiler,
        report.rounds,
    );
    text.push_str(
        "chain: each needs the result before (latency); independent: 64 at a time (throughput). All in place.\n",
    );
    let mut group = ("", "");
    for row in &report.rows {
        if group != (&row.operation, &row.condition) {
            group = (&row.operation, &row.condition);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "\n{:<46} {:>9} {:>12} {:>8}",
                format!("{}, {}", group.0, group.1),
                "ns",
                "best tenth",
                "× blst"
            );
        }
        let ratio = row.times_blst.map_or("-".into(), |ratio| format!("{ratio:.2}"));
        let _ = writeln!(
            text,
            "  {:<44} {:>9.2} {:>12.2} {ratio:>8}",
            row.library, row.nanoseconds, row.fastest_tenth
        );
    }
    text
}

/// Bytes of an element that has nothing special.
fn bytes(seed: u8) -> [u8; 48] {
    std::array::from_fn(|i| if i == 0 { 0x11 } else { (i as u8).wrapping_mul(151) ^ seed.wrapping_mul(73) })
}

fn ours(seed: u8) -> Result<Fp> {
    Ok(Fp::from_be_bytes(&bytes(seed))?)
}

fn of_blst(seed: u8) -> Element {
    Element::from_be_bytes(&bytes(seed))
}

fn of_ark(seed: u8) -> Fq {
    Fq::from_be_bytes_mod_order(&bytes(seed))
}

fn modulus() -> BigUint {
    Fp::MODULUS.iter().rev().fold(BigUint::ZERO, |number, &limb| (number << 64) + limb)
}

/// Before anything is timed, all must multiply alike.
fn agree() -> Result<()> {
    let expected =
        (BigUint::from_bytes_be(&bytes(1)) * BigUint::from_bytes_be(&bytes(2)) % modulus()).to_bytes_be();
    let expected = [vec![0; 48 - expected.len()], expected].concat();
    let mut by_blst = of_blst(1);
    by_blst.multiply(&of_blst(2));
    ensure!((ours(1)? * ours(2)?).to_be_bytes()[..] == expected[..], "zariz differs from num-bigint");
    ensure!(by_blst.to_be_bytes()[..] == expected[..], "blst differs from num-bigint");
    let ark = (of_ark(1) * of_ark(2)).into_bigint().to_bytes_be();
    ensure!(ark == expected, "arkworks differs from num-bigint");
    Ok(())
}

/// A chain, and independent operations, of one function in place.
fn both<T: Clone + 'static>(
    rows: &mut Vec<Row>,
    operation: &'static str,
    who: &str,
    make: impl Fn(u8) -> T,
    work: impl Fn(&mut T, &T) + Clone + 'static,
) {
    let (mut x, y, step) = (make(1), make(2), work.clone());
    let chain = move || {
        let y = black_box(&y);
        for _ in 0..COUNT {
            step(&mut x, y);
        }
        black_box(&mut x);
    };
    let mut elements: Vec<T> = (0..COUNT as u8).map(&make).collect();
    let factors: Vec<T> = (100..100 + COUNT as u8).map(&make).collect();
    let independent = move || {
        for (x, y) in elements.iter_mut().zip(black_box(&factors)) {
            work(x, y);
        }
        black_box(&mut elements);
    };
    let row = |condition, call: Box<dyn FnMut()>| {
        let who = who.to_owned();
        Row { operation, condition, who, call, operations: COUNT, calls: 1, nanoseconds: Vec::new() }
    };
    rows.push(row(CHAIN, Box::new(chain)));
    rows.push(row(INDEPENDENT, Box::new(independent)));
}

/// All rows, those of one operation and condition together.
fn rows() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    ours(1)?;
    // The bytes are an element, as has just been seen.
    let make = |seed| ours(seed).unwrap_or(Fp::ONE);
    both(&mut rows, "multiplication", "blst", of_blst, Element::multiply);
    both(&mut rows, "multiplication", "zariz", make, |a, b| *a *= b);
    for &form in Form::ALL {
        if let Some(multiply) = form.multiplier() {
            both(&mut rows, "multiplication", &format!("zariz, form {form}"), make, multiply);
        }
    }
    both(&mut rows, "multiplication", "arkworks", of_ark, |a, b| *a *= b);
    let p = modulus();
    both(
        &mut rows,
        "multiplication",
        "num-bigint",
        |seed| BigUint::from_bytes_be(&bytes(seed)),
        move |a, b| *a = &*a * b % &p,
    );
    both(&mut rows, "squaring", "blst", of_blst, |a, _| a.square());
    both(&mut rows, "squaring", "zariz", make, |a, _| a.square_assign());
    both(&mut rows, "squaring", "arkworks", of_ark, |a, _| {
        a.square_in_place();
    });
    both(&mut rows, "addition", "blst", of_blst, Element::add);
    both(&mut rows, "addition", "zariz", make, |a, b| *a += b);
    both(&mut rows, "addition", "arkworks", of_ark, |a, b| *a += b);
    both(&mut rows, "inversion", "blst", of_blst, |a, _| a.invert());
    both(&mut rows, "inversion", "zariz", make, |a, _| *a = a.invert_or_zero());
    both(&mut rows, "inversion", "arkworks (time depends on the element)", of_ark, |a, _| {
        a.inverse_in_place();
    });
    lanes(&mut rows, make)?;
    rows.sort_by_key(|row| {
        let operations =
            ["multiplication", "multiplication in lanes", "squaring", "squaring in lanes", "addition"];
        let at = operations.iter().position(|name| *name == row.operation).unwrap_or(operations.len());
        (at, row.condition == INDEPENDENT)
    });
    Ok(rows)
}

/// Eight at once: kept in lanes, and by batches that go in and out for each product.
fn lanes(rows: &mut Vec<Row>, make: impl Fn(u8) -> Fp) -> Result<()> {
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available() && engine.has_lanes()) {
        let held = |from: u8| -> Result<Vec<Fp8>> {
            let eight = |at: usize| std::array::from_fn(|i| make(from + (8 * at + i) as u8));
            (0..COUNT / 8).map(|at| Ok(Fp8::new_on(engine, &eight(at))?)).collect()
        };
        let row = |operation, who: String, call: Box<dyn FnMut()>| Row {
            operation,
            condition: INDEPENDENT,
            who,
            call,
            operations: COUNT,
            calls: 1,
            nanoseconds: Vec::new(),
        };
        let (mut a, b) = (held(0)?, held(100)?);
        let multiply = move || {
            for (a, b) in a.iter_mut().zip(black_box(&b)) {
                *a *= b;
            }
            black_box(&mut a);
        };
        rows.push(row(
            "multiplication in lanes",
            format!("zariz {engine}, kept in lanes"),
            Box::new(multiply),
        ));
        let mut a = held(0)?;
        let square = move || {
            a.iter_mut().for_each(Fp8::square_assign);
            black_box(&mut a);
        };
        rows.push(row("squaring in lanes", format!("zariz {engine}, kept in lanes"), Box::new(square)));
        let (a, b): (Vec<Fp>, Vec<Fp>) = (0..COUNT as u8).map(|i| (make(i), make(100 + i))).unzip();
        let mut out = vec![Fp::ZERO; COUNT];
        let batch = move || {
            let result = mul_batch_on(engine, black_box(&a), black_box(&b), &mut out);
            debug_assert_eq!(result, Ok(()));
            black_box(&mut out);
        };
        rows.push(row(
            "multiplication in lanes",
            format!("zariz {engine}, in and out each time"),
            Box::new(batch),
        ));
    }
    Ok(())
}
