//! Rows of products, beside their products one by one.

use zariz_kernels::batch::{Column, Digit, Kernels};

/// The next words for each lane, at their extremes among others, by a fixed sequence.
fn words<M: Kernels>(seed: &mut u64, most: u64) -> Vec<u64> {
    let mut word = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match *seed >> 61 {
            0 => 0,
            1 => most,
            2 => most / 2 + 1,
            3 => most / 2,
            _ => (*seed >> 8) % most,
        }
    };
    (0..M::LANES).map(|_| word()).collect()
}

/// A row of `T` digits, if the machine has tiles as wide.
fn check_width<M: Kernels, const T: usize>(m: M, seed: &mut u64) {
    if T > M::MAX_TILE {
        return;
    }
    let mut digit = || m.operand(m.column_from(&words::<M>(seed, (1 << M::DIGIT_BITS) - 1)));
    let (a, b): ([Digit<M>; T], _) = (std::array::from_fn(|_| digit()), digit());
    let mut column = || m.column_from(&words::<M>(seed, u64::MAX >> 1));
    let (mut columns, mut lowest, entering): ([Column<M>; T], _, _) =
        (std::array::from_fn(|_| column()), column(), column());
    let mut expected: Vec<_> = columns.into_iter().chain([entering]).collect();
    m.mac_row(&mut columns, &mut lowest, entering, &a, b);
    for j in 0..T {
        (expected[j], expected[j + 1]) = m.mac(expected[j], expected[j + 1], a[j], b);
    }
    for (k, (found, expected)) in [lowest].into_iter().chain(columns).zip(expected).enumerate() {
        let words = |column| {
            let mut words = vec![0; M::LANES];
            m.column_store(column, &mut words);
            words
        };
        assert_eq!(words(found), words(expected), "{T} digits, column {k}");
    }
}

/// Rows of every width of the machine's tiles.
pub fn check<M: Kernels>(m: M, times: usize) {
    macro_rules! widths {
        ($($width:literal)*) => {{
            const { assert!([$($width),*].len() >= M::MAX_TILE) };
            let mut seed = 1;
            for _ in 0..times {
                $(check_width::<M, $width>(m, &mut seed);)*
            }
        }};
    }
    m.held(|| widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20));
}
