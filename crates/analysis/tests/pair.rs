//! Numbers laid across vectors, over bounds: a proof, and what would break it.
#![cfg(target_arch = "x86_64")]

use zariz_analysis::pair::{Fma, Unbiased, observe, prove, shapes};
use zariz_kernels::pair::{DIGIT_BITS, MAX_DIGITS, Shape, initial};

const MOST: u64 = (1 << DIGIT_BITS) - 1;

#[test]
fn no_column_overflows_in_any_shape() {
    let shapes = shapes();
    assert_eq!(shapes.iter().filter(|(shape, _)| shape.is_tuned()).count(), 5);
    assert_eq!(shapes.last().map(|(shape, _)| shape.digits), Some(MAX_DIGITS));
    for (shape, _) in shapes {
        for square in [false, true] {
            let observed = prove(Unbiased::default(), shape, square);
            assert_eq!(observed.findings, [""; 0], "{shape:?}, square: {square}");
            // As the head of `pair` has it.
            assert!(observed.read <= ((2 * shape.digits + 16 * shape.vectors() + 1) << 52) as u64, "{shape:?}");
            let biased = prove(Fma::default(), shape, square);
            assert_eq!((biased.findings, biased.reads), (vec![], observed.reads), "{shape:?}, square: {square}");
        }
    }
}

/// Not blind: digits that are too long, numbers eight times as long, and a bias that is counted once too often
/// or too seldom are found out.
#[test]
fn breaches_are_found_out() {
    let tuned = Shape::new(1024);
    let observed = observe(Unbiased::default(), tuned, false, MOST + 1, &[]);
    assert!(observed.findings[0].starts_with("a factor can be"), "{observed:?}");
    let long = Shape { digits: 8 * MAX_DIGITS, width: 5, tiles: 32 };
    let observed = prove(Unbiased::default(), long, false);
    assert!(observed.findings.iter().any(|finding| finding.contains("of 0x7ff0000000000000")), "{observed:?}");
    for shape in [tuned, Shape::new(1200)] {
        let right = initial::<Fma>(shape);
        for at in [0, shape.vectors(), 2 * shape.vectors(), 3 * shape.vectors()] {
            let mut wrong = right.clone();
            wrong[at] = wrong[at].wrapping_add(1 << 52);
            let observed = observe(Fma::default(), shape, false, 0, &wrong);
            assert!(!observed.findings.is_empty(), "{shape:?}: initial column {at}");
        }
    }
}
