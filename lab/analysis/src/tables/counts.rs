//! The table of operation counts.

use zariz_kernels::batch::Method;
use zariz_kernels::batch::block::WINDOWS;
use zariz_kernels::bounds::REDUCED;

use super::SIZES;
use super::markdown::{head, table};
use crate::count::{Count, Counts, at_reduction, count, so_far};
use crate::model::Model;
use crate::operation::{self, Operation, constants_for, digits_for};

/// The machine whose counts the program shows too.
#[cfg(target_arch = "x86_64")]
pub type Shown = zariz_machines::batch::Avx512Ifma;
#[cfg(not(target_arch = "x86_64"))]
pub type Shown = zariz_machines::batch::Portable<1>;

/// What one operation on `l` digits counts, without what is done once per batch.
pub fn of<P: Model>(method: Method, operation: Operation, l: usize) -> Counts {
    let mut before = Counts::ZERO;
    operation.run(Count::<P>::default(), method, l, || before = so_far());
    so_far() - before
}

/// What one operation counts before its reduction; `None` where they are one block, or numbers are in terms.
pub fn product<P: Model>(method: Method, operation: Operation, l: usize) -> Option<Counts> {
    let mut before = Counts::ZERO;
    let _ = at_reduction();
    operation.run(Count::<P>::default(), method, l, || before = so_far());
    at_reduction().map(|reached| reached - before)
}

/// What a whole power counts.
pub fn power<P: Model>(method: Method, l: usize, exponent_bits: usize) -> Counts {
    let constants = constants_for(method, P::DIGIT_BITS, l);
    count(|| operation::power(Count::<P>::default(), &constants, exponent_bits))
}

/// The window of a power, as its selects tell: each group of windows reads every digit of every table entry.
fn window(method: Method, l: usize, exponent_bits: usize, counts: &Counts) -> usize {
    let entry = if method.ahmm { 2 * l } else { l };
    let selects =
        |window: usize| (exponent_bits.div_ceil(window).next_multiple_of(WINDOWS) * entry) << window;
    // Each time that the modulus may be subtracted at the end.
    let reduced = (REDUCED - 1) * l;
    let windows: Vec<usize> =
        (1..=8).filter(|&window| (selects(window) + reduced) as u64 == counts.selects).collect();
    match windows[..] {
        [window] => window,
        _ => panic!("{} selects of {method} at {exponent_bits} bits fit windows {windows:?}", counts.selects),
    }
}

/// Sizes at which methods are compared, and whole powers counted.
const COMPARED: [usize; 3] = [1024, 2048, 4096];

fn rows<P: Model>() -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = |method: Method, name: &str, bits: usize, l: usize, counts: Counts| {
        let mut cells = vec![method.to_string(), name.to_owned(), bits.to_string(), l.to_string()];
        let Counts { products, low, high, carries, to_digit, to_column, splats, selects, .. } = counts;
        let numbers = [products, low, high, counts.sums(), carries, to_digit, to_column, splats, selects];
        cells.extend(numbers.iter().map(u64::to_string));
        cells.extend([counts.loads().to_string(), counts.stores().to_string()]);
        rows.push(cells);
    };
    let w = P::DIGIT_BITS;
    for operation in [Operation::Amm, Operation::Ams] {
        for bits in SIZES {
            let l = digits_for(Method::AMM, bits, w);
            row(Method::AMM, operation.name(), bits, l, of::<P>(Method::AMM, operation, l));
        }
    }
    let others = Method::NAMED.iter().map(|&(_, method)| method).filter(|&method| method != Method::AMM);
    for method in others {
        for bits in COMPARED {
            let l = digits_for(method, bits, w);
            let operations: &[Operation] = match method.ahmm {
                true => &[Operation::Entry, Operation::ByEntry],
                false => &[Operation::Amm, Operation::Ams],
            };
            for &operation in operations {
                row(method, operation.name(), bits, l, of::<P>(method, operation, l));
            }
        }
    }
    for bits in COMPARED {
        for method in [Method::AMM, Method::AHMM] {
            let l = digits_for(Method::AMM, bits, w);
            let counts = power::<P>(method, l, bits);
            row(method, &format!("pow, window {}", window(method, l, bits, &counts)), bits, l, counts);
        }
    }
    rows
}

/// The complexities of the paper, in the order of [`UNITS_OF`], in whole products of the same kind.
const PAPER: [&str; 6] = ["2.5", "2.0", "2.67", "2.33", "2.78", "2.56"];
const UNITS_OF: [Method; 6] = [
    Method::SCHOOLBOOK,
    Method::TRUNCATED_SCHOOLBOOK,
    Method::KARATSUBA,
    Method::TRUNCATED_KARATSUBA,
    Method::KARATSUBA2,
    Method::TRUNCATED_KARATSUBA2,
];
/// Digit counts that two levels of Karatsuba can halve: 1024, 2048, 4096 and 8192 bits.
const UNITS_AT: [usize; 4] = [20, 40, 80, 160];

/// What a multiplication costs, in whole products of the same kind. Half a digit product counts half.
fn units<P: Model>(method: Method, l: usize) -> f64 {
    let product = product::<P>(method, Operation::Amm, l).expect("a reduction of its own");
    of::<P>(method, Operation::Amm, l).half_products() as f64 / product.half_products() as f64
}

/// The table of the paper, and ours beside it.
fn paper<P: Model>() -> String {
    let rows: Vec<Vec<String>> = UNITS_OF
        .iter()
        .zip(PAPER)
        .map(|(&method, paper)| {
            let ours = UNITS_AT.map(|l| format!("{:.3}", units::<P>(method, l)));
            [method.to_string(), paper.to_owned()].into_iter().chain(ours).collect()
        })
        .collect();
    let digits = UNITS_AT.map(|l| format!("{l} digits"));
    let head: Vec<&str> = ["method", "paper"].into_iter().chain(digits.iter().map(String::as_str)).collect();
    table(&head, &rows)
}

/// docs/generated/counts.md.
pub fn make() -> String {
    let mut out = head();
    out += "# Counts: what the operations do\n\n";
    out += INTRODUCTION;
    out += UNITS;
    out += &paper::<Shown>();
    zariz_machines::on_each_machine!(section(&mut out));
    out
}

fn section<P: Model>(out: &mut String) {
    *out += &format!(
        "\n## {}: {} bits a digit, tiles of up to {}, {} in a vector\n\n",
        P::NAME,
        P::DIGIT_BITS,
        P::MAX_TILE,
        match P::LANES {
            1 => "1 number".to_owned(),
            n => format!("{n} numbers"),
        }
    );
    *out += &table(HEAD, &rows::<P>());
}

const HEAD: &[&str] = &[
    "method",
    "operation",
    "bits",
    "digits",
    "products",
    "low halves",
    "high halves",
    "additions",
    "carries",
    "to digits",
    "to columns",
    "starts",
    "selects",
    "loads",
    "stores",
];

const INTRODUCTION: &str = "\
The kernels' own code, run on nothing and counted (`lab/analysis/src/count.rs`). Everything is counted in vectors: one
is all numbers of a batch.

* products: multiply-accumulates of both halves; low and high halves: those of one half alone.
* additions (with subtractions and masked negations), carries: of columns. To digits, to columns: a column prepared for
  multiplication, and back. Starts: columns set to a constant, or from digits in memory. Selects: masked moves, when a
  table is read or one of two differences is kept.
* loads, stores: of columns and digits. They are no operations of the kernels' vocabulary but indexed slices, so they are
  derived from the structure of each block that is called, with its tile width and rows: a row reads its digit, the digits
  of its tile and the column that enters, and writes the column that leaves.
* complete_entry, multiply_entry: preparing a table entry, and multiplying by it, half-reduced (paper `ahmm`).
* `pow` has an exponent as long as the modulus, and counts everything from the numbers in to the numbers out. Its window,
  in bits of the exponent, is the one that the kernels choose for this machine, method and length: the cheapest, by the
  time of a product and the time of reading the table (`window_bits` in `crates/kernels/src/montgomery.rs`). Two machines
  with equal digits can have different times, and so different counts. Tables are read by masks here; `avx512-fma` and
  `avx512-ifma` read those of 16 entries and more by lookups (`block/lookup.rs`), which is cheaper, and may choose a
  wider window.
";

const UNITS: &str = "
## Montgomery multiplications in whole products

The complexities of the paper `truncated` (see BIBLIOGRAPHY.md), and what our code counts, in products of whole numbers of
the same kind: by schoolbook, or by one or two levels of Karatsuba. Half a digit product counts half. What is above the
paper's figure are the guard column and its high halves.

";
