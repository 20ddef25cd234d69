//! Numbers laid across vectors, over bounds: a proof, and what would break it.
#![cfg(target_arch = "x86_64")]

use zariz_analysis::pair::{Code, Fma, LIMIT, Unbiased, codes, observe, prove, shapes};
use zariz_kernels::pair::{DIGIT_BITS, MAX_VECTORS, Shape};

const MOST: u64 = (1 << DIGIT_BITS) - 1;

#[test]
fn no_column_overflows_in_any_shape() {
    let shapes = shapes();
    assert_eq!(shapes.iter().filter(|(shape, _)| codes(*shape).contains(&Code::Registers)).count(), 14);
    assert_eq!(shapes.last().map(|(shape, _)| shape.vectors), Some(MAX_VECTORS));
    for (shape, _) in shapes {
        for (&code, square) in codes(shape).iter().flat_map(|code| [(code, false), (code, true)]) {
            let observed = prove(Unbiased::default(), shape, code, square);
            assert_eq!(observed.findings, [""; 0], "{shape:?}, {code:?}, square: {square}");
            // As the head of `pair` has it.
            let argued = (8 * shape.segments() * shape.vectors + 1) << 52;
            assert!(observed.read.max(observed.sum) <= argued as u64, "{shape:?}, {code:?}");
            let biased = prove(<Fma>::default(), shape, code, square);
            assert_eq!(
                (biased.findings, biased.reads),
                (vec![], observed.reads),
                "{shape:?}, {code:?}: {square}"
            );
        }
    }
}

/// Not blind: digits that are too long, numbers eight times as long, and a bias that the kernels do not
/// subtract are found out.
#[test]
fn breaches_are_found_out() {
    let tuned = Shape::new(1024, 2);
    let observed = observe(Unbiased::default(), tuned, Code::Registers, false, MOST + 1);
    assert!(observed.findings[0].starts_with("a factor can be"), "{observed:?}");
    let long = Shape { vectors: 8 * MAX_VECTORS, count: 2 };
    let observed = prove(Unbiased::default(), long, Code::Tiles, false);
    assert!(
        observed.findings.iter().any(|finding| finding.contains(&format!("of {LIMIT:#x}"))),
        "{observed:?}"
    );
    for (shape, code) in [(tuned, Code::Registers), (Shape::new(1600, 2), Code::Tiles)] {
        let observed = prove(Fma::<{ 1 << 52 }>::default(), shape, code, false);
        assert!(!observed.findings.is_empty(), "{shape:?}");
    }
}
