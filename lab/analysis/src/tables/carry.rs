//! The table of what the vector carry propagation chains count.

use zariz_machines::carry::Costs;

use super::chains;
use super::markdown::{head, table};
use crate::carry::{CarryCounts, FREE_BITS, Multiplication, decryption, multiplication, redundant, round};

/// The multiplications of the paper, and two lengths more.
fn multiplications() -> [Multiplication; 5] {
    [
        multiplication::<1>(1),
        multiplication::<2>(1),
        multiplication::<2>(2),
        multiplication::<2>(3),
        multiplication::<2>(4),
    ]
}

/// Whole multiplications on slide "Montgomery Multiplication".
const PAPER: [(usize, u64); 3] = [(512, 218), (1024, 724), (2048, 2797)];

/// What slide "Performance Analysis" prints for redundant representation at 1024 bits.
const PAPER_REDUNDANT: u64 = 1224;

/// The formula for redundant representation on the coprocessor.
fn by_formula(bits: usize) -> u64 {
    redundant(bits as u64, 32, FREE_BITS, 512, 16)
}

/// Keys of slide "RSA Decryption", and its millions of instructions.
const DECRYPTIONS: [usize; 3] = [1024, 2048, 4096];
const PAPER_DECRYPTIONS: [&str; 3] = ["0.28", "1.82", "13.7"];

/// docs/generated/carry.md, unless something is not proved.
pub fn make() -> Result<String, String> {
    let mut out = head();
    out += "# Carry chains: what a multiplication counts\n\n";
    out += INTRODUCTION;
    let rounds = [("one vector", round::<1>()), ("two vectors", round::<2>())];
    let rows: Vec<_> =
        rounds.iter().map(|(name, counts)| [vec![(*name).to_owned()], cells(counts)].concat()).collect();
    out += &table(&[&["window"], COUNTS].concat(), &rows);

    out += "\n## Multiplications\n\n";
    let mut rows = Vec::new();
    for Multiplication { bits, rounds, whole, in_rounds, tails, subtraction, .. } in multiplications() {
        for (name, counts) in [
            (format!("{rounds} rounds"), in_rounds),
            ("tails".into(), tails),
            ("subtraction".into(), subtraction),
        ] {
            rows.push([vec![bits.to_string(), name], cells(&counts)].concat());
        }
        rows.push([vec![bits.to_string(), "whole".into()], cells(&whole)].concat());
    }
    out += &table(&[&["bits", "part"], COUNTS].concat(), &rows);

    out += "\n## Beside the paper\n\n";
    out += BESIDE;
    let mut rows = Vec::new();
    for Multiplication { bits, whole, in_rounds, .. } in multiplications() {
        let paper = PAPER.iter().find(|(size, _)| *size == bits);
        rows.push(vec![
            bits.to_string(),
            in_rounds.coprocessor().to_string(),
            (whole - in_rounds).coprocessor().to_string(),
            whole.coprocessor().to_string(),
            paper.map_or("-".to_owned(), |(_, whole)| whole.to_string()),
            by_formula(bits).to_string(),
            if bits == 1024 { PAPER_REDUNDANT.to_string() } else { "-".into() },
            whole.by(Costs::AVX512F).to_string(),
        ]);
    }
    let head = ["bits", "rounds", "what is after them", "whole", "paper, whole"];
    out +=
        &table(&[&head[..], &["redundant, by formula", "paper, redundant", "by AVX-512F"]].concat(), &rows);

    out += "\n## RSA decryption\n\n";
    out += "Two powers in constant time with the window that makes the fewest multiplications, tables read whole. Millions of\n\
            instructions; the paper's are measured.\n\n";
    let mut rows = Vec::new();
    for (bits, paper) in DECRYPTIONS.into_iter().zip(PAPER_DECRYPTIONS) {
        let (counts, window) = decryption(bits);
        let millions = |count: u64| format!("{:.3}", count as f64 / 1e6);
        let ours = [millions(counts.coprocessor()), millions(counts.by(Costs::AVX512F))];
        rows.push([&[bits.to_string(), window.to_string(), paper.to_owned()], &ours[..]].concat());
    }
    out += &table(&["key", "window", "paper", "ours", "by AVX-512F"], &rows);
    out += &chains::section()?;
    Ok(out)
}

/// lab/papers/src/carry.json: an object a line.
///
/// `rounds`, `whole`: vector instructions in the coprocessor's words; `redundant`: what the paper's formula
/// gives for redundant representation; `avx512f`: instructions in AVX-512F's, and `avx512f_round` those of
/// one round. `key`: the two powers of a decryption.
pub fn json() -> String {
    let line = |it: Multiplication| {
        let Multiplication { bits, windows, whole, in_rounds, .. } = it;
        let each = if bits == 512 { round::<1>() } else { round::<2>() };
        format!(
            "  {{\"bits\": {bits}, \"windows\": {windows}, \"rounds\": {}, \"whole\": {}, \"redundant\": {}, \
             \"avx512f\": {}, \"avx512f_round\": {}}}",
            in_rounds.coprocessor(),
            whole.coprocessor(),
            by_formula(bits),
            whole.by(Costs::AVX512F),
            each.by(Costs::AVX512F),
        )
    };
    let mut lines = multiplications().map(line).to_vec();
    for bits in DECRYPTIONS {
        let (counts, window) = decryption(bits);
        let [coprocessor, avx512f] = [counts.coprocessor(), counts.by(Costs::AVX512F)];
        lines.push(format!(
            "  {{\"key\": {bits}, \"window\": {window}, \"whole\": {coprocessor}, \"avx512f\": {avx512f}}}"
        ));
    }
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn cells(counts: &CarryCounts) -> Vec<String> {
    let CarryCounts { products, first_products, sums, high_sums, masked_sums, .. } = counts;
    let CarryCounts { permutations, shifts, broadcasts, comparisons, digits_out, .. } = counts;
    let CarryCounts { mask_moves, loads, stores, .. } = counts;
    let low = products + first_products;
    let (carried, all, avx512f) = (sums + high_sums, counts.coprocessor(), counts.by(Costs::AVX512F));
    [&low, products, &carried, masked_sums, permutations, shifts, broadcasts, comparisons, &all, &avx512f]
        .into_iter()
        .chain([mask_moves, digits_out, loads, stores])
        .map(u64::to_string)
        .collect()
}

const COUNTS: &[&str] = &[
    "VPMULLD",
    "VPMULHUD",
    "VPADCD",
    "VPADDD, masked",
    "VPERMD",
    "VALIGND",
    "broadcasts",
    "VPCMPUD",
    "all",
    "by AVX-512F",
    "mask moves",
    "digits out",
    "loads",
    "stores",
];

const INTRODUCTION: &str = "\
The kernels' own code (`crates/kernels/src/carry`), run on nothing and counted (`lab/analysis/src/carry.rs`) in the words
of the coprocessor of paper `phirsa` (see BIBLIOGRAPHY.md): halves of products, additions with carry into and out of a mask,
permutations, shifts across lanes, digits broadcast from memory, comparisons. *All* is their sum. *By AVX-512F* is what they
cost there, in vector instructions other than moves and loads (`crates/machines/src/carry/mod.rs`, which
`cargo xtask codegen` compares with what is compiled). The other columns are counted apart.

## Rounds

A round multiplies by one digit: 9 instructions for each vector, and 4.

";

const BESIDE: &str = "\
In the coprocessor's words. The paper prints `32·(9·2 + 4)` = 704 for the rounds at 1024 bits, and whole multiplications
whose tail is a loop of as many steps as carries ripple; ours is a fixed number of instructions, and we count the subtraction
under a mask. In our split, digits that the last row left are broadcast into a part, one a round. Redundant representation
is the paper's formula, `⌈l/(w − t)⌉·(10·⌈l/(s − t·n)⌉ + 4)` with `w` = 32, `s` = 512, `n` = 16 lanes; `t` = 3 free bits in each, digits of
29 bits, is the only choice that gives its 1224.

";
