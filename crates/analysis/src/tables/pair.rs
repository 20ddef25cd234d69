//! Numbers laid across vectors: the table of their columns.

use super::markdown::{head, power, room, table};
use crate::pair::{Bound, Fma, Observed, Unbiased, prove, shapes};
use zariz_kernels::pair::Shape;

/// What products and squares of a shape show.
fn both<const LOW: u64, const HIGH: u64>(
    machine: Bound<LOW, HIGH>,
    name: &str,
    shape: Shape,
    findings: &mut Vec<String>,
) -> [Observed; 2] {
    [false, true].map(|square| {
        let observed = prove(machine, shape, square);
        let Shape { digits, width, tiles } = shape;
        let operation = if square { "ams" } else { "amm" };
        let place = format!("pair, {name}, {operation} of {digits} digits in {tiles} tiles of {width} vectors");
        findings.extend(observed.findings.iter().map(|finding| format!("{place}: {finding}")));
        observed
    })
}

/// docs/generated/pair.md, unless something is not proved.
pub fn make() -> Result<String, String> {
    let (mut rows, mut findings, mut first) = (Vec::new(), Vec::new(), 2);
    for (shape, longest) in shapes() {
        let bounds = both(Unbiased::default(), "without biases", shape, &mut findings);
        let biases = both(Fma::default(), "with the biases of pair-fma", shape, &mut findings);
        let part = bounds.iter().map(|observed| observed.part).max().unwrap_or(0);
        let read = bounds.iter().map(|observed| observed.read).max().unwrap_or(0);
        let zeros: u64 = biases.iter().map(|observed| observed.reads).sum();
        let Shape { digits, width, tiles } = shape;
        let bits = format!("{first} to {longest}");
        let layout = format!("{tiles} × {width}");
        let limit = (2 * digits as u64 + 2 * 8 * shape.vectors() as u64 + 1) << 52;
        rows.push(
            [
                bits,
                digits.to_string(),
                layout,
                power(part),
                power(read),
                format!("`{read:#x}`"),
                power(limit),
                room(read),
            ]
            .into_iter()
            .chain([zeros.to_string()])
            .collect(),
        );
        first = longest + 1;
    }
    if let Some(first) = findings.first() {
        return Err(format!("columns across vectors: {} findings, of which the first: {first}", findings.len()));
    }
    Ok([
        head(),
        "# Numbers across vectors: no column overflows\n\n".into(),
        INTRODUCTION.into(),
        table(
            &[
                "bits",
                "digits",
                "tiles × vectors",
                "largest part",
                "largest column",
                "exactly",
                "as argued",
                "bits below 2^64",
                "biased columns that are 0",
            ],
            &rows,
        ),
        CLAIMS.into(),
    ]
    .concat())
}

const INTRODUCTION: &str = "\
The kernels' own code (`crates/kernels/src/pair`), run on the largest values instead of numbers (`crates/analysis/src/pair.rs`):
every digit of both factors, of the modulus, of its multiple and of every quotient is 2^52 − 1. What is done to columns is
monotone; so one run for each shape speaks for all numbers. There is a run for every shape that a modulus of the library can
have, for products and squares. A column has two parts, which are added before it is read; parts must be below 2^63 − 2^52, and
columns with what is carried to them below 2^64. *As argued* is the bound at the head of `crates/kernels/src/pair/mod.rs`,
`(2L + 16n + 1)·2^52`.

The biases of `pair-fma` (`pair-ifma` and the portable machine have none) are shown to cancel in runs of their own, in which every
digit is 0: then each column that is read must be 0. The last column of the table says how many were read. Columns are sums modulo
2^64, so what holds of digits without biases and of biases without digits holds of both together. Two numbers side by side share
no column.

";

const CLAIMS: &str = "
## What this proves, and what it does not

| claim | how it is known |
| --- | --- |
| No column overflows, with any numbers, for every shape | proved here |
| Biases are taken off exactly | proved here |
| Factors are digits below 2^52, as the floating-point products require | proved here |
| Results are below 4M, so that nothing is carried out of a number's last vector | proved with exact numbers (docs/generated/results.md) |
| A reduction clears the lowest vectors | follows from N' and the friendly multiple, argued in `pair/mod.rs`; tested against num-bigint |
";
