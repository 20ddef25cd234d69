//! Tables read by lookups in registers, beside plain tables.

use rand::rngs::StdRng;
use zariz_kernels::batch::Kernels;
use zariz_kernels::batch::block::LOOKUP_WINDOWS;

use super::words;

/// Tables of random entries, read at an index of its own for each lane and window. A machine without lookups
/// has nothing to check.
pub fn check<M: Kernels>(m: M, rng: &mut StdRng) {
    for (entries, stride) in [(16, 1), (32, 3), (64, 20)].into_iter().filter(|_| M::LOOKUP) {
        let table: Vec<_> =
            (0..entries * stride).map(|_| words(rng, M::LANES, (1 << M::DIGIT_BITS) - 1)).collect();
        let index = words(rng, LOOKUP_WINDOWS * M::LANES, entries as u64 - 1);
        let digits: Vec<_> = table.iter().map(|words| m.operand(m.column_from(words))).collect();
        let mut turned = vec![m.digit_zero(); digits.len()];
        m.turn(&mut turned, &digits, stride);
        let mut found = vec![m.digit_zero(); LOOKUP_WINDOWS * stride];
        m.lookup(&mut found, &turned, stride, &index);
        for (at, &digit) in found.iter().enumerate() {
            let (v, j) = (at / stride, at % stride);
            let entry = |lane: usize| index[v * M::LANES + lane] as usize;
            let expected: Vec<_> = (0..M::LANES).map(|lane| table[entry(lane) * stride + j][lane]).collect();
            let mut words = vec![0; M::LANES];
            m.column_store(m.column(digit), &mut words);
            assert_eq!(words, expected, "{entries} entries, window {v}, digit {j}");
        }
    }
}
