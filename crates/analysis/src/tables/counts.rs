//! The table of operation counts.

use zariz_kernels::Constants;
use zariz_kernels::pow::{Power, pow};

use super::SIZES;
use super::markdown::{head, table};
use crate::count::{Count, Counts, count, so_far};
use crate::model::Model;
use crate::operation::{Operation, digits_for};

/// What one operation on `l` digits counts, without what is done once per batch.
pub fn of<P: Model>(operation: Operation, l: usize) -> Counts {
    let mut before = Counts::ZERO;
    operation.run(Count::<P>::default(), l, || before = so_far());
    so_far() - before
}

/// What a whole power counts, with an exponent of the modulus's length.
fn power<P: Model>(bits: usize) -> Counts {
    let constants = Constants::new(&[3], P::DIGIT_BITS, digits_for(bits, P::DIGIT_BITS));
    let power = Power { modulus: &constants, base: &[2], base_bits: bits, exponent: &[1], exponent_bits: bits };
    count(|| drop(pow(Count::<P>::default(), &[power])))
}

/// Sizes of which whole powers are counted.
const POWERS: [usize; 3] = [1024, 2048, 4096];

fn rows<P: Model>() -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = |name: &str, bits: usize, counts: Counts| {
        let l = digits_for(bits, P::DIGIT_BITS);
        let mut cells = vec![name.to_owned(), bits.to_string(), l.to_string()];
        let Counts { products, low, high, additions, carries, to_digit, to_column, splats, selects, .. } = counts;
        let numbers = [products, low, high, additions, carries, to_digit, to_column, splats, selects];
        cells.extend(numbers.iter().map(u64::to_string));
        cells.extend([counts.loads().to_string(), counts.stores().to_string()]);
        rows.push(cells);
    };
    for operation in [Operation::Amm, Operation::Ams] {
        for bits in SIZES {
            row(operation.name(), bits, of::<P>(operation, digits_for(bits, P::DIGIT_BITS)));
        }
    }
    for bits in POWERS {
        row("pow", bits, power::<P>(bits));
    }
    rows
}

/// docs/generated/counts.md.
pub fn make() -> String {
    let mut out = head();
    out += "# Counts: what the operations do\n\n";
    out += INTRODUCTION;
    macro_rules! section {
        ($model:ty) => {
            out += &format!(
                "\n## {}: {} bits a digit, tiles of up to {}, {} in a vector\n\n",
                <$model>::NAME,
                <$model>::DIGIT_BITS,
                <$model>::MAX_TILE,
                match <$model>::LANES {
                    1 => "1 number".to_owned(),
                    n => format!("{n} numbers"),
                }
            );
            out += &table(HEAD, &rows::<$model>());
        };
    }
    crate::for_each_model!(section);
    out
}

const HEAD: &[&str] = &[
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
The kernels' own code, run on nothing and counted (`crates/analysis/src/count.rs`). Everything is counted in vectors: one
is all numbers of a batch.

* products: multiply-accumulates of both halves; low and high halves: those of one half alone.
* additions, carries: of columns. To digits, to columns: a column prepared for multiplication, and back. Starts: columns
  set to a constant, or from digits in memory. Selects: masked moves, when a table is read.
* loads, stores: of columns and digits. They are no operations of the kernels' vocabulary but indexed slices, so they are
  derived from the structure of each block that is called, with its tile width and rows: a row reads its digit, the digits
  of its tile and the column that enters, and writes the column that leaves.
* `pow` has an exponent as long as the modulus, and counts everything from the numbers in to the numbers out.
";
