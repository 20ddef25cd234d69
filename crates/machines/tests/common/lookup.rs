//! Tables read by lookups in registers, beside plain tables.

use rand::{Rng, rngs::StdRng};
use zariz_kernels::batch::Kernels;
use zariz_kernels::batch::block::{EIGHT, LOOKUP_WINDOWS};

/// A word for each lane.
type Words = [u64; EIGHT];

/// Entries of random digits, zeros and ones, read at an index of its own for each lane and window. A machine without
/// lookups has nothing to check.
pub fn check<M: Kernels>(m: M, rng: &mut StdRng) {
    for (entries, stride) in [(16, 1), (32, 3), (64, 20)].into_iter().filter(|_| M::LOOKUP) {
        let table = words(rng, entries * stride, (1 << M::DIGIT_BITS) - 1);
        let index = words(rng, LOOKUP_WINDOWS, entries as u64 - 1);
        let digits: Vec<_> = table.iter().map(|words| m.operand(m.column_from(words))).collect();
        let mut turned = vec![m.digit_zero(); digits.len()];
        m.turn(&mut turned, &digits, stride);
        let mut found = vec![m.digit_zero(); LOOKUP_WINDOWS * stride];
        m.lookup(&mut found, &turned, stride, index.as_flattened());
        for (at, &digit) in found.iter().enumerate() {
            let (v, j) = (at / stride, at % stride);
            let expected: Words = std::array::from_fn(|k| table[index[v][k] as usize * stride + j][k]);
            let mut words = Words::default();
            m.column_store(m.column(digit), &mut words);
            assert_eq!(words, expected, "{entries} entries, window {v}, digit {j}");
        }
    }
}

fn words(rng: &mut StdRng, count: usize, most: u64) -> Vec<Words> {
    let mut word = || match rng.random_range(0..4) {
        0 => most,
        1 => 0,
        _ => rng.random_range(0..=most),
    };
    (0..count).map(|_| std::array::from_fn(|_| word())).collect()
}
