//! The table of intervals: what the largest columns are, and that none overflows.

use std::collections::BTreeMap;
use std::thread;

use super::markdown::{head, power, table};
use super::{MAX_BITS, SIZES};
use crate::interval::{Extent, Interval, observe};
use crate::model::Model;
use crate::operation::{Operation, digits_for};

/// Words that were looked at, and where the largest was.
#[derive(Clone, Copy)]
struct Largest {
    extent: Extent,
    at: usize,
}

impl Largest {
    fn join(self, other: Self) -> Self {
        let at = if other.extent.high > self.extent.high { other.at } else { self.at };
        Self { extent: self.extent.join(other.extent), at }
    }
}

/// What was shown of a machine.
struct Proof {
    name: &'static str,
    w: u32,
    signed: bool,
    most: usize,
    /// By operation and digit count.
    runs: BTreeMap<(Operation, usize), Extent>,
    /// By block, over all operations and digit counts.
    blocks: BTreeMap<&'static str, Largest>,
    findings: Vec<String>,
}

const FEWEST: usize = 2;

fn prove<P: Model>() -> Proof {
    let most = digits_for(MAX_BITS, P::DIGIT_BITS);
    let mut proof = Proof {
        name: P::NAME,
        w: P::DIGIT_BITS,
        signed: P::SIGNED,
        most,
        runs: BTreeMap::new(),
        blocks: BTreeMap::new(),
        findings: Vec::new(),
    };
    for operation in Operation::ALL {
        for l in FEWEST..=most {
            let observed = observe(|| operation.run(Interval::<P>::default(), l, || {}));
            let name = operation.name();
            let findings = observed.findings.iter();
            proof.findings.extend(findings.map(|finding| format!("{}, {name} of {l} digits: {finding}", P::NAME)));
            proof.runs.insert((operation, l), observed.extent().expect("every operation carries"));
            for (&block, &extent) in &observed.extents {
                let largest = Largest { extent, at: l };
                proof.blocks.entry(block).and_modify(|old| *old = old.join(largest)).or_insert(largest);
            }
        }
    }
    proof
}

/// All machines, side by side.
fn proofs() -> Vec<Proof> {
    let mut provers: Vec<fn() -> Proof> = Vec::new();
    macro_rules! prover {
        ($model:ty) => {
            provers.push(prove::<$model>)
        };
    }
    crate::for_each_model!(prover);
    thread::scope(|scope| {
        let threads: Vec<_> = provers.iter().map(|prover| scope.spawn(prover)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a prover does not panic")).collect()
    })
}

fn text(proofs: &[Proof]) -> String {
    let mut operations = Vec::new();
    let mut sizes = Vec::new();
    let mut blocks = Vec::new();
    for proof in proofs {
        for operation in Operation::ALL {
            let runs = (FEWEST..=proof.most).map(|l| Largest { extent: proof.runs[&(operation, l)], at: l });
            let largest = runs.reduce(Largest::join).expect("there are digit counts");
            operations.push(vec![
                proof.name.into(),
                operation.name().into(),
                format!("{FEWEST} to {}", proof.most),
                word(largest.extent.high, proof.signed),
                format!("`{:#x}`", largest.extent.high),
                largest.at.to_string(),
                room(largest.extent.high),
            ]);
            if let Operation::Amm | Operation::Ams = operation {
                let mut row = vec![proof.name.into(), operation.name().into()];
                row.extend(SIZES.map(|bits| {
                    let high = proof.runs[&(operation, digits_for(bits, proof.w))].high;
                    word(high, proof.signed)
                }));
                sizes.push(row);
            }
        }
        for (block, largest) in &proof.blocks {
            blocks.push(vec![
                proof.name.into(),
                format!("`{block}`"),
                word(largest.extent.low, proof.signed),
                word(largest.extent.high, proof.signed),
                largest.at.to_string(),
                room(largest.extent.high),
            ]);
        }
    }
    let size_names = SIZES.map(|bits| format!("{bits} bits"));
    let size_head: Vec<&str> =
        ["machine", "operation"].into_iter().chain(size_names.iter().map(String::as_str)).collect();
    let kinds = proofs.iter().map(|p| {
        let bits = MAX_BITS;
        format!("* `{}`: {}-bit digits, so {bits} bits need {} of them", p.name, p.w, p.most)
    });
    [
        head(),
        "# Intervals: no column overflows\n\n".into(),
        INTRODUCTION.into(),
        kinds.collect::<Vec<_>>().join("\n"),
        "\n\n## Operations, over all digit counts\n\n".into(),
        table(
            &["machine", "operation", "digits", "largest column", "exactly", "first at", "bits below 2^63"],
            &operations,
        ),
        "\n## The largest column at common sizes\n\n".into(),
        table(&size_head, &sizes),
        "\n## Blocks, over all operations and digit counts\n\n".into(),
        "Only blocks that look at a whole column are here; the others add to columns that these look at.\n\n".into(),
        table(&["machine", "block", "least column", "largest column", "first at", "bits below 2^63"], &blocks),
        CLAIMS.into(),
    ]
    .concat()
}

/// docs/generated/intervals.md, unless something is not proved.
pub fn make() -> Result<String, String> {
    let proofs = proofs();
    let findings: Vec<_> = proofs.iter().flat_map(|proof| proof.findings.iter().cloned()).collect();
    if findings.is_empty() {
        return Ok(text(&proofs));
    }
    let shown: Vec<_> = findings.iter().take(SHOWN).cloned().collect();
    Err(format!(
        "columns can overflow: {} findings, of which the first:\n  {}\nA column must be below 2^63 wherever a machine reads \
         all of it: see zariz_kernels::frame and zariz_analysis::interval.",
        findings.len(),
        shown.join("\n  ")
    ))
}

const SHOWN: usize = 10;

/// A column: on a signed machine, by how much it differs from the offset.
fn word(value: u64, signed: bool) -> String {
    const OFFSET: u64 = 1 << 62;
    match value.checked_sub(OFFSET) {
        Some(above) if signed => format!("2^62 + {}", power(above)),
        None if signed && value > OFFSET / 2 => format!("2^62 − {}", power(OFFSET - value)),
        _ => power(value),
    }
}

/// Bits between a column and `2^63`.
fn room(value: u64) -> String {
    format!("{:.2}", 63.0 - (value as f64).log2())
}

const INTRODUCTION: &str = "\
The kernels' own code, run on ranges instead of digits (`crates/analysis/src/interval.rs`). Every digit of every number,
modulus and constant is anything from 0 to 2^w − 1. What a kernel does depends on the digit count alone, so one run for
each digit count speaks for all data. A column is read as a whole only where it is carried, compared or stored; the
largest such word is shown, corrected for the machine's bias. It must be below 2^63. The columns of a signed machine have
an offset of 2^62, and are shown by their distance from it: they must not reach 0 either.

";

const CLAIMS: &str = "
## What this proves, and what it does not

| claim | how it is known |
| --- | --- |
| No column overflows, with any numbers, for each digit count, operation and machine above | proved here |
| Biases are taken off exactly: the word of every column that is read lies in one window of 2^64 | proved here |
| The factors of every product are digits of w bits, as the floating-point products require | proved here |
| Only tiles are asked for of which the machine has compiled code | proved here |
| The columns of a signed machine are positive when their carries are taken | proved here |
| Products are split as said: h·2^w + l = a·b with these ranges of l and h | argued at the heads of the machines' files; tested on edge values and at random, on each machine that the processor has (`crates/analysis/tests/split.rs`) |
| Each block computes what its banner says | tested with exact integers (`crates/analysis/tests/exact.rs`) |
| A reduction clears the lowest digits | follows from μ and the friendly multiple, argued in `block/reduce.rs`; intervals cannot see it; tested with exact integers |
| Results are below T/R + 2M, and so below 4M; below 3M on entering | argued in `frame.rs`; intervals of digits cannot show it; tested with exact integers at the extremes |
| A normalised number fits its digits: nothing but a signed machine's offset is carried out of the last | follows from the bound above; tested with exact integers |
| Doublings of the exponent's windows make no new case | `pow` does nothing to digits between products but select them |
";
