//! None of the interpretations is blind: each sees what is put wrong on purpose.

use num_bigint::BigInt;
use zariz_analysis::Model;
use zariz_analysis::count::{Count, count, so_far};
use zariz_analysis::exact::{self, Exact, banner};
use zariz_analysis::interval::{Column, Interval, Observed, observe};
use zariz_analysis::operation::Operation;
use zariz_kernels::batch::block::{Part, WINDOWS};
use zariz_kernels::batch::{Kernels as _, Machine as _, Method};

type Portable = zariz_machines::batch::Portable<1>;

/// A model with one thing changed.
macro_rules! model {
    ($name:ident: $w:literal bits, bias $lo:literal $hi:literal, signed $signed:literal) => {
        #[derive(Clone, Copy)]
        struct $name;
        impl Model for $name {
            const NAME: &'static str = stringify!($name);
            const LANES: usize = 1;
            const DIGIT_BITS: u32 = $w;
            const BIAS_LO: u64 = $lo;
            const BIAS_HI: u64 = $hi;
            const SIGNED: bool = $signed;
            const TWO_ROWS: bool = false;
            const FOUR_ROWS: bool = false;
            const PRODUCT_TENTHS: u32 = 10;
            const MAX_TILE: usize = 4;
            const MAX_SQUARE: usize = 4;
            const MAX_TRIANGLE: usize = 4;
            const MAX_IN_REGISTERS: usize = 0;
            const MAX_TWO_TERMS: usize = 0;
            const MAX_TERMS: usize = 0;
            const MAX_SELECT: usize = 4;
            const TILED_FROM: usize = usize::MAX;
            const KARATSUBA_FROM: usize = usize::MAX;
            const AHMM_FROM: usize = usize::MAX;
        }
    };
}

model!(Right: 52 bits, bias 0 0, signed false);
model!(LongDigits: 62 bits, bias 0 0, signed false);
model!(Biased: 52 bits, bias 0x1000_0000_0000_0000 0x1000_0000_0000_0000, signed false);
model!(Signed: 51 bits, bias 0 0, signed true);

/// `times` products of two whole numbers on top of each other, then carries.
fn accumulate<P: Model>(times: usize, start: u64) -> Observed {
    observe(|| {
        let m = Interval::<P>::default();
        let any = [Interval::<P>::ANY; 4];
        let mut c = [m.column_splat(start); 8];
        for _ in 0..times {
            m.mac_rows(&mut c, &any, &any);
        }
        m.normalize(&mut [m.digit_zero(); 8], &c);
    })
}

#[test]
fn intervals_see_columns_overflow() {
    // The fullest columns receive 7 halves each time, and 7·585 < 2^12 < 7·586.
    assert_eq!(accumulate::<Right>(585, 0).findings, []);
    let observed = accumulate::<Right>(586, 0);
    let finding = &observed.findings[0];
    assert_eq!((finding.block, finding.operation), ("normalize", "carry"));
    assert!(finding.to_string().contains("normalize: carry of a column that can overflow 2^64"));
    assert!(observed.extents["normalize"].high == u64::MAX);
    // Far beyond, the range itself is no longer known.
    let findings = accumulate::<Right>(2000, 0).findings;
    assert!(
        findings.iter().any(|finding| finding.to_string().contains("it can be anything")),
        "{findings:?}"
    );
}

#[test]
fn intervals_see_digits_that_are_too_long() {
    assert_eq!(accumulate::<Right>(1, 0).findings, []);
    assert_ne!(accumulate::<LongDigits>(1, 0).findings, []);
}

#[test]
fn intervals_see_a_bias_that_is_not_taken_off() {
    // The fullest columns receive 7 biases of 2^60, and then 14.
    let high = |times: usize| accumulate::<Biased>(times, 0).extents["normalize"].high;
    assert!(high(1) >= 7 * Biased::BIAS_LO && high(2) >= 14 * Biased::BIAS_LO);
    // Taken off in advance as frames do, nothing remains, however often it goes round.
    let observed = observe(|| {
        let m = Interval::<Biased>::default();
        let any = [Interval::<Biased>::ANY];
        let bias = Biased::BIAS_LO.wrapping_mul(100).wrapping_neg();
        let mut c = [m.column_splat(bias); 2];
        for _ in 0..100 {
            m.mac_rows(&mut c, &any, &any);
        }
        m.normalize(&mut [m.digit_zero(); 2], &c);
    });
    assert_eq!(observed.findings, []);
}

#[test]
fn intervals_see_negative_columns() {
    assert!(accumulate::<Signed>(1, 0).findings[0].to_string().contains("be negative"));
    assert_eq!(accumulate::<Signed>(1, 1 << 62).findings, []);
}

#[test]
fn intervals_refuse_factors_that_are_no_digits() {
    let long = zariz_analysis::interval::Digit { low: 0, high: 1 << 52 };
    let any = Interval::<Right>::ANY;
    assert!(std::panic::catch_unwind(|| Interval::<Right>::split(long, any)).is_err());
    assert!(std::panic::catch_unwind(|| Exact::<Right>::split(1 << 52, 1)).is_err());
}

#[test]
fn interpretations_refuse_tiles_that_no_machine_has() {
    let wide = std::panic::catch_unwind(|| {
        let m = Interval::<Right>::default();
        m.mac_rows(&mut [m.column_splat(0); 8], &[m.digit_zero(); 5], &[m.digit_zero(); 1]);
    });
    assert!(wide.is_err(), "5 digits, but the widest tile has 4");
}

#[test]
fn intervals_carry_and_cut_as_words_do() {
    let m = Interval::<Right>::default();
    let column = Column { low: (7 << 52) + 5, width: 3 };
    assert_eq!(m.carry(column), Column { low: 7, width: 0 });
    assert_eq!(m.column(m.digit(column)), Column { low: 5, width: 3 });
    let across = Column { low: (7 << 52) - 1, width: 1 };
    assert_eq!(m.carry(across), Column { low: 6, width: 1 });
    assert_eq!(m.digit(across), Interval::<Right>::ANY);
    let anything = m.add(Column { low: 1, width: u64::MAX - 1 }, column);
    assert!((0..64).all(|i| anything.contains(1 << i)));
}

#[test]
fn counts_tell_blocks_apart() {
    let m = Count::<Right>::default();
    let rows = |t: usize, n: usize| count(|| m.mac_rows(&mut vec![(); t + n], &vec![0; t], &vec![0; n]));
    assert_eq!((rows(4, 7).products, rows(3, 7).products), (28, 21));
    assert_eq!((rows(4, 7).loads(), rows(4, 7).stores()), (4 + 7 + 7 * 5, 4 + 7));
    let square = count(|| m.square(&mut [(); 8], &[0; 4], &[0; 8]));
    assert_eq!((square.products, square.additions), (4 * 5 / 2, 8));
    let reduce = |plain: bool| {
        let last = [0; 4];
        count(|| m.reduce_rows(&mut [(); 9], &[0; 4], &mut [0; 4], plain.then_some((&last[..], 0))))
    };
    assert_eq!((reduce(false).products, reduce(true).products + reduce(true).low), (16, 17));
    assert_eq!((reduce(false).carries, reduce(true).carries), (4, 4));
    assert_ne!(reduce(false), reduce(true));
    let low = count(|| m.low_triangle(&mut [(); 4], &[0; 4], &[0; 4]));
    let high = count(|| m.high_triangle(&mut [(); 5], &[0; 4], &[0; 4]));
    let below = count(|| m.high_triangle(&mut [(); 5], &[0; 4], &[0; 5]));
    assert_eq!((low.products, low.low, low.high), (6, 4, 0));
    assert_eq!((high.products, high.low, high.high), (10, 0, 3));
    assert_eq!((below.products, below.low, below.high), (10, 0, 4));
    let select = count(|| {
        let mut out = [0; 2 * WINDOWS];
        let mut out = out.chunks_mut(2);
        m.select_tile(std::array::from_fn(|_| out.next().expect("a window")), &[0; 24], 3, &[0; WINDOWS]);
    });
    let windows = WINDOWS as u64;
    assert_eq!((select.selects, select.comparisons, select.digit_loads), (16 * windows, 8 * windows, 16));
    let select = count(|| m.select_shared(&mut [0; 2], &[0; 24], 3, &[0]));
    assert_eq!((select.selects, select.comparisons, select.digit_loads, select.digit_stores), (16, 8, 16, 2));
}

/// The formulas at the heads of the kernels.
#[test]
fn counts_are_those_that_kernels_claim() {
    fn products(method: Method, operation: Operation, l: usize) -> u64 {
        let m = Count::<Right>::default();
        let mut before = so_far();
        operation.run(m, method, l, || before = so_far());
        let counts = so_far() - before;
        counts.products + counts.low
    }
    for l in 2..30 {
        let n = l as u64;
        // One more is the plain row's quotient.
        assert_eq!(products(Method::AMM, Operation::Amm, l), 2 * n * n + 1);
        assert_eq!(products(Method::AMM, Operation::Ams, l), n * (n + 1) / 2 + n * n + 1);
        assert_eq!(products(Method::AHMM, Operation::Entry, l), (n / 2 + 1) * n + 1);
        assert_eq!(products(Method::AHMM, Operation::ByEntry, l), n * n + n.div_ceil(2) * n + 1);
    }
    // Three halves of 8 digits for a whole of 16.
    assert_eq!(products(Method::KARATSUBA_SQUARES, Operation::Ams, 16), 3 * (8 * 9 / 2) + 16 * 16 + 1);
}

#[test]
fn exact_integers_see_a_wrong_digit() {
    let (a, b) = ([5, 7], [11, 13]);
    let before = [1i128, 2, 3, 4];
    let mut after = before;
    let ((), observed) = exact::observe(|| {
        Exact::<Portable>::default().mac_rows(&mut after, &a, &b);
    });
    assert_eq!((observed.blocks, observed.findings.len()), (1, 0));
    banner::mac_rows::<Portable>(&before, &after, &a, &b).expect("it is right");
    after[2] += 1;
    let problem = banner::mac_rows::<Portable>(&before, &after, &a, &b).expect_err("a column is off by one");
    assert_eq!(problem, format!("C + A·B is off by {:#x}", 1u128 << 104));
    assert!(banner::square::<Portable>(&before, &after, &a).is_err());
}

#[test]
fn exact_integers_see_a_wrong_reduction() {
    let m = Exact::<Portable>::default();
    let modulus = [0x000f_1234_5678_9abd, 0x000f_edcb_a987_6543];
    let mu = zariz_kernels::limbs::negative_inverse(modulus[0]) & ((1 << 52) - 1);
    let reduce = |modulus: &[u64; 2], mu: u64| {
        let mut c = [123i128, 456, 789, 0];
        let ((), observed) = exact::observe(|| m.reduce_rows(&mut c, &[1, 2], &mut [0], Some((modulus, mu))));
        observed.findings
    };
    assert_eq!(reduce(&modulus, mu), [""; 0]);
    assert_eq!(reduce(&modulus, mu ^ 2), ["reduce_rows: μ·M is not −1 modulo 2^w"]);
    // What comes out wrong of the carry chain is seen too.
    banner::normalize::<Portable>(&BigInt::from(5), &[5]).expect("it is right");
    assert!(banner::normalize::<Portable>(&BigInt::from(5), &[6]).is_err());
    assert!(banner::normalize::<Portable>(&BigInt::from(5), &[5 + (1 << 52)]).is_err());
    // And so is a column that a machine would misread.
    let ((), observed) = exact::observe(|| m.normalize(&mut [0], &[-1]));
    assert!(observed.findings[0].contains("not from 0 to 2^64"), "{:?}", observed.findings);
}

#[test]
fn exact_integers_see_wrong_halves_and_sums() {
    let m = Exact::<Portable>::default();
    let (a, b) = ([u64::MAX >> 12, 7], [11, u64::MAX >> 12]);
    let mut c = [1i128, 2, 3];
    let before = c;
    m.low_triangle(&mut c[..2], &a, &b);
    banner::low_triangle::<Portable>(&before[..2], &c[..2], &a, &b).expect("it is right");
    c[1] += 1;
    assert!(banner::low_triangle::<Portable>(&before[..2], &c[..2], &a, &b).is_err());

    let mut c = before;
    m.high_triangle(&mut c, &a, &b);
    banner::high_triangle::<Portable>(&before, &c, &a, &b).expect("it is right");
    c[0] -= 1;
    assert!(banner::high_triangle::<Portable>(&before, &c, &a, &b).is_err());

    let before = [10i128, 20, 30, 40, 50, 60, 70, 80];
    let (middle, extra, mut c) = ([1i128, 2, 3, 4], [5, 0, 0, u64::MAX], before);
    m.karatsuba(&mut c, &middle, &[0, 1], &extra, Part::Full);
    assert_eq!(c[2..6], [30 + 10 + 50 + 1 + 5, 40 + 20 + 60 + 2, 50 + 30 + 70 + 3, 60 + 40 + 80 + 4 - 1]);
    let right = |signs: &[i128]| banner::karatsuba(&before, &c, &middle, signs, &extra, Part::Full);
    right(&[0, 1]).expect("it is right");
    assert!(right(&[1, 1]).is_err(), "the sign is wrong");
}

#[test]
fn intervals_take_both_signs_unless_one_is_sure() {
    let m = Interval::<Right>::default();
    let column = Column { low: 3, width: 4 };
    let [never, always, either] =
        [(1, 0), (0, 0), (0, 1)].map(|(low, width)| m.equals(Column { low, width }, 0));
    assert_eq!(m.negate(never, column), column);
    assert_eq!(m.negate(always, column), Column { low: 7u64.wrapping_neg(), width: 4 });
    assert_eq!(m.negate(either, column), Column { low: 7u64.wrapping_neg(), width: 14 });
    assert_eq!(m.sub(column, column), Column { low: 4u64.wrapping_neg(), width: 8 });
}
