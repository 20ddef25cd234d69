//! Carry chains: what their bounds show, a section of docs/generated/carry.md.

use super::markdown::table;
use crate::chains::{Observed, lengths, prove};
use crate::operation::MAX_BITS;

/// The section, unless something is not proved.
pub fn section() -> Result<String, String> {
    let (mut all, mut additions, mut most) = (Observed::default(), 0, 0);
    for words in lengths(MAX_BITS) {
        let observed = prove(words);
        if let Some(finding) = observed.findings.first() {
            let count = observed.findings.len();
            return Err(format!(
                "carry chains of {words} vectors: {count} findings, of which the first: {finding}"
            ));
        }
        all.high = all.high.max(observed.high);
        all.masked = all.masked.max(observed.masked);
        all.overflowed = all.overflowed.max(observed.overflowed);
        (additions, most) = (additions + observed.additions, words);
    }
    let hex = |value: u64| format!("`{value:#x}`");
    let limit = u64::from(u32::MAX);
    let rows = [
        ("an addend of `add_high`, which may not be all ones", all.high, limit - 1),
        ("a lane that overflowed and is carried into, which may not be all ones", all.overflowed, limit - 1),
        ("a sum under a mask, which has no mask for its carry", all.masked, limit),
    ];
    let rows: Vec<_> = rows.map(|(what, found, most)| vec![what.to_owned(), hex(found), hex(most)]).to_vec();
    let runs = format!("{additions} additions of vectors with carry, in numbers of 1 to {most} vectors.\n\n");
    Ok([INTRODUCTION.to_owned(), runs, table(&["what", "largest found", "largest allowed"], &rows)].concat())
}

const INTRODUCTION: &str = "
## No carry is lost

The kernels' own code, run on the largest values (`lab/analysis/src/chains.rs`): every digit is anything, every carry that can be
set is, for every length up to 16384 bits. An addition with carry has a mask for what it carries, so it loses nothing. These are the
places where something could be lost; the quotient, which is meant modulo 2^32, is not among them. That `ripple` finds the
carries of such lanes is argued there, and tested. That the digit above a number is 0 or 1, and one subtraction enough, is proved in
docs/generated/results.md. ";
