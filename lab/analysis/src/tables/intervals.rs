//! The table of intervals: what the largest columns are, and that none overflows.

use std::collections::BTreeMap;
use std::thread;

use super::SIZES;
use super::markdown::{head, merged, power, room, table};
use crate::interval::{Extent, Interval, observe};
use crate::model::Model;
use crate::operation::{MAX_BITS, Operation, digits_for};
use zariz_kernels::batch::Method;

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

const SIMPLEST: &[Operation] = &[
    Operation::Amm,
    Operation::Ams,
    Operation::Enter,
    Operation::Leave,
    Operation::Mul,
    Operation::Pow,
    Operation::FixedBase,
    Operation::Double,
];

/// What is run: every operation by the simplest method, and of the others what they do differently.
const RUNS: &[(Method, &[Operation])] = &[
    (Method::AMM, SIMPLEST),
    (Method::AHMM, &[Operation::Entry, Operation::ByEntry]),
    (Method::KARATSUBA_SQUARES, &[Operation::Ams]),
    (Method::KARATSUBA_PRODUCTS, &[Operation::Amm, Operation::Ams, Operation::ByEntry]),
    (Method::AHMM_KARATSUBA_SQUARES, &[Operation::Ams, Operation::Entry, Operation::ByEntry, Operation::Pow]),
    (Method::TILED, &[Operation::Amm, Operation::Ams]),
    (Method::TILED_AHMM, &[Operation::Entry, Operation::ByEntry]),
    (Method::TILED_AHMM_KARATSUBA_SQUARES, &[Operation::Ams, Operation::Pow]),
    (Method::SCHOOLBOOK, &[Operation::Amm, Operation::Ams]),
    (Method::TRUNCATED_SCHOOLBOOK, &[Operation::Amm, Operation::Ams]),
    (Method::KARATSUBA, &[Operation::Amm, Operation::Ams]),
    (Method::TRUNCATED_KARATSUBA, &[Operation::Amm, Operation::Ams]),
    (Method::KARATSUBA2, &[Operation::Amm, Operation::Ams]),
    (Method::TRUNCATED_KARATSUBA2, &[Operation::Amm, Operation::Ams]),
];

/// Blocks that read the columns of products; those that others read are shown by themselves.
const READERS: [&str; 12] = [
    "reduce_rows",
    "quotients",
    "normalize",
    "settle",
    "normalize_sum",
    "amm_registers",
    "ams_registers",
    "karatsuba_two_terms",
    "karatsuba_terms_multiply",
    "karatsuba_terms_square",
    "karatsuba_terms_reduce",
    "scale",
];

/// What was shown of one operation by one method.
struct Run {
    method: Method,
    operation: Operation,
    /// From [`FEWEST`] digits up: the columns of products.
    columns: Vec<Extent>,
}

impl Run {
    fn of(&self, l: usize) -> Extent {
        self.columns[l - FEWEST]
    }
}

/// What was shown of a machine.
struct Proof {
    name: &'static str,
    w: u32,
    runs: Vec<Run>,
    /// By block, over all runs and digit counts.
    blocks: BTreeMap<&'static str, Largest>,
    findings: Vec<String>,
}

const FEWEST: usize = 2;

fn prove<P: Model>() -> Proof {
    let w = P::DIGIT_BITS;
    let (mut runs, mut blocks, mut findings) = (Vec::new(), BTreeMap::<_, Largest>::new(), Vec::new());
    for (method, operations) in RUNS {
        for &operation in *operations {
            let (mut columns, most) = (Vec::new(), digits_for(*method, MAX_BITS, w));
            for l in FEWEST..=most {
                let observed = observe(|| operation.run(Interval::<P>::default(), *method, l, || {}));
                let place = format!("{}, {method}, {} of {l} digits", P::NAME, operation.name());
                findings.extend(observed.findings.iter().map(|finding| format!("{place}: {finding}")));
                let read = READERS.iter().filter_map(|block| observed.extents.get(block)).copied();
                columns.push(read.reduce(Extent::join).expect("every operation reduces"));
                for (&block, &extent) in &observed.extents {
                    let largest = Largest { extent, at: l };
                    blocks.entry(block).and_modify(|old| *old = old.join(largest)).or_insert(largest);
                }
            }
            runs.push(Run { method: *method, operation, columns });
        }
    }
    Proof { name: P::NAME, w, runs, blocks, findings }
}

/// All machines, side by side.
fn proofs() -> Vec<Proof> {
    fn add<P: Model>(provers: &mut Vec<fn() -> Proof>) {
        provers.push(prove::<P>);
    }
    let mut provers = Vec::new();
    zariz_machines::on_each_machine!(add(&mut provers));
    thread::scope(|scope| {
        let threads: Vec<_> = provers.iter().map(|prover| scope.spawn(prover)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a prover does not panic")).collect()
    })
}

fn text(proofs: &[Proof]) -> String {
    let (mut operations, mut sizes, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
    for proof in proofs {
        for run in &proof.runs {
            let names = [proof.name.to_owned(), run.method.to_string(), run.operation.name().to_owned()];
            let all = run.columns.iter().zip(FEWEST..).map(|(&extent, at)| Largest { extent, at });
            let Largest { extent, at } = all.reduce(Largest::join).expect("there are digit counts");
            // Numbers too short to be split have no offset.
            let least = run.columns.iter().map(|extent| extent.low).filter(|&low| low > 0).min().unwrap_or(0);
            let exact = format!("`{:#x}`", extent.high);
            let counts = format!("{FEWEST} to {}", FEWEST + run.columns.len() - 1);
            let found = [counts, power(least), power(extent.high), exact, at.to_string(), room(extent.high)];
            operations.push(names.iter().cloned().chain(found).collect());
            if let Operation::Amm | Operation::Ams = run.operation {
                let columns = SIZES.map(|bits| power(run.of(digits_for(run.method, bits, proof.w)).high));
                sizes.push(names.into_iter().chain(columns).collect());
            }
        }
        for (block, Largest { extent, at }) in &proof.blocks {
            let names = [proof.name.to_owned(), format!("`{block}`")];
            let found = [power(extent.low), power(extent.high), at.to_string(), room(extent.high)];
            blocks.push(names.into_iter().chain(found).collect());
        }
    }
    let size_names = SIZES.map(|bits| format!("{bits} bits"));
    let size_head: Vec<&str> =
        ["machine", "method", "operation"].into_iter().chain(size_names.iter().map(String::as_str)).collect();
    let kinds = proofs.iter().map(|p| {
        let bits = MAX_BITS;
        let most = digits_for(Method::AMM, bits, p.w);
        format!("* `{}`: {}-bit digits, so {bits} bits need {most} of them\n", p.name, p.w)
    });
    [
        head(),
        "# Intervals: no column overflows\n\n".into(),
        INTRODUCTION.into(),
        kinds.collect::<String>(),
        "\n## The columns of products, over all digit counts\n\n".into(),
        table(
            &[
                "machine",
                "method",
                "operation",
                "digits",
                "least",
                "largest",
                "exactly",
                "first at",
                "bits below 2^64",
            ],
            &merged(&operations),
        ),
        "\n## The largest column at common sizes\n\n".into(),
        table(&size_head, &merged(&sizes)),
        "\n## All columns that are read, by block\n\n".into(),
        BLOCKS.into(),
        table(&["machine", "block", "least", "largest", "first at", "bits below 2^64"], &merged(&blocks)),
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
        "columns can overflow: {} findings, of which the first:\n  {}\nWhere a machine reads all of a column it must be a number \
         from 0 to 2^64: see zariz_kernels::batch and zariz_analysis::interval.",
        findings.len(),
        shown.join("\n  ")
    ))
}

const SHOWN: usize = 10;

const INTRODUCTION: &str = "\
The kernels' own code, run on ranges instead of digits (`lab/analysis/src/interval.rs`). Every digit of every number,
modulus and constant is anything from 0 to 2^w − 1. What a kernel does depends on the digit count alone, so one run for
each digit count speaks for all data. A column is read as a whole only where it is carried, compared or stored: there it
must be a number that has not gone round, 0 ≤ C < 2^64. The least and the largest that it can be are shown, corrected for
the machine's bias. Columns that can be negative (of the signed machine, and of Karatsuba's splitting) start at 2^62, and
their least shows how far from 0 that keeps them (of numbers long enough to be split; shorter ones have no offset).

The methods are those of `zariz_kernels::batch::Method`; `complete_entry` and `multiply_entry` are those of half-reduced table
entries (`ahmm`). `double` takes any digit as its factor; the factors of powers of two have 16 bits at most. Two levels of
Karatsuba are one where `Method::fitting` finds no room for them; other depths than those of named methods are tried at the
digit counts about which it decides (`lab/analysis/tests/levels.rs`).

";

const BLOCKS: &str = "\
Over all methods, operations and digit counts. Blocks that are not here add to columns that these read. Of its columns
`karatsuba` reads none: it adds them up for others to read. What it reads is the sum of the two signs, 0, 1 or 2, whose
comparison with 1 says whether the middle product is negated: that is the 2^1 in its row.

";

const CLAIMS: &str = "
## What this proves, and what it does not

| claim | how it is known |
| --- | --- |
| No column overflows, with any numbers, for each digit count, operation and machine above | proved here |
| Biases are taken off exactly: nothing of them is left in a column that is read | proved here: what is left over would fill the word |
| The factors of every product are digits of w bits, as the floating-point products require | proved here |
| Only tiles are asked for of which the machine has compiled code | proved here |
| Columns that can be negative are not when they are read: their offset is large enough | proved here |
| Products are split as said: h·2^w + l = a·b with these ranges of l and h | argued at the heads of the machines' files; tested on edge values and at random, on each machine that the processor has (`lab/analysis/tests/split.rs`) |
| Each block computes what its banner says | tested with exact integers (`lab/analysis/tests/exact.rs`) |
| A reduction clears the lowest digits | follows from μ and the friendly multiple, argued in `block/reduce.rs`, `block/amm_registers.rs`, `block/karatsuba_two_terms/reduce.rs` and `block/karatsuba_terms/reduce.rs`; intervals cannot see it; tested with exact integers |
| Results are below T/R + 2M (T/R + M where a reduction is in one piece), and so below 4M; below 3M on entering | proved from the worst operands, with exact numbers (docs/generated/results.md); intervals of digits cannot show it |
| The truncated reduction's carry is exact | argued in `separated.rs`; tested with exact integers, and on every machine with chosen lower halves (`crates/machines/tests/methods.rs`) |
| A normalised number fits its digits: nothing but an offset is carried out of the last | follows from the bound above, which is below R (docs/generated/results.md); tested with exact integers, since a result that lost something has the wrong value |
| Longer exponents and wider windows make no new case | `pow` does nothing to digits between products but select them |
";
