//! `truncated`: Montgomery multiplication by truncated products, in batches of eight.
//!
//! The source is a set of slides without numbers; tables are named by their slide's title.

use zariz::Method;
use zariz_cli::exit::Failure;
use zariz_cli::measure::sample::Measured;

use super::counts::Counts;
use super::grid::{Grid, Line, Peer, What};
use super::measure::Operation;
use super::{Bench, Paper, Row, Table, TablePlan, Unit, eight};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "truncated",
    citation: "Laurent-Stéphane Didier, Nadia El Mrabet, Léa Glandus, Jean-Marc Robert: Montgomery Truncated \
               Multiplications and Batch Exponentiations using IFMA52 instructions, October 2024",
    machine: "a processor with AVX512-IFMA; the slides do not name it",
    notes: |engine| {
        vec![
            format!(
                "Everything is done eight times: by this engine {}, by GMP and OpenSSL one after the other.",
                eight(engine)
            ),
            "Karatsuba 2 splits twice. AMM and AHMM are zariz's own rows: almost-Montgomery multiplication digit by \
             digit, and its halved form for factors that are table entries. By default, zariz uses the \
             fastest known method; its row names it."
                .into(),
        ]
    },
    uses_ifma: true,
    has_peers: true,
    tables: &[
        TablePlan { name: COMPLEXITY, timed: 0, run: complexity },
        TablePlan {
            name: MULTIPLICATION.name,
            timed: MULTIPLICATION.timed(),
            run: |bench| MULTIPLICATION.run(bench),
        },
        TablePlan { name: SQUARING.name, timed: SQUARING.timed(), run: |bench| SQUARING.run(bench) },
        TablePlan {
            name: EXPONENTIATION.name,
            timed: EXPONENTIATION.timed(),
            run: |bench| EXPONENTIATION.run(bench),
        },
    ],
};

const SIZES: &[usize] = &[1024, 2048, 4096];
const COMPLEXITY: &str = "complexity";

/// Slide "Complexities": each way of multiplying, in full products M: normal, truncated, the gain, and that
/// in percent.
const COMPLEXITIES: [(&str, Method, Method, [f64; 4]); 3] = [
    ("schoolbook", Method::SCHOOLBOOK, Method::TRUNCATED_SCHOOLBOOK, [2.5, 2.0, 0.5, 20.0]),
    ("Karatsuba", Method::KARATSUBA, Method::TRUNCATED_KARATSUBA, [2.67, 2.33, 0.33, 12.5]),
    ("Karatsuba 2", Method::KARATSUBA2, Method::TRUNCATED_KARATSUBA2, [2.78, 2.56, 0.22, 8.0]),
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
const fn faster(
    row: &'static str,
    methods: &'static [Method],
    peer: Peer,
    published: &'static [Option<f64>],
) -> Line {
    Line { row, what: What::Faster(methods, peer), published }
}

/// A line of what truncation saves. The slides give it once for a table, in a note.
const fn saved(row: &'static str, normal: Method, truncated: Method) -> Line {
    Line { row, what: What::Saved(normal, truncated), published: &[] }
}

const SAVED_SCHOOLBOOK: Line =
    saved("Schoolbook: saved by truncation", Method::SCHOOLBOOK, Method::TRUNCATED_SCHOOLBOOK);
const SAVED_KARATSUBA: Line =
    saved("Karatsuba: saved by truncation", Method::KARATSUBA, Method::TRUNCATED_KARATSUBA);
const KARATSUBA2: Line = ours("Karatsuba 2", Method::KARATSUBA2, &[]);
const TRUNCATED_KARATSUBA2: Line = ours("Truncated Karatsuba 2", Method::TRUNCATED_KARATSUBA2, &[]);
const SAVED_KARATSUBA2: Line =
    saved("Karatsuba 2: saved by truncation", Method::KARATSUBA2, Method::TRUNCATED_KARATSUBA2);
const AMM: Line = ours("AMM", Method::AMM, &[]);
const AHMM: Line = ours("AHMM", Method::AHMM, &[]);
const AMM_KARATSUBA: Line = ours("AMM, squares by Karatsuba", Method::KARATSUBA_SQUARES, &[]);
/// Beside both tables of single operations.
const MARGIN: &str = "Once for the table, not for each size, the slide says that truncation saves 20 % of schoolbook and 12 \
                      to 20 % of Karatsuba.";
const FASTER: &str = "Speedups are those of the faster of normal and truncated.";

/// Slide "Performances", batch Montgomery multiplications.
const MULTIPLICATION: Grid = Grid {
    name: "multiplication",
    title: "Montgomery multiplications, eight of each (cycles)",
    source: "slide \"Performances\": batch Montgomery multiplications, # clock cycles",
    notes: &[
        "GMP: mpn_mul_n and mpn_tdiv_qr. OpenSSL: BN_mod_mul_montgomery.",
        MARGIN,
        FASTER,
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
        SAVED_KARATSUBA,
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
    title: "Montgomery squarings, eight of each (cycles)",
    source: "slide \"Performances\": batch Montgomery squarings, # clock cycles",
    notes: &["GMP: mpn_sqr and mpn_tdiv_qr. AHMM is no method for squares.", MARGIN, FASTER],
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
        SAVED_KARATSUBA,
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
    title: "Fixed-window exponentiations in constant time, eight of each (1000 cycles)",
    source: "slide \"Performances\": batch of 8 modular fixed-window exponentiations, constant time, #10^3 clock cycles",
    notes: &[
        "GMP: mpn_sec_powm, the work of mpz_powm_sec. consttime is OpenSSL's BN_mod_exp_mont_consttime, consttime_x2 its \
         BN_mod_exp_mont_consttime_x2, called for four pairs.",
        "Once for the table, not for each size, the slide says that truncation saves 20 % of schoolbook and about 10 % of \
         Karatsuba.",
        FASTER,
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
        faster(
            "Schoolbook: speedup vs consttime_x2",
            SCHOOLBOOKS,
            Peer::OpenSslPair,
            &[Some(1.75), Some(1.38), None],
        ),
        ours("Karatsuba", Method::KARATSUBA, &[None, Some(19_717.0), Some(144_567.0)]),
        ours("Truncated Karatsuba", Method::TRUNCATED_KARATSUBA, &[None, Some(17_124.0), Some(129_015.0)]),
        SAVED_KARATSUBA,
        faster("Karatsuba: speedup vs GMP", KARATSUBAS, Peer::Gmp, &[None, Some(4.75), Some(4.76)]),
        faster("Karatsuba: speedup vs consttime", KARATSUBAS, Peer::OpenSsl, &[None, Some(3.41), Some(3.37)]),
        faster(
            "Karatsuba: speedup vs consttime_x2",
            KARATSUBAS,
            Peer::OpenSslPair,
            &[None, Some(1.27), None],
        ),
        KARATSUBA2,
        TRUNCATED_KARATSUBA2,
        SAVED_KARATSUBA2,
        AMM,
        AMM_KARATSUBA,
        AHMM,
        Line { row: "zariz takes", what: What::Usual, published: &[] },
    ],
};

/// The table of counted operations.
fn complexity(_: &Bench) -> Result<Table, Failure> {
    let (counts, mut rows) = (Counts::read()?, Vec::new());
    for &size in SIZES {
        let mut row = |row: String, unit, published, counted: Option<f64>| {
            rows.push(Row {
                measured: Measured::counted(counted),
                note: counted.is_none().then(|| "not counted".into()),
                ..Row::new(row, size, unit, published)
            });
        };
        for (name, normal, truncated, [whole, part, gain, percent]) in COMPLEXITIES {
            let [a, b] = [normal, truncated].map(|method| counts.multiplication(method, size));
            let both = a.zip(b);
            row(format!("{name}, normal"), Unit::Products, Some(whole), a);
            row(format!("{name}, truncated"), Unit::Products, Some(part), b);
            row(format!("{name}: gain tr/nml"), Unit::Products, Some(gain), both.map(|(a, b)| a - b));
            let saved = both.map(|(a, b)| 100.0 * (1.0 - b / a));
            row(format!("{name}: saved by truncation"), Unit::Percent, Some(percent), saved);
            for (kind, method) in [("normal", normal), ("truncated", truncated)] {
                let name = format!("{name}, {kind}: digit products");
                row(name, Unit::DigitProducts, None, counts.digit_products(method, size));
            }
        }
        for (name, method) in [("AMM", Method::AMM), ("AHMM", Method::AHMM)] {
            row(name.to_owned(), Unit::Products, None, counts.multiplication(method, size));
            let name = format!("{name}: digit products");
            row(name, Unit::DigitProducts, None, counts.digit_products(method, size));
        }
    }
    Ok(Table {
        name: COMPLEXITY,
        title: "Complexity of a Montgomery multiplication, in full products of the same kind (M)".into(),
        source: "slide \"Complexities\": Montgomery multiplication",
        notes: vec![
            "Counted, not timed, by running our kernels on counters, with 52-bit digits on every engine; half a product \
             of digits counts one half. The slide leaves out what vanishes as numbers grow."
                .into(),
            "M is the family's own product: a full one by schoolbook (also of AMM and AHMM), or by one or two levels of \
             Karatsuba. So figures in M compare within a family only; digit products compare between all."
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
                let at = |line: &Line| grid.published(line, column).0;
                // The least of the figures of some lines.
                let least = |wanted: &dyn Fn(What) -> bool| {
                    let figures = grid.lines.iter().filter(|line| wanted(line.what)).filter_map(at);
                    figures.min_by(f64::total_cmp).expect("a figure")
                };
                for line in grid.lines {
                    let (What::Faster(methods, peer), Some(speedup)) = (line.what, at(line)) else {
                        continue;
                    };
                    let ours = least(&|what| matches!(what, What::Ours(method) if methods.contains(&method)));
                    let peer = least(&|what| matches!(what, What::Peer(other) if other == peer));
                    // A note of the table gives the one that disagrees.
                    let expected = if speedup == 3.69 { 3.83 } else { speedup };
                    assert!(
                        (peer / ours - expected).abs() < 0.015,
                        "{}: {expected} is {}",
                        line.row,
                        peer / ours
                    );
                }
            }
        }
    }

    #[test]
    fn every_method_of_the_slides_is_counted_and_as_they_say() {
        let counts = Counts::read().expect("a good file");
        for (name, normal, truncated, published) in COMPLEXITIES {
            let [whole, part, gain, percent] = published;
            assert!(
                (whole - part - gain).abs() < 0.015 && (100.0 * gain / whole - percent).abs() < 0.2,
                "{name}"
            );
            for (method, published) in [normal, truncated].into_iter().zip(published) {
                for &size in SIZES {
                    let counted = counts.multiplication(method, size).expect("counted");
                    assert!(
                        (counted - published).abs() < 0.1,
                        "{name} at {size}: {counted}, published {published}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_the_slides_save_follows_from_their_cycles() {
        let at = |grid: &Grid, line: &Line, column| grid.published(line, column);
        for (grid, schoolbook, karatsuba) in [
            (&MULTIPLICATION, [18.8, 16.0, 21.0], [None, Some(13.3), Some(20.3)]),
            (&SQUARING, [23.7, 22.4, 27.1], [None, Some(15.4), Some(17.7)]),
            (&EXPONENTIATION, [19.3, 20.0, 25.6], [None, Some(13.2), Some(10.8)]),
        ] {
            for column in 0..SIZES.len() {
                let (saved, note) = at(grid, &SAVED_SCHOOLBOOK, column);
                assert!(saved.is_some_and(|saved| (saved - schoolbook[column]).abs() < 0.051), "{saved:?}");
                assert!(note.is_some_and(|note| note.contains("computed")));
                let (saved, note) = at(grid, &SAVED_KARATSUBA, column);
                assert_eq!(
                    (saved.is_some(), note.is_some()),
                    (karatsuba[column].is_some(), karatsuba[column].is_some())
                );
                assert!(saved.zip(karatsuba[column]).is_none_or(|(a, b)| (a - b).abs() < 0.051), "{saved:?}");
                assert_eq!(at(grid, &SAVED_KARATSUBA2, column), (None, None));
            }
        }
    }

    #[test]
    fn names_leave_room_for_figures() {
        let lines = EXPONENTIATION.lines.iter();
        let longest = |line: &Line| match line.what {
            What::Usual => Method::ALL.iter().map(|method| format!("{}: {method}", line.row).len()).max(),
            _ => Some(line.row.len()),
        };
        // 79 columns, less two figures, nanoseconds and the gaps.
        assert!(lines.filter_map(longest).max().is_some_and(|longest| longest <= 35));
    }
}
