//! Rows of products, beside their products one by one.

use rand::rngs::StdRng;
use zariz_kernels::batch::{Column, Digit, Kernels};

use super::words;

/// A row of `T` digits, if the machine has tiles as wide.
fn check_width<M: Kernels, const T: usize>(m: M, rng: &mut StdRng) {
    if T > M::MAX_TILE {
        return;
    }
    let mut digit = || m.operand(m.column_from(&words(rng, M::LANES, (1 << M::DIGIT_BITS) - 1)));
    let (a, b): ([Digit<M>; T], _) = (std::array::from_fn(|_| digit()), digit());
    let mut column = || m.column_from(&words(rng, M::LANES, u64::MAX >> 1));
    let (mut columns, mut lowest, entering): ([Column<M>; T], _, _) =
        (std::array::from_fn(|_| column()), column(), column());
    let mut expected: Vec<_> = columns.into_iter().chain([entering]).collect();
    let mut reduced = columns;
    let quotient = m.reduce_row(&mut reduced, entering, &a, b);
    m.mac_row(&mut columns, &mut lowest, entering, &a, b);
    for j in 0..T {
        (expected[j], expected[j + 1]) = m.mac(expected[j], expected[j + 1], a[j], b);
    }
    let stored = |column| {
        let mut words = vec![0; M::LANES];
        m.column_store(column, &mut words);
        words
    };
    for (k, (found, &expected)) in [lowest].into_iter().chain(columns).zip(&expected).enumerate() {
        assert_eq!(stored(found), stored(expected), "{T} digits, column {k}");
    }
    let value = |digit| stored(m.column(digit));
    assert_eq!(value(quotient), value(m.operand(expected[0])), "{T} digits, the next quotient");
    expected[1] = m.add(expected[1], m.carry(expected[0]));
    for (k, (found, &expected)) in reduced.into_iter().zip(&expected[1..]).enumerate() {
        assert_eq!(stored(found), stored(expected), "{T} digits, column {} of a reduction's row", k + 1);
    }
}

/// Rows of every width of the machine's tiles.
pub fn check<M: Kernels>(m: M, rng: &mut StdRng, times: usize) {
    macro_rules! widths {
        ($($width:literal)*) => {{
            const { assert!([$($width),*].len() >= M::MAX_TILE) };
            for _ in 0..times {
                $(check_width::<M, $width>(m, rng);)*
            }
        }};
    }
    let _default = zariz_machines::mxcsr::DefaultMxcsr::if_needed(M::ROUNDS);
    widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20);
}
