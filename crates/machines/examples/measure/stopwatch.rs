//! Times, the clock, and numbers to compute with.

use std::hint::black_box;
use std::time::Instant;

use zariz_kernels::OddModulus;

/// Nanoseconds of a call, the mean of `calls`.
pub fn time(calls: usize, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        work();
    }
    start.elapsed().as_nanos() as f64 / calls as f64
}

/// Nanoseconds of a call, the best of rounds of about 20 µs each: what interrupts a round makes it slower.
pub fn best(mut work: impl FnMut()) -> f64 {
    const ROUND: f64 = 20_000.0;
    let (mut best, mut calls) = (f64::MAX, 1);
    for _ in 0..400 {
        best = best.min(time(calls, &mut work));
        calls = (ROUND / best).max(1.0) as usize;
    }
    best
}

/// The core's clock in cycles per nanosecond, from a chain of products of three cycles each.
pub fn gigahertz() -> f64 {
    let chain = || {
        let mut x = black_box(3u64);
        for _ in 0..1000 {
            x = x.wrapping_mul(x);
        }
        black_box(x);
    };
    3000.0 / best(chain)
}

/// A number of `bits` bits, the uppermost and the lowest of which are 1.
pub fn number(bits: usize, seed: u64) -> Vec<u64> {
    let mut out: Vec<u64> =
        (1..=bits.div_ceil(64) as u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let top = (bits - 1) % 64;
    let last = out.len() - 1;
    out[last] = out[last] & (u64::MAX >> (63 - top)) | 1 << top;
    out[0] |= 1;
    out
}

/// A modulus of `bits` bits.
pub fn modulus(bits: usize, seed: u64) -> OddModulus {
    OddModulus::new(&number(bits, seed)).expect("an odd number above 1")
}
