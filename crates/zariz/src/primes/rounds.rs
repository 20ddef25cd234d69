//! How many rounds of Miller-Rabin a random candidate needs.

/// Rounds for a number that an adversary may have chosen: a composite passes each with probability at most
/// 1/4, so all with at most `2^−128`.
pub const WORST_CASE: usize = 64;

/// The most rounds for the result of a search: each composite among the candidates passes all of them with
/// probability at most `2^−144`, and there are fewer than `2^16` for each prime.
pub const MOST: usize = 72;

/// The fewest rounds after which a random number of `bits` bits that passes is composite with probability at
/// most `2^−128`, or `2^−144` from 2,048 bits on. At least those of FIPS 186-5, Table B.1 (5 rounds at 1,024
/// bits for `2^−112`; 4 at 1,536 for `2^−128`; 4 at 2,048 for `2^−144`).
///
/// `lost`: the bits of this bound that the way of choosing candidates costs; see [`Search`](super::Search).
pub fn for_random(bits: usize, lost: f64) -> usize {
    let target = if bits >= 2048 { -144.0 } else { -128.0 };
    (2..MOST).find(|&rounds| error_log2(bits, rounds) + lost <= target).unwrap_or(MOST)
}

/// The logarithm of the probability that a random odd number of `k` bits which passes `t` rounds is composite
/// (FIPS 186-5, Appendix C.1; Damgård, Landrock and Pomerance 1993):
///
/// `2.00743·ln 2·k·2^−k·(2^(k−2−M·t) + 8(π² − 6)/3·2^(k−2)·Σ_{m=3..M} 2^(m−(m−1)t)·Σ_{j=2..m} 2^(−j−(k−1)/j))`
///
/// for the best `M` from 3 to `2√(k−1) − 1`. The factor `2^(k−2)` cancels against `2^−k` here.
fn error_log2(k: usize, t: usize) -> f64 {
    use std::f64::consts::{LN_2, PI};
    let (k, t) = (k as f64, t as f64);
    let mut inner = (-2.0 - (k - 1.0) / 2.0).exp2();
    let (mut outer, mut best) = (0.0, f64::INFINITY);
    for m in 3..=(2.0 * (k - 1.0).sqrt() - 1.0) as usize {
        let m = m as f64;
        inner += (-m - (k - 1.0) / m).exp2();
        outer += (m - (m - 1.0) * t).exp2() * inner;
        best = f64::min(best, (-m * t).exp2() + 8.0 * (PI * PI - 6.0) / 3.0 * outer);
    }
    (2.00743 * LN_2 * k / 4.0 * best).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 186-5, Table B.1, and FIPS 186-4, Table C.2 and C.3: rounds for an error probability.
    #[test]
    fn the_published_tables_follow_from_the_formula() {
        let rounds = |bits, log2: f64| (1..).find(|&t| error_log2(bits, t) <= log2);
        for (bits, log2, expected) in [
            (1024, -112.0, 5),
            (1536, -128.0, 4),
            (2048, -144.0, 4),
            (1024, -100.0, 4),
            (1536, -100.0, 3),
            (2048, -100.0, 2),
            (512, -100.0, 7),
        ] {
            assert_eq!(rounds(bits, log2), Some(expected), "{bits} bits for 2^{log2}");
        }
    }

    #[test]
    fn rounds_are_at_least_those_of_fips_and_never_more_than_in_the_worst_case() {
        for (bits, least) in [(1024, 5), (1536, 4), (2048, 4), (4096, 2)] {
            assert!(for_random(bits, 0.0) >= least, "{bits} bits");
        }
        assert!(for_random(256, 0.0) <= MOST);
        assert_eq!(for_random(256, 1000.0), MOST);
        assert!(for_random(1024, 20.0) >= for_random(1024, 0.0));
    }
}
