//! RSAZ: bounds of its columns, and what it costs.

use zariz_kernels::rsaz::{Quotients, digit_bits_for, digits_for, most_sums};

use super::markdown::{head, power, table};
use crate::rsaz::{Observed, observe, observe_halved};

/// Both radices, both ways to find quotients, both operations.
fn kinds() -> impl Iterator<Item = (u32, Quotients, bool)> {
    [29, 28].into_iter().flat_map(|m| {
        [Quotients::Chained, Quotients::Friendly]
            .into_iter()
            .flat_map(move |quotients| [false, true].into_iter().map(move |square| (m, quotients, square)))
    })
}

fn names(quotients: Quotients, square: bool) -> [String; 2] {
    let quotients = match quotients {
        Quotients::Chained => "chained",
        Quotients::Friendly => "friendly",
    };
    [quotients.to_owned(), if square { "ams" } else { "amm" }.to_owned()]
}

/// Sizes of which the paper speaks.
const SIZES: [usize; 3] = [512, 1024, 2048];

/// An operation at the size of a modulus, with digits as large as they can be.
fn at(bits: usize, quotients: Quotients, square: bool) -> (u32, usize, Observed) {
    let m = digit_bits_for(bits);
    let digits = digits_for(bits, m);
    (m, digits, observe(m, digits, quotients, square, 1 << m))
}

/// docs/generated/rsaz.md, unless something is not proved.
pub fn make() -> Result<String, String> {
    let (mut bounds, mut findings) = (Vec::new(), Vec::new());
    for (m, quotients, square) in kinds() {
        let mut most = (0, 0);
        let counts = (4..=most_sums(m)).step_by(4);
        for digits in counts.clone() {
            let place = format!("rsaz, {quotients:?}, {digits} digits of {m} bits, square: {square}");
            for observe in [observe, observe_halved] {
                let observed = observe(m, digits, quotients, square, 1 << m);
                findings.extend(observed.findings.iter().map(|finding| format!("{place}: {finding}")));
                most = most.max((observed.largest, digits));
            }
        }
        let [quotients, operation] = names(quotients, square);
        let digits = format!("4 to {}", counts.max().unwrap_or(0));
        let exact = format!("`{:#x}`", most.0);
        bounds.push(vec![
            m.to_string(),
            quotients,
            operation,
            digits,
            power(most.0),
            exact,
            most.1.to_string(),
        ]);
    }
    if let Some(first) = findings.first() {
        return Err(format!(
            "RSAZ's columns can overflow: {} findings, of which the first: {first}",
            findings.len()
        ));
    }
    let mut costs = Vec::new();
    for bits in SIZES {
        for quotients in [Quotients::Chained, Quotients::Friendly] {
            for square in [false, true] {
                let (m, digits, observed) = at(bits, quotients, square);
                let [quotients, operation] = names(quotients, square);
                let numbers = [
                    observed.macs,
                    observed.products,
                    observed.digit_products(),
                    observed.others,
                    observed.cleaned,
                ];
                let place = [
                    bits.to_string(),
                    format!("{digits} × {m}"),
                    quotients,
                    operation,
                    power(observed.largest),
                ];
                costs.push(place.into_iter().chain(numbers.map(|number| number.to_string())).collect());
            }
        }
    }
    Ok([
        head(),
        "# RSAZ: no column overflows, and what it costs\n\n".into(),
        INTRODUCTION.into(),
        "## The largest column, over all digit counts\n\n".into(),
        table(&["m", "quotients", "operation", "digits", "largest", "exactly", "first at"], &bounds),
        "\n## Common sizes\n\n".into(),
        COSTS.into(),
        table(
            &[
                "bits",
                "digits",
                "quotients",
                "operation",
                "largest column",
                "vector mac",
                "scalar products",
                "digit products",
                "other vector operations",
                "cleanups",
            ],
            &costs,
        ),
    ]
    .concat())
}

/// lab/papers/src/rsaz.json: an object a line, what the program shows of it.
pub fn json() -> String {
    let mut lines = Vec::new();
    for bits in SIZES {
        for quotients in [Quotients::Chained, Quotients::Friendly] {
            for square in [false, true] {
                let (m, digits, observed) = at(bits, quotients, square);
                let [quotients, operation] = names(quotients, square);
                lines.push(format!(
                    "  {{\"bits\": {bits}, \"m\": {m}, \"digits\": {digits}, \"quotients\": \"{quotients}\", \
                     \"operation\": \"{operation}\", \"digit_products\": {}}}",
                    observed.digit_products()
                ));
            }
        }
    }
    format!("[\n{}\n]\n", lines.join(",\n"))
}

const INTRODUCTION: &str = "\
The kernels' own code (`crates/kernels/src/rsaz`), run on the largest values instead of numbers
(`lab/analysis/src/rsaz.rs`): every digit of both factors is 2^m, which is one more than a digit of a carried number has, every
digit of the modulus and of every quotient 2^m − 1. Columns are never negative, and what is done to them is monotone; so one run for
each digit count speaks for all numbers. Also shown by these runs: factors of vector products have less than 32 bits, and digits of
results are at most 2^m again.

That a result has no more digits than there are, so that nothing is carried out of the last, follows from the bounds in
`crates/kernels/src/rsaz/mod.rs`; intervals of digits cannot show it.

";

const COSTS: &str = "\
The paper counts 2·36² = 2592 products of digits for 1024 bits (section 4.2). A shifted number takes one vector more than it has
digits, which is the difference; squares save nearly half of the product.

";
