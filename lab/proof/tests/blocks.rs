//! The proofs of rows fail where an addition is missing.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use zariz_proof::claims::blocks::reduction;
use zariz_proof::names::skip_addition;

#[test]
fn every_missing_addition_is_found() {
    const ROWS: usize = 3;
    // The high half of the product by μ is of no use; it is added behind the low half, behind the friendly
    // rows.
    for (whole, expected) in [(false, vec![]), (true, vec![(ROWS - 1) * 9 + 1])] {
        assert!(reduction::<52, false, 4>(ROWS, whole).is_ok());
        let mut survivors = Vec::new();
        for addition in 0.. {
            skip_addition(addition);
            let proved = reduction::<52, false, 4>(ROWS, whole).is_ok();
            if skip_addition(usize::MAX).is_some() {
                assert!(addition > 20, "{addition}");
                break;
            }
            if proved {
                survivors.push(addition);
            }
        }
        assert_eq!(survivors, expected, "whole: {whole}");
    }
}
