//! The table of the bounds of results.

use super::SIZES;
use super::markdown::{head, table};
use crate::results::arithmetics::all;
use crate::results::{Arithmetic, Kind};

/// docs/generated/results.md, unless something is not proved.
pub fn make() -> Result<String, String> {
    let (mut rows, mut reached) = (Vec::new(), Vec::new());
    for arithmetic in all() {
        let names = [arithmetic.name.to_owned(), arithmetic.method.clone()];
        for row in arithmetic.prove()? {
            let margin = format!("2^{:.2}", row.margin);
            let cells = [
                row.operation.to_owned(),
                row.operands,
                row.claim,
                row.worst,
                margin,
                row.digits.to_string(),
            ];
            rows.push(names.iter().cloned().chain(cells).collect());
        }
        if !matches!(arithmetic.kind, Kind::Full { .. }) {
            let sizes = SIZES.map(|bits| at(&arithmetic, bits));
            let full = arithmetic.sizes.last().map(|&size| (size, size.bits - arithmetic.bounds.free_bits));
            let full = full.and_then(|(size, bits)| arithmetic.reached(size, bits));
            let full = full.ok_or_else(|| format!("{}: no bound is closed", arithmetic.method))?;
            reached.push(names.into_iter().chain([full]).chain(sizes).collect());
        }
    }
    let size_names = SIZES.map(|bits| format!("{bits} bits"));
    let size_head: Vec<&str> = ["arithmetic", "method", "the fullest"]
        .into_iter()
        .chain(size_names.iter().map(String::as_str))
        .collect();
    Ok([
        head(),
        "# Results: the bounds of every arithmetic are closed\n\n".into(),
        INTRODUCTION.into(),
        table(
            &["arithmetic", "method", "operation", "operands", "claim", "worst", "margin", "digits"],
            &rows,
        ),
        REACHED.into(),
        table(&size_head, &reached),
        CLAIMS.into(),
    ]
    .concat())
}

/// What can be reached with moduli of `bits` bits in as many digits as they need.
fn at(arithmetic: &Arithmetic, bits: usize) -> String {
    let size = arithmetic.sizes.iter().find(|size| size.bits >= bits + arithmetic.bounds.free_bits);
    size.and_then(|&size| arithmetic.reached(size, bits)).unwrap_or_else(|| "–".to_owned())
}

const INTRODUCTION: &str = "\
An arithmetic says how large its numbers are (`crates/kernels/src/bounds.rs`, whose constants the code uses). Here
(`lab/analysis/src/results.rs`) each operation has the largest operands that this allows, every digit of every quotient is the
largest there is, and the result, an exact number, must be below what is said of it. So, by induction, no number in Montgomery form is
ever larger. This is done for every digit count that a modulus of 16384 bits or less can have, or the arithmetic allows, and for
the least and the greatest modulus of each: the margin is a concave function of M, so it is positive for all between.

*Worst* is the worst result and *margin* what is left, both in the unit of the claim, M, R or R + M, at the digit count where the
least is left. A number below R + M is below R after M is subtracted where it reaches R. `s` is what a step of Horner's rule
takes in: a digit less than R. *Interleaved* is `amm` and `karatsuba-squares`, and with half-reduced entries `ahmm`; *separated*
are the methods of the papers. Entries of a table are numbers that entered, products and squares.

";

const REACHED: &str = "
## The largest number that is ever reached

The least bound, in multiples of M, under which an arithmetic is closed and which holds for what enters it: with any sequence of
operations, no number is larger. M has as many bits as the head says, all ones. *The fullest* is the greatest modulus of the most
digits: nothing is free that need not be. For powers of two it is a square.

";

const CLAIMS: &str = "
## What this proves, and what it does not

| claim | how it is known |
| --- | --- |
| Results are below what is claimed, for every digit count and every modulus, from any operands that are | proved here |
| The code's own constants are those of the claims: free bits, and how often M is subtracted in the end | they are the same constants |
| A product and its reduction are `(x·y + q·M')/R` with the quotients said here | argued at the heads of the kernels, which tests compare with exact integers |
| Sums and products are all that is done to numbers | `zariz_kernels::Montgomery` has no more; that the summand of `scalar` and `carry` is below M is argued at their `add`: it is a product below 2M, less M where it reaches M |
";
