//! Bounds and counts of RSAZ.

use zariz_analysis::rsaz::{observe, observe_halved};
use zariz_kernels::rsaz::{Quotients, most_sums};

#[test]
fn no_column_overflows_at_any_length() {
    for m in [28, 29] {
        for digits in (4..=most_sums(m)).step_by(4) {
            for quotients in [Quotients::Chained, Quotients::Friendly] {
                for square in [false, true] {
                    for observe in [observe, observe_halved] {
                        let observed = observe(m, digits, quotients, square, 1 << m);
                        assert_eq!(
                            observed.findings, [""; 0],
                            "{digits} digits of {m} bits, {quotients:?}, {square}"
                        );
                    }
                }
            }
        }
    }
}

/// Digits half as long again as they may be overflow: this is not blind.
#[test]
fn longer_digits_are_found_out() {
    for m in [28, 29] {
        let longer = (1 << m) + (1 << (m - 1));
        let observed = observe(m, most_sums(m) / 4 * 4, Quotients::Friendly, true, longer);
        assert!(observed.findings.iter().any(|finding| finding.contains("a product's sum")), "{observed:?}");
        let observed = observe_halved(m, most_sums(m) / 4 * 4, Quotients::Friendly, true, longer);
        assert!(observed.findings.iter().any(|finding| finding.contains("a product's sum")), "{observed:?}");
        let observed = observe(m, 8, Quotients::Friendly, true, u32::MAX);
        assert!(observed.findings.iter().any(|finding| finding.starts_with("a factor")), "{observed:?}");
    }
}

/// Section 4.2: 2·36² = 2592 products of digits for 1024 bits. A head does four rows of four digits in
/// scalars, of which ten products are in the triangle, and finds four quotients; a shifted number takes one
/// vector more in each four rows.
#[test]
fn products_are_as_many_as_the_paper_counts_and_what_shifting_adds() {
    let observed = observe(29, 36, Quotients::Chained, false, 1 << 29);
    let (heads, rows) = (9, 36);
    assert_eq!(observed.products, heads * 14);
    let schoolbook = 2 * 36 * 36;
    // What the vectors of the reduction leave out is in the scalars; x·y has a vector more for every row.
    assert_eq!(4 * observed.macs, schoolbook + 4 * rows);
    assert_eq!(observed.cleaned, 1, "once in 36 rows");
    assert_eq!(observe(28, 76, Quotients::Chained, false, 1 << 28).cleaned, 0);
    let square = observe(29, 36, Quotients::Chained, true, 1 << 29);
    assert_eq!(4 * (observed.macs - square.macs), 4 * 4 * (9 * 10 - 9 * 12 / 2));
}
