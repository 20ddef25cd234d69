//! `truncated`: Montgomery multiplication by truncated products, in batches of eight.
//!
//! The source is a set of slides without numbers; tables are named by their slide's title.

use zariz::Method;

use super::counts::Counts;
use super::grid::{Grid, Line, Operation, Peer, What};
use super::{Bench, Paper, Plan, Row, Table, Unit};
use crate::exit::Failure;

/// The paper.
pub const PAPER: Paper = Paper {
    name: "truncated",
    citation: "Laurent-Stéphane Didier, Nadia El Mrabet, Léa Glandus, Jean-Marc Robert: Montgomery Truncated \
               Multiplications and Batch Exponentiations using IFMA52 instructions, October 2024",
    machine: "a processor with AVX512-IFMA; the slides do not name it",
    notes: &[
        "Everything is done eight times: by us at once, by GMP and OpenSSL one after the other.",
        "Karatsuba 2 splits twice. AMM and AHMM are zariz's own rows: almost-Montgomery multiplication digit by digit, \
         and its halved form for factors that are table entries. Without being told, zariz takes the fastest it knows.",
    ],
    has_peers: true,
    tables: &[
        Plan { name: COMPLEXITY, timed: 0, run: complexity },
        Plan { name: MULTIPLICATION.name, timed: MULTIPLICATION.timed(), run: |bench| MULTIPLICATION.run(bench) },
        Plan { name: SQUARING.name, timed: SQUARING.timed(), run: |bench| SQUARING.run(bench) },
        Plan { name: EXPONENTIATION.name, timed: EXPONENTIATION.timed(), run: |bench| EXPONENTIATION.run(bench) },
    ],
};

const SIZES: &[usize] = &[1024, 2048, 4096];
const COMPLEXITY: &str = "complexity";

/// Slide "Complexities": each way of multiplying, in full products M; normal, truncated, and the gain in percent.
const COMPLEXITIES: [(&str, Method, Method, [f64; 3]); 3] = [
    ("schoolbook", Method::SCHOOLBOOK, Method::TRUNCATED_SCHOOLBOOK, [2.5, 2.0, 20.0]),
    ("Karatsuba", Method::KARATSUBA, Method::TRUNCATED_KARATSUBA, [2.67, 2.33, 12.5]),
    ("Karatsuba 2", Method::KARATSUBA2, Method::TRUNCATED_KARATSUBA2, [2.78, 2.56, 8.0]),
];

const SCHOOLBOOKS: &[Method] = &[Method::SCHOOLBOOK, Method::TRUNCATED_SCHOOLBOOK];
const KARATSUBAS: &[Method] = &[Method::KARATSUBA, Method::TRUNCATED_KARATSUBA];

const fn three(a: f64, b: f64, c: f64) -> [Option<f64>; 3] {
    [Some(a), Some(b), Some(c)]
}

/// A line of one of our methods.
const fn ours(row: &'static str, method: Method, published: &'static [Option<f64>]) -> Line {
    Line { row, what: What::Ours(method), published }
}

/// A line of a library.
const fn peer(row: &'static str, peer: Peer, published: &'static [Option<f64>]) -> Line {
    Line { row, what: What::Peer(peer), published }
}

/// A line that compares the faster of two methods with a library.
const fn faster(row: &'static str, methods: &'static [Method], peer: Peer, published: &'static [Option<f64>]) -> Line {
    Line { row, what: What::Faster(methods, peer), published }
}

/// A line that says what truncation saves.
const fn saved(row: &'static str, normal: Method, truncated: Method, published: &'static [Option<f64>]) -> Line {
    Line { row, what: What::Saved(normal, truncated), published }
}

const TWENTY: &[Option<f64>] = &three(20.0, 20.0, 20.0);
const SAVED_SCHOOLBOOK: Line =
    saved("Schoolbook: saved by truncation", Method::SCHOOLBOOK, Method::TRUNCATED_SCHOOLBOOK, TWENTY);
const fn saved_karatsuba(published: &'static [Option<f64>]) -> Line {
    saved("Karatsuba: saved by truncation", Method::KARATSUBA, Method::TRUNCATED_KARATSUBA, published)
}
const KARATSUBA2: Line = ours("Karatsuba 2", Method::KARATSUBA2, &[]);
const TRUNCATED_KARATSUBA2: Line = ours("Truncated Karatsuba 2", Method::TRUNCATED_KARATSUBA2, &[]);
const SAVED_KARATSUBA2: Line =
    saved("Karatsuba 2: saved by truncation", Method::KARATSUBA2, Method::TRUNCATED_KARATSUBA2, &[]);
const AMM: Line = ours("AMM", Method::AMM, &[]);
const AHMM: Line = ours("AHMM", Method::AHMM, &[]);
const AMM_KARATSUBA: Line = ours("AMM, squares by Karatsuba", Method::KARATSUBA_SQUARES, &[]);
/// Beside both tables of single operations.
const MARGIN: &str = "Of Karatsuba the slide says that truncation saves 12 to 20 percent. Speedups are those of the faster \
                      of normal and truncated.";

/// Slide "Performances", batch Montgomery multiplications.
const MULTIPLICATION: Grid = Grid {
    name: "multiplication",
    title: "Montgomery multiplications, eight at once (cycles)",
    source: "slide \"Performances\": batch Montgomery multiplications, # clock cycles",
    notes: &[
        "GMP: mpn_mul_n and mpn_tdiv_qr. OpenSSL: BN_mod_mul_montgomery.",
        MARGIN,
        "For schoolbook at 4096 bits against OpenSSL the slide prints 3.69; its own cycles give 3.83.",
    ],
    operation: Operation::Multiply,
    unit: Unit::Cycles,
    sizes: SIZES,
    lines: &[
        peer("GMP (x8)", Peer::Gmp, &three(9862.0, 35_497.0, 120_342.0)),
        peer("OpenSSL (x8)", Peer::OpenSsl, &three(7949.0, 29_928.0, 116_898.0)),
        ours("Schoolbook", Method::SCHOOLBOOK, &three(2276.0, 8696.0, 38_609.0)),
        ours("Truncated Schoolbook", Method::TRUNCATED_SCHOOLBOOK, &three(1847.0, 7306.0, 30_492.0)),
        SAVED_SCHOOLBOOK,
        faster("Schoolbook: speedup vs GMP", SCHOOLBOOKS, Peer::Gmp, &three(5.34, 4.86, 3.95)),
        faster("Schoolbook: speedup vs OpenSSL", SCHOOLBOOKS, Peer::OpenSsl, &three(4.31, 4.10, 3.69)),
        ours("Karatsuba", Method::KARATSUBA, &three(2423.0, 8400.0, 34_628.0)),
        ours("Truncated Karatsuba", Method::TRUNCATED_KARATSUBA, &[None, Some(7286.0), Some(27_594.0)]),
        saved_karatsuba(&[]),
        faster("Karatsuba: speedup vs GMP", KARATSUBAS, Peer::Gmp, &three(4.07, 4.87, 4.36)),
        faster("Karatsuba: speedup vs OpenSSL", KARATSUBAS, Peer::OpenSsl, &three(3.28, 4.12, 4.24)),
        KARATSUBA2,
        TRUNCATED_KARATSUBA2,
        SAVED_KARATSUBA2,
        AMM,
        AHMM,
    ],
};

/// Slide "Performances", batch Montgomery squarings.
const SQUARING: Grid = Grid {
    name: "squaring",
    title: "Montgomery squarings, eight at once (cycles)",
    source: "slide \"Performances\": batch Montgomery squarings, # clock cycles",
    notes: &["GMP: mpn_sqr and mpn_tdiv_qr. AHMM is no method for squares.", MARGIN],
    operation: Operation::Square,
    unit: Unit::Cycles,
    sizes: SIZES,
    lines: &[
        peer("GMP (x8)", Peer::Gmp, &three(8358.0, 30_465.0, 101_373.0)),
        ours("Schoolbook", Method::SCHOOLBOOK, &three(1885.0, 7154.0, 32_107.0)),
        ours("Truncated Schoolbook", Method::TRUNCATED_SCHOOLBOOK, &three(1439.0, 5548.0, 23_413.0)),
        SAVED_SCHOOLBOOK,
        faster("Schoolbook: speedup vs GMP", SCHOOLBOOKS, Peer::Gmp, &three(5.81, 5.49, 4.33)),
        ours("Karatsuba", Method::KARATSUBA, &three(2191.0, 7330.0, 28_841.0)),
        ours("Truncated Karatsuba", Method::TRUNCATED_KARATSUBA, &[None, Some(6202.0), Some(23_736.0)]),
        saved_karatsuba(&[]),
        faster("Karatsuba: speedup vs GMP", KARATSUBAS, Peer::Gmp, &three(3.81, 4.91, 4.27)),
        KARATSUBA2,
        TRUNCATED_KARATSUBA2,
        SAVED_KARATSUBA2,
        AMM,
        AMM_KARATSUBA,
    ],
};

/// Slide "Performances", batches of eight exponentiations.
const EXPONENTIATION: Grid = Grid {
    name: "exponentiation",
    title: "Fixed-window exponentiations in constant time, eight at once (1000 cycles)",
    source: "slide \"Performances\": batch of 8 modular fixed-window exponentiations, constant time, #10^3 clock cycles",
    notes: &[
        "GMP: mpn_sec_powm, the work of mpz_powm_sec. consttime is OpenSSL's BN_mod_exp_mont_consttime, consttime_x2 its \
         BN_mod_exp_mont_consttime_x2, called for four pairs.",
        "Speedups are those of the faster of normal and truncated.",
    ],
    operation: Operation::Power,
    unit: Unit::ThousandCycles,
    sizes: SIZES,
    lines: &[
        peer("GMP (x8)", Peer::Gmp, &three(11_333.0, 81_288.0, 614_637.0)),
        peer("OpenSSL consttime (x8)", Peer::OpenSsl, &three(8313.0, 58_445.0, 434_359.0)),
        peer("OpenSSL consttime_x2 (x4)", Peer::OpenSslPair, &three(3648.0, 21_674.0, 442_533.0)),
        ours("Schoolbook", Method::SCHOOLBOOK, &three(2589.0, 19_678.0, 177_095.0)),
        ours("Truncated Schoolbook", Method::TRUNCATED_SCHOOLBOOK, &three(2090.0, 15_736.0, 131_753.0)),
        SAVED_SCHOOLBOOK,
        faster("Schoolbook: speedup vs GMP", SCHOOLBOOKS, Peer::Gmp, &three(5.42, 5.17, 4.66)),
        faster("Schoolbook: speedup vs consttime", SCHOOLBOOKS, Peer::OpenSsl, &three(3.98, 3.71, 3.30)),
        faster("Schoolbook: speedup vs consttime_x2", SCHOOLBOOKS, Peer::OpenSslPair, &[Some(1.75), Some(1.38), None]),
        ours("Karatsuba", Method::KARATSUBA, &[None, Some(19_717.0), Some(144_567.0)]),
        ours("Truncated Karatsuba", Method::TRUNCATED_KARATSUBA, &[None, Some(17_124.0), Some(129_015.0)]),
        saved_karatsuba(&[None, Some(10.0), Some(10.0)]),
        faster("Karatsuba: speedup vs GMP", KARATSUBAS, Peer::Gmp, &[None, Some(4.75), Some(4.76)]),
        faster("Karatsuba: speedup vs consttime", KARATSUBAS, Peer::OpenSsl, &[None, Some(3.41), Some(3.37)]),
        faster("Karatsuba: speedup vs consttime_x2", KARATSUBAS, Peer::OpenSslPair, &[None, Some(1.27), None]),
        KARATSUBA2,
        TRUNCATED_KARATSUBA2,
        SAVED_KARATSUBA2,
        AMM,
        AMM_KARATSUBA,
        AHMM,
        Line { row: "zariz, as it chooses", what: What::Usual, published: &[] },
    ],
};

/// The table of counted operations.
fn complexity(_: &Bench) -> Result<Table, Failure> {
    let (counts, mut rows) = (Counts::read()?, Vec::new());
    for &size in SIZES {
        let row = |row: String, unit, published, measured: Option<f64>| Row {
            row,
            size,
            unit,
            published,
            measured,
            nanoseconds: None,
            engine: "counted".into(),
            note: measured.is_none().then(|| "not counted".into()),
        };
        for (name, normal, truncated, published) in COMPLEXITIES {
            let [a, b] = [normal, truncated].map(|method| counts.multiplication(method, size));
            let gain = a.zip(b).map(|(a, b)| 100.0 * (1.0 - b / a));
            rows.push(row(format!("{name}, normal"), Unit::Products, Some(published[0]), a));
            rows.push(row(format!("{name}, truncated"), Unit::Products, Some(published[1]), b));
            rows.push(row(format!("{name}: saved by truncation"), Unit::Percent, Some(published[2]), gain));
        }
        for (name, method) in [("AMM", Method::AMM), ("AHMM", Method::AHMM)] {
            rows.push(row(name.to_owned(), Unit::Products, None, counts.multiplication(method, size)));
        }
    }
    Ok(Table {
        name: COMPLEXITY,
        title: "Complexity of a Montgomery multiplication, in full products of the same kind (M)".into(),
        source: "slide \"Complexities\": Montgomery multiplication",
        notes: vec![
            "Counted by running our kernels on counters; half a product of digits counts one half. The slide leaves out \
             what vanishes as numbers grow."
                .into(),
        ],
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slides_agree_with_themselves() {
        for grid in [&MULTIPLICATION, &SQUARING, &EXPONENTIATION] {
            for column in 0..SIZES.len() {
                let at = |line: &Line| line.published.get(column).copied().flatten();
                // The least of the figures of some lines.
                let least = |wanted: &dyn Fn(What) -> bool| {
                    let figures = grid.lines.iter().filter(|line| wanted(line.what)).filter_map(at);
                    figures.min_by(f64::total_cmp).expect("a figure")
                };
                for line in grid.lines {
                    let (What::Faster(methods, peer), Some(speedup)) = (line.what, at(line)) else { continue };
                    let ours = least(&|what| matches!(what, What::Ours(method) if methods.contains(&method)));
                    let peer = least(&|what| matches!(what, What::Peer(other) if other == peer));
                    // The one that disagrees is told beside its table.
                    let expected = if speedup == 3.69 { 3.83 } else { speedup };
                    assert!((peer / ours - expected).abs() < 0.015, "{}: {expected} is {}", line.row, peer / ours);
                }
            }
        }
    }

    #[test]
    fn every_method_of_the_slides_is_counted_and_as_they_say() {
        let counts = Counts::read().expect("a good file");
        for (name, normal, truncated, published) in COMPLEXITIES {
            for (method, published) in [normal, truncated].into_iter().zip(published) {
                for &size in SIZES {
                    let counted = counts.multiplication(method, size).expect("counted");
                    assert!((counted - published).abs() < 0.1, "{name} at {size}: {counted}, published {published}");
                }
            }
        }
    }
}
