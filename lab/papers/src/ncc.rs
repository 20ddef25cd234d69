//! `ncc`: one Montgomery multiplication for BLS12-381, from a big-integer library to assembly.

use std::hint::black_box;

use num_bigint::BigUint;
use zariz::Engine;
use zariz_bls12_381::{Form, Fp, Fp8, FpError, mul_batch_on};
use zariz_cli::exit::Failure;
use zariz_cli::measure::sample::{Measured, Sample};

use super::timing::{Contestant, Timing, interleaved};
use super::{Bench, Paper, Row, Table, TablePlan, Unit};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "ncc",
    citation: "NCC Group: Optimizing Pairing-Based Cryptography: Montgomery Multiplication in Assembly, 2021",
    machine: "Intel Core i7-7700K at 4.20 GHz, Ubuntu 20.04.2, Rust 1.53, -C target-cpu=native",
    notes: |_| {
        vec![
            "As in the paper's benchmark, a row is a chain in which each operation takes the two results before it: its \
             time is a latency. The paper times 1000 at once, in microseconds; figures here are of one, in nanoseconds. \
             Its processor's clock was higher than that of most servers."
                .into(),
            "Ours are compiled for any x86-64 processor; further instructions are detected at run time. All but \
             the first form reduce by the friendly multiple of the modulus, which the paper does not have."
                .into(),
        ]
    },
    uses_ifma: false,
    has_peers: false,
    tables: &[
        TablePlan { name: OPERATIONS, timed: 7, run: operations },
        TablePlan { name: MORE, timed: 3 + 3 * 4, run: more },
    ],
};

const OPERATIONS: &str = "operations";
const MORE: &str = "more";

/// Bits of the modulus.
const BITS: usize = 381;

/// Operations of a chain, each time.
const CHAIN: usize = 1000;

/// Independent elements.
const COUNT: usize = 64;

const BIGUINT: &str = "num-bigint 0.5";
const ASSEMBLY: &str = "Multiplication in Rust with assembly";

/// The paper's rows 4 to 7: their names, forms and nanoseconds.
const FORMS: [(&str, Form, f64); 4] = [
    ("Multiplication in Rust (mont1 blog)", Form::Loops, 46.049),
    ("Multiplication in flat Rust", Form::Flat, 34.741),
    ("Multiplication in Rust with intrinsics", Form::Intrinsics, 31.498),
    (ASSEMBLY, Form::Assembly, 29.576),
];

/// The paper's nanoseconds of addition, subtraction and multiplication by BigUint: rows 1 to 3.
const PUBLISHED: [f64; 3] = [3.6870, 3.1242, 517.68];

/// Two ordinary elements.
fn pair() -> [Fp; 2] {
    let root = |seed| Fp::from(seed).square().square().square().invert_or_zero();
    [root(0x9e37_79b9_7f4a_7c15), root(0xbf58_476d_1ce4_e5b9)]
}

/// A chain of an operation in place: `a ← a∘b, b ← b∘a, …`, each result from the two before it.
fn chain<'a, T: 'a>([mut a, mut b]: [T; 2], step: impl Fn(&mut T, &T) + 'a) -> Contestant<'a> {
    let call = move || {
        for _ in 0..CHAIN / 2 {
            step(&mut a, &b);
            step(&mut b, &a);
        }
        black_box((&mut a, &mut b));
        Ok(())
    };
    Contestant { call: Box::new(call), calls: 1.0 / CHAIN as f64 }
}

fn row(name: impl Into<String>, published: Option<f64>, timing: &Timing, engine: impl Into<String>) -> Row {
    Row {
        measured: Measured::times(timing.nanoseconds(), |nanoseconds| nanoseconds),
        nanoseconds: Some(timing.nanoseconds().median()),
        engine: engine.into(),
        ..Row::new(name, BITS, Unit::Nanoseconds, published)
    }
}

/// A row that cannot be measured here.
fn lacking(name: impl Into<String>, published: Option<f64>, engine: &str, requires: &str) -> Row {
    Row {
        engine: engine.into(),
        note: Some(format!("This processor lacks {requires}.")),
        ..Row::new(name, BITS, Unit::Nanoseconds, published)
    }
}

/// How many times as fast: computed from the paper's times, and from ours round by round.
fn times(name: &str, published: f64, speedup: &Sample, engine: &str) -> Row {
    Row {
        published_note: Some("computed from its times; it says \"more than 15X\""),
        measured: Measured::ratios(speedup, |ratio| ratio),
        engine: engine.into(),
        ..Row::new(name, BITS, Unit::Times, Some(published))
    }
}

/// The paper's seven rows.
fn operations(bench: &Bench) -> Result<Table, Failure> {
    let p = Fp::MODULUS.iter().rev().fold(BigUint::ZERO, |number, &limb| (number << 64) + limb);
    let numbers = pair().map(|element| BigUint::from_bytes_be(&element.to_be_bytes()));
    let mut contestants = vec![
        chain(pair(), |a, b| *a += b),
        chain(pair(), |a, b| *a -= b),
        chain(numbers, move |a: &mut BigUint, b| *a = &*a * b % &p),
    ];
    let available = FORMS.iter().filter_map(|(_, form, _)| form.multiplier());
    contestants.extend(available.map(|multiply| chain(pair(), multiply)));
    let timings = interleaved(&mut contestants, bench.seconds, &bench.clock)?;

    let sums = if cfg!(target_arch = "x86_64") { "assembly" } else { "portable Rust" };
    let mut rows = vec![
        row("Addition", Some(PUBLISHED[0]), &timings[0], format!("zariz {sums}")),
        row("Subtraction", Some(PUBLISHED[1]), &timings[1], format!("zariz {sums}")),
        row("Multiplication by BigUint", Some(PUBLISHED[2]), &timings[2], BIGUINT),
    ];
    let mut measured = timings[3..].iter();
    let mut best = None;
    for (name, form, published) in FORMS {
        let engine = format!("zariz {form}");
        rows.push(match measured.next().filter(|_| form.is_available()) {
            Some(timing) => {
                best = Some((form, timing));
                row(name, Some(published), timing, engine)
            }
            None => lacking(name, Some(published), &engine, form.requires()),
        });
    }
    if let Some((Form::Assembly, timing)) = best {
        let speedup = timing.speedup_over(&timings[2]);
        rows.push(times(
            "Assembly: speedup vs BigUint",
            PUBLISHED[2] / FORMS[3].2,
            &speedup,
            "zariz assembly",
        ));
    }
    Ok(Table {
        name: OPERATIONS,
        title: "Operations in the base field of BLS12-381, one after another (nanoseconds)".into(),
        source: "\"An aside: Unrolling Rust and intrinsics\", benchmark rows 1 to 7",
        notes: vec![
            "Addition and subtraction are in assembly here, in Rust in the paper. All of ours take equal \
             time for all elements; the paper says so of its assembly alone."
                .into(),
        ],
        rows,
    })
}

/// What zariz has beyond the paper.
fn more(bench: &Bench) -> Result<Table, Failure> {
    let elements = |from: u64| -> Vec<Fp> {
        let [a, b] = pair();
        (from..from + COUNT as u64).map(|i| a * Fp::from(i) + b).collect()
    };
    let (mut a, b) = (elements(1), elements(100));
    let independent = move || {
        for (a, b) in a.iter_mut().zip(black_box(&b)) {
            *a *= b;
        }
        black_box(&mut a);
        Ok(())
    };
    let mut names = vec![
        ("Squaring, one after another".to_owned(), "zariz".to_owned()),
        ("Inversion, one after another".into(), "zariz".into()),
        ("Multiplication, one by one".into(), "zariz".into()),
    ];
    let mut contestants = vec![
        chain(pair(), |a: &mut Fp, _| a.square_assign()),
        chain(pair(), |a: &mut Fp, _| *a = a.invert_or_zero()),
        Contestant { call: Box::new(independent), calls: 1.0 / COUNT as f64 },
    ];
    let mut missing = Vec::new();
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.has_lanes()) {
        match lanes(engine, &elements(1), &elements(100)) {
            Ok(three) => {
                let kinds = [
                    "Multiplication, kept in lanes",
                    "Squaring, kept in lanes",
                    "Multiplication, in and out",
                ];
                names.extend(kinds.map(|kind| (format!("{kind}: {engine}"), engine.name().to_owned())));
                contestants.extend(three);
            }
            Err(_) => {
                missing.push(lacking(
                    format!("Multiplication, kept in lanes: {engine}"),
                    None,
                    engine.name(),
                    engine.requires(),
                ));
            }
        }
    }
    let timings = interleaved(&mut contestants, bench.seconds, &bench.clock)?;
    let mut rows: Vec<Row> = names
        .into_iter()
        .zip(&timings)
        .map(|((name, engine), timing)| {
            row(name, None, timing, format!("engine {engine}").replace("engine zariz", "zariz best form"))
        })
        .collect();
    rows.extend(missing);
    Ok(Table {
        name: MORE,
        title: "More of the same field: squares, inverses, and eight of each by every engine (nanoseconds for one)".into(),
        source: "zariz's own: the paper has no such rows",
        notes: vec![
            "One by one and in lanes, 64 independent elements are multiplied, so that these times are not latencies: \
             throughput. Kept in lanes, elements stay in the digits of the engine; in and out, they are brought there and \
             back for each product."
                .into(),
        ],
        rows,
    })
}

/// Products and squares kept in lanes, and products that go in and out.
fn lanes<'a>(engine: Engine, a: &[Fp], b: &[Fp]) -> Result<[Contestant<'a>; 3], FpError> {
    let held = |elements: &[Fp]| -> Result<Vec<Fp8>, FpError> {
        let eights = elements.as_chunks::<8>().0;
        eights.iter().map(|eight| Fp8::new_on(engine, eight)).collect()
    };
    let (mut x, y, mut squares) = (held(a)?, held(b)?, held(a)?);
    let multiply = move || {
        for (x, y) in x.iter_mut().zip(black_box(&y)) {
            *x *= y;
        }
        black_box(&mut x);
        Ok(())
    };
    let square = move || {
        squares.iter_mut().for_each(Fp8::square_assign);
        black_box(&mut squares);
        Ok(())
    };
    let (a, b, mut out) = (a.to_vec(), b.to_vec(), vec![Fp::ZERO; a.len()]);
    let batch = move || {
        mul_batch_on(engine, black_box(&a), black_box(&b), &mut out)
            .map_err(|error| Failure::Input(error.to_string()))?;
        black_box(&mut out);
        Ok(())
    };
    let calls = 1.0 / COUNT as f64;
    Ok([
        Contestant { call: Box::new(multiply), calls },
        Contestant { call: Box::new(square), calls },
        Contestant { call: Box::new(batch), calls },
    ])
}
