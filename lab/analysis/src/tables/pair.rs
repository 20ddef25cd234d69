//! Numbers laid across vectors: the table of their columns.

use super::markdown::{head, power, room, table};
use crate::pair::{Code, Fma, Observed, Unbiased, codes, prove, shapes};
use zariz_kernels::pair::{Machine, Shape};

/// What products and squares of a shape show.
fn all<M: Machine<Vector = [u64; 8]>>(
    machine: M,
    name: &str,
    shape: Shape,
    findings: &mut Vec<String>,
) -> Vec<Observed> {
    let runs = codes(shape).iter().flat_map(|code| [(code, false), (code, true)]);
    let run = |(&code, square): (&Code, bool)| {
        let observed = prove(machine, shape, code, square);
        let Shape { vectors, count } = shape;
        let operation = if square { "ams" } else { "amm" };
        let place = format!("pair, {name}, {operation} of {vectors} vectors, {count} side by side, {code:?}");
        findings.extend(observed.findings.iter().map(|finding| format!("{place}: {finding}")));
        observed
    };
    runs.map(run).collect()
}

/// docs/generated/pair.md, unless something is not proved.
pub fn make() -> Result<String, String> {
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    let (mut first, mut before) = (2, 0);
    for (shape, longest) in shapes() {
        let bounds = all(Unbiased::default(), "without biases", shape, &mut findings);
        let biases = all(<Fma>::default(), "with the biases of pair-fma", shape, &mut findings);
        let most = bounds.iter().map(|observed| observed.sum.max(observed.read)).max().unwrap_or(0);
        let zeros: u64 = biases.iter().map(|observed| observed.reads).sum();
        if shape.count != before {
            (first, before) = (2, shape.count);
        }
        let limit = (8 * shape.segments() as u64 * shape.vectors as u64 + 1) << 52;
        rows.push(vec![
            shape.count.to_string(),
            format!("{first} to {longest}"),
            format!("{} × {}", shape.segments(), shape.vectors),
            power(most),
            format!("`{most:#x}`"),
            power(limit),
            room(most),
            zeros.to_string(),
        ]);
        first = longest + 1;
    }
    if let Some(first) = findings.first() {
        return Err(format!(
            "columns across vectors: {} findings, of which the first: {first}",
            findings.len()
        ));
    }
    Ok([
        head(),
        "# Numbers across vectors: no column overflows\n\n".into(),
        INTRODUCTION.into(),
        table(
            &[
                "numbers",
                "bits",
                "segments × digits",
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
The kernels' own code (`crates/kernels/src/pair`), run on the largest values instead of numbers (`lab/analysis/src/pair.rs`):
every digit of both factors, of the modulus, of its multiple and of every quotient is 2^52 − 1. What is done to columns is
monotone; so one run for each shape speaks for all numbers. There is a run for every shape that a modulus of the library can
have, for one number and for two, for products and squares, with sums in registers and by tiles where there is code for both.
Columns with what is carried to them must be below 2^63. *As argued* is the bound at the head of `crates/kernels/src/pair/mod.rs`,
`(8DV + 1)·2^52`.

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
| Factors are digits below 2^52, as the floating-point products require; no carry is lost at the top of a segment | proved here |
| Results are below 4M, so that nothing is carried out of a number's last segment | proved with exact numbers (docs/generated/results.md) |
| A reduction clears the lowest segments | follows from N' and the friendly multiple, argued in `pair/mod.rs`; tested against num-bigint |
";
