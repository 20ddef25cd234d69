//! The machine code of `avx512-ifma` and of `avx-ifma` under emulation: every VPMADD52 of every entry point
//! must have run, and run rightly.
//!
//! On a processor with these instructions, they are made to trap here; see the crate `zariz-emulator`.
#![cfg(target_arch = "x86_64")]

mod common;

use common::{check_batch, check_method};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use zariz_emulator::{Form, Mode};
use zariz_kernels::batch::block::{
    FEWEST_IN_REGISTERS, FEWEST_TERMS, PREPARED_TERM, TERM, TERMS_SCRATCH, TWO_TERMS_COLUMNS,
    TWO_TERMS_DIGITS, TWO_TERMS_SCRATCH, fours, plain_rows, rows_at_a_time,
};
use zariz_kernels::batch::{Kernels, Method};
use zariz_machines::batch::{Avx512Ifma, AvxIfma};

const DIGIT: u64 = (1 << 52) - 1;

/// One test, so that no other is running while the instructions are overwritten, and none is counted among
/// the rest.
#[test]
fn every_multiplication_of_every_entry_point() {
    if is_emulated(Form::Evex, zariz_machines::has_avx512dq()) {
        let machine = Avx512Ifma::new().expect("the machine that is emulated");
        every_entry_point::<_, 8>(
            machine,
            |name| !name.contains("avx_ifma::"),
            |rng| {
                // Numbers laid across vectors: those with an entry point of their own, and those of tiles.
                for bits in [400, 600, 800, 1024, 1200, 1536, 2048, 2200] {
                    common::pair::check(machine, rng, bits, 2, bits, 6);
                    common::pair::check(machine, rng, 2 * bits, 1, 2 * bits, 6);
                }
            },
        );
    }
    if is_emulated(Form::Vex, zariz_machines::has_avx2()) {
        let machine = AvxIfma::new().expect("the machine that is emulated");
        every_entry_point::<_, 4>(machine, |name| name.contains("avx_ifma::"), |_| {});
    }
}

/// Whether a form is emulated; `vectors`: whether the processor has what it needs.
fn is_emulated(form: Form, vectors: bool) -> bool {
    match zariz_emulator::emulate().of(form) {
        Mode::Emulated => true,
        Mode::Native => unreachable!("emulation was requested"),
        Mode::Unavailable(reason) => {
            assert!(
                !vectors || !cfg!(target_os = "linux"),
                "no emulation, though the processor allows it: {reason}"
            );
            eprintln!("skipped: {reason}");
            false
        }
    }
}

/// The entry points of a machine of `L` lanes, whose names `is_its_own` knows; `others` runs those that are
/// not for batches.
fn every_entry_point<M: Kernels, const L: usize>(
    machine: M,
    is_its_own: fn(&str) -> bool,
    others: impl Fn(&mut StdRng),
) {
    let missed = || zariz_emulator::missed(|name| name.contains("zariz_machines::") && is_its_own(name));
    let mut all = zariz_emulator::coverage();
    all.retain(|function| function.name.contains("zariz_machines::") && is_its_own(&function.name));
    assert!(
        all.iter().any(|function| function.name.contains("::entry_points::")),
        "no entry points with VPMADD52 among {all:?}"
    );
    assert_eq!(missed().len(), all.len(), "some ran before they were called");

    // Whole exponentiations, of every digit count up to three tiles.
    let mut rng = StdRng::seed_from_u64(21);
    for digits in 2..=2 * M::MAX_TILE + 5 {
        let bits = M::DIGIT_BITS as usize * digits - 3;
        check_batch(machine, &mut rng, bits, M::LANES, bits, 6);
    }
    let unreached = missed();
    for function in &unreached {
        println!("no modulus leads to {} ({} VPMADD52)", function.name, function.instructions);
    }

    for &(_, method) in Method::NAMED {
        for digits in [4, 7, 16, 20, 26] {
            check_method(machine, &mut rng, method, M::DIGIT_BITS as usize * digits - 5, digits, 6);
        }
    }
    others(&mut rng);

    // Tiles so narrow that no modulus leads to them, and all the others again.
    blocks::<M, L>(machine, &mut rng);
    let missed = missed();
    assert!(
        missed.is_empty(),
        "VPMADD52 in these entry points never ran. Is there a kernel that `batch::Context` does not use, or a width that no modulus leads \
         to? Then call it in `blocks` of this file. {missed:#?}"
    );

    let statistics = zariz_emulator::statistics();
    assert!(statistics.traps > 0 && statistics.multiplications > statistics.traps, "{statistics:?}");
    println!("{} entry points, {statistics:?}", all.len());
}

/// A word for each lane.
type Words<const L: usize> = [u64; L];

fn words<const L: usize>(rng: &mut StdRng, count: usize, most: u64) -> Vec<Words<L>> {
    common::words(rng, count * L, most).as_chunks().0.to_vec()
}

/// Every block that multiplies, at every width, against the plain sums of its banner in
/// `zariz_kernels::batch::block`.
fn blocks<M: Kernels, const L: usize>(m: M, rng: &mut StdRng) {
    let digits =
        |words: &[Words<L>]| words.iter().map(|words| m.operand(m.column_from(words))).collect::<Vec<_>>();
    let columns = |words: &[Words<L>]| words.iter().map(|words| m.column_from(words)).collect::<Vec<_>>();
    let check = |what: &str, width: usize, found: &[_], expected: &[Words<L>]| {
        for (k, (&found, expected)) in found.iter().zip(expected).enumerate() {
            let mut words = [0; L];
            m.column_store(found, &mut words);
            assert_eq!(words, *expected, "{what}, width {width}, column {k}");
        }
    };

    for width in 1..=M::MAX_TILE {
        for rows in [1, 2, width] {
            let (a, b, c) =
                (words(rng, width, DIGIT), words(rng, rows, DIGIT), words(rng, width + rows, 1 << 60));
            let (mut found, mut expected) = (columns(&c), c);
            m.mac_rows(&mut found, &digits(&a), &digits(&b));
            multiply(&mut expected, &a, &b);
            check("mac_rows", width, &found, &expected);
        }
        let at_a_time = rows_at_a_time::<M>();
        let sizes = [(1, true), (2, false), (3, true), (width, false), (width, true), (width + 1, true)];
        // Friendly rows come in pairs, or one by one.
        for (rows, plain) in sizes.into_iter().filter(|(rows, plain)| *plain || rows % at_a_time == 0) {
            let above = if plain { 1 } else { at_a_time };
            let (friendly, c) = (words(rng, width, DIGIT), words(rng, width + rows + above, 1 << 60));
            let (modulus, mu) = (words(rng, width, DIGIT), words(rng, 1, DIGIT));
            let (mut found, mut expected) = (columns(&c), c);
            let mut quotients = vec![m.digit_zero(); rows];
            let (modulus_digits, mu_digits) = (digits(&modulus), digits(&mu));
            let last = plain.then_some((&modulus_digits[..], mu_digits[0]));
            m.reduce_rows(&mut found, &digits(&friendly), &mut quotients, last);
            let last = plain.then_some((&modulus[..], mu[0]));
            let friendly_rows = rows - if plain { plain_rows::<M>(rows) } else { 0 };
            let expected_quotients = reduce(&mut expected, (&friendly, friendly_rows, at_a_time), rows, last);
            let quotients: Vec<_> = quotients.into_iter().map(|q| m.column(q)).collect();
            check("quotients of reduce_rows", width, &quotients, &expected_quotients);
            check("reduce_rows", width, &found[rows..], &expected[rows..]);
        }
    }
    // It does not multiply, and is here because it has entry points.
    for width in 1..=M::MAX_TILE {
        let (entries, stride) = (9, width + 3);
        let table: Vec<u64> = (0..entries * stride).map(|_| rng.random_range(0..=DIGIT)).collect();
        let index: Vec<u64> = (0..L as u64).map(|lane| lane * 3 % (entries as u64 + 1)).collect();
        let mut found = vec![m.digit_zero(); width];
        m.select_shared(&mut found, &table, stride, &index);
        let entry =
            |lane: usize, j: usize| table.get(index[lane] as usize * stride + j).copied().unwrap_or(0);
        let expected: Vec<Words<L>> =
            (0..width).map(|j| std::array::from_fn(|lane| entry(lane, j))).collect();
        let found: Vec<_> = found.into_iter().map(|digit| m.column(digit)).collect();
        check("select_shared", width, &found, &expected);
    }
    // This does not multiply either.
    common::lookup::check(m, rng);
    for width in 1..=M::MAX_SQUARE {
        let a = words(rng, width, DIGIT);
        let (mut found, mut expected) = (columns(&vec![[7; L]; 2 * width]), vec![[0; L]; 2 * width]);
        m.square(&mut found, &digits(&a), &vec![0; 2 * width]);
        multiply(&mut expected, &a, &a);
        check("square", width, &found, &expected);
    }
    for width in 1..=M::MAX_TILE {
        let (x, factor) = (words(rng, width, DIGIT), words(rng, 1, DIGIT));
        let (mut found, mut expected) = (digits(&x), vec![[0; L]; width + 1]);
        m.scale(&mut found, &factor[0], &vec![0; width + 1]);
        multiply(&mut expected, &x, &factor);
        let found: Vec<_> = found.into_iter().map(|digit| m.column(digit)).collect();
        check("scale", width, &found, &normalized(&expected)[..width]);
    }
    for width in FEWEST_IN_REGISTERS..=M::MAX_IN_REGISTERS {
        let (x, y) = (words(rng, width, DIGIT), words(rng, width, DIGIT));
        // The upper half of the modulus's highest digit is free, as numbers need.
        let mut modulus = words(rng, width, DIGIT);
        modulus[0].iter_mut().for_each(|word| *word |= 1);
        modulus[width - 1].iter_mut().for_each(|word| *word >>= 26);
        let prepared: Vec<Words<L>> = prepare(&modulus);
        let mut found = digits(&x);
        m.amm_registers(&mut found, &digits(&y), &digits(&prepared));
        let found: Vec<_> = found.into_iter().map(|digit| m.column(digit)).collect();
        check("amm_registers", width, &found, &whole(&x, &y, &modulus, &steps(width, 0)));
        let (mut found, mut expected) = (digits(&x), x);
        let fours = if M::FOUR_ROWS { fours(width) } else { 0 };
        m.ams_registers(&mut found, 3, &digits(&prepared), &mut columns(&vec![[7; L]; 2 * width + 2]));
        (0..3).for_each(|_| expected = whole(&expected, &expected, &modulus, &steps(width, fours)));
        let found: Vec<_> = found.into_iter().map(|digit| m.column(digit)).collect();
        check("ams_registers", width, &found, &expected);
    }
    // So often that the two differences of each product borrow in all four ways.
    let mut borrows = [[[false; 2]; 2]; 4];
    for _ in 0..if M::MAX_TWO_TERMS > 0 { 16 } else { 0 } {
        let width = TWO_TERMS_DIGITS;
        let mut number = |free| shortened(rng, width, free);
        // X·Y/R + 2M < R.
        let (x, y, mut modulus) = (number(2), number(2), number(3));
        modulus[0].iter_mut().for_each(|word| *word |= 1);
        let parts = prepare_modulus(&modulus);
        let prepared = digits(&parts.concat());
        let mut c = columns(&[[7; L]; TWO_TERMS_COLUMNS]);
        let mut scratch = digits(&[[7; L]; TWO_TERMS_SCRATCH]);
        let (mut found, mut expected) = (digits(&x), x);
        let y_digits = digits(&y);
        for (times, factor) in [(0, true), (3, false), (2, true)] {
            let y_digits = if factor { &y_digits[..] } else { &[] };
            m.karatsuba_two_terms(&mut found, times, y_digits, &prepared, &mut c, &mut scratch);
            for step in 0..times + usize::from(factor) {
                let is_square = step < times;
                let y = if is_square { &expected } else { &y };
                for lane in 0..L {
                    let seen =
                        split_borrows([&expected, y, &modulus].map(|words| crate::number(words, lane)));
                    let products = borrows.iter_mut().zip(seen).skip(usize::from(is_square));
                    products.for_each(|(borrows, [s, t])| borrows[usize::from(s)][usize::from(t)] = true);
                }
                expected = whole(&expected, y, &modulus, &[TERM]);
            }
            let words: Vec<_> = found.iter().map(|&digit| m.column(digit)).collect();
            check("karatsuba_two_terms", width, &words, &expected);
        }
    }
    assert!(M::MAX_TWO_TERMS == 0 || borrows == [[[true; 2]; 2]; 4], "{borrows:?}");
    // So often that the first difference of terms of each factor borrows in some lanes, and not in others,
    // and those of the halves of each multiple's first term.
    let mut borrows = [[false; 2]; 4];
    for terms in (FEWEST_TERMS..=M::MAX_TERMS).flat_map(|terms| [terms; 3]) {
        let width = TERM * terms;
        let mut number = |free| shortened(rng, width, free);
        // X·Y/R + 2M < R.
        let (x, y, mut modulus) = (number(2), number(2), number(3));
        modulus[0].iter_mut().for_each(|word| *word |= 1);
        let parts = prepare_modulus(&modulus);
        (0..L).for_each(|lane| {
            let smaller = |a, b| usize::from(crate::number(a, lane) < crate::number(b, lane));
            let seen = [
                smaller(&x[..TERM], &x[TERM..2 * TERM]),
                smaller(&y[TERM..2 * TERM], &y[..TERM]),
                parts[0][PREPARED_TERM - 1][lane] as usize,
                parts[1][PREPARED_TERM - 1][lane] as usize,
            ];
            borrows.iter_mut().zip(seen).for_each(|(borrows, seen)| borrows[seen] = true);
        });
        let prepared = digits(&parts.concat());
        let mut c = columns(&vec![[7; L]; 2 * width]);
        let mut scratch = digits(&[[7; L]; TERMS_SCRATCH]);
        let (mut found, mut expected) = (digits(&x), x);
        let steps = vec![TERM; terms - 1];
        m.karatsuba_terms_multiply(&mut c, &found, &digits(&y), &mut scratch);
        m.karatsuba_terms_reduce(&mut found, &mut c, &prepared, &mut scratch);
        expected = whole(&expected, &y, &modulus, &steps);
        let words: Vec<_> = found.iter().map(|&digit| m.column(digit)).collect();
        check("karatsuba_terms_multiply", width, &words, &expected);
        for _ in 0..3 {
            m.karatsuba_terms_square(&mut c, &found, &mut scratch);
            m.karatsuba_terms_reduce(&mut found, &mut c, &prepared, &mut scratch);
            expected = whole(&expected, &expected, &modulus, &steps);
            let words: Vec<_> = found.iter().map(|&digit| m.column(digit)).collect();
            check("karatsuba_terms_square", width, &words, &expected);
        }
    }
    assert!(M::MAX_TERMS == 0 || borrows == [[true; 2]; 4], "{borrows:?}");
    for width in 1..=M::MAX_TRIANGLE {
        #[cfg(feature = "papers")]
        {
            let (a, b, c) =
                (words(rng, width, DIGIT), words(rng, width + 1, DIGIT), words(rng, 2 * width + 1, 1 << 60));
            let (mut found, mut whole) = (columns(&c), c.clone());
            m.low_triangle(&mut found, &digits(&a), &digits(&b[..width]));
            multiply(&mut whole, &a, &b[..width]);
            check("low_triangle", width, &found[..width], &whole[..width]);
            // From the guard's column up: T − 1, or T with the row below the triangle, of which only the last
            // high half gets there.
            for rows in [&b[..width], &b[..]] {
                let guard = rows.len() - 1;
                let (mut found, mut whole) = (columns(&c[guard..]), c.clone());
                m.high_triangle(&mut found, &digits(&a), &digits(rows));
                multiply(&mut whole, &a, rows);
                check("high_triangle", width, &found, &whole[guard..]);
            }
        }
        let (a, c) = (words(rng, width, DIGIT), words(rng, 2 * width, 1 << 58));
        let mut found = columns(&c);
        let mut expected: Vec<Words<L>> = c.iter().map(|words| words.map(|word| 2 * word)).collect();
        m.square_onto(&mut found, &digits(&a));
        multiply(&mut expected, &a, &a);
        check("square_onto", width, &found, &expected);
    }
}

/// `c += a·b`, as columns.
fn multiply<const L: usize>(c: &mut [Words<L>], a: &[Words<L>], b: &[Words<L>]) {
    for (i, b) in b.iter().enumerate() {
        for (j, a) in a.iter().enumerate() {
            for lane in 0..L {
                let product = u128::from(a[lane]) * u128::from(b[lane]);
                c[i + j][lane] += product as u64 & DIGIT;
                c[i + j + 1][lane] += (product >> 52) as u64;
            }
        }
    }
}

/// Friendly rows, some at a time, and the plain ones if there is a `last`; the quotients.
fn reduce<const L: usize>(
    c: &mut [Words<L>],
    (friendly, friendly_rows, at_a_time): (&[Words<L>], usize, usize),
    rows: usize,
    last: Option<(&[Words<L>], Words<L>)>,
) -> Vec<Words<L>> {
    let carry = |c: &mut [Words<L>], i: usize| (0..L).for_each(|lane| c[i + 1][lane] += c[i][lane] >> 52);
    let mut quotients = Vec::new();
    for i in 0..friendly_rows {
        let q = c[i].map(|word| word & DIGIT);
        carry(c, i);
        multiply(&mut c[i + at_a_time..], friendly, &[q]);
        quotients.push(q);
    }
    if let Some((modulus, mu)) = last {
        for i in friendly_rows..rows {
            let q = std::array::from_fn(|lane| {
                (u128::from(c[i][lane] & DIGIT) * u128::from(mu[lane])) as u64 & DIGIT
            });
            multiply(&mut c[i..], modulus, &[q]);
            carry(c, i);
            quotients.push(q);
        }
    }
    quotients
}

/// Columns to digits.
fn normalized<const L: usize>(columns: &[Words<L>]) -> Vec<Words<L>> {
    let mut carry = [0; L];
    let digit = |column: &Words<L>| {
        let sum: Words<L> = std::array::from_fn(|lane| column[lane] + carry[lane]);
        carry = sum.map(|word| word >> 52);
        sum.map(|word| word & DIGIT)
    };
    columns.iter().map(digit).collect()
}

/// Numbers of `count` digits, with so many bits free in the highest.
fn shortened<const L: usize>(rng: &mut StdRng, count: usize, free: u32) -> Vec<Words<L>> {
    let mut number = words(rng, count, DIGIT);
    number[count - 1].iter_mut().for_each(|word| *word >>= free);
    number
}

/// A lane's number.
fn number<const L: usize>(words: &[Words<L>], lane: usize) -> BigUint {
    words.iter().rev().fold(BigUint::ZERO, |number, words| (number << 52) + words[lane])
}

/// `−M^{−1}` modulo so many digits.
fn negative_inverse(modulus: &BigUint, digits: usize) -> BigUint {
    let power = BigUint::from(1u32) << (52 * digits);
    &power - modulus.modinv(&power).expect("odd moduli")
}

/// `M''` of so many rows at a time.
fn friendly(modulus: &BigUint, rows: usize) -> BigUint {
    (negative_inverse(modulus, rows) * modulus + 1u32) >> (52 * rows)
}

/// What `amm_registers` needs of moduli: `M''` of four rows and of two, `M` and `μ`.
fn prepare<const L: usize>(modulus: &[Words<L>]) -> Vec<Words<L>> {
    let t = modulus.len();
    let mut out = vec![[0; L]; 3 * t + 1];
    out[2 * t..3 * t].copy_from_slice(modulus);
    for lane in 0..L {
        let number = number(modulus, lane);
        for (out, rows) in out.chunks_mut(t).zip([4, 2]) {
            let friendly = friendly(&number, rows);
            out.iter_mut().enumerate().for_each(|(k, words)| words[lane] = digit(&friendly, k));
        }
        out[3 * t][lane] = digit(&negative_inverse(&number, 1), 0);
    }
    out
}

/// Numbers of `count` digits, one for each lane.
fn by_lane<const L: usize>(count: usize, number: impl Fn(usize) -> BigUint) -> Vec<Words<L>> {
    let mut out = vec![[0; L]; count];
    (0..L).for_each(|lane| {
        let number = number(lane);
        out.iter_mut().enumerate().for_each(|(k, words)| words[lane] = digit(&number, k));
    });
    out
}

/// The terms of a multiple of each modulus: their digits, the difference of their halves, and whether it
/// borrows.
fn prepare_terms<const L: usize>(
    modulus: &[Words<L>],
    multiple: impl Fn(&BigUint) -> BigUint,
) -> Vec<Words<L>> {
    let (bits, half) = (52 * TERM, 52 * TERM / 2);
    let radix = BigUint::from(1u32) << half;
    let term = |lane: usize, i: usize| {
        (multiple(&number(modulus, lane)) >> (bits * i)) % (BigUint::from(1u32) << bits)
    };
    let prepared = |term: BigUint| {
        let (low, high) = (&term % &radix, &term >> half);
        let (difference, borrows) = ((&radix + &high - &low) % &radix, u32::from(high < low));
        ((BigUint::from(borrows) << half | difference) << bits) | term
    };
    let terms = (0..modulus.len() / TERM).map(|i| by_lane(PREPARED_TERM, |lane| prepared(term(lane, i))));
    terms.collect::<Vec<_>>().concat()
}

/// Precomputed constants of a modulus in terms: those of `M''`, those of `M`, and `μ`.
fn prepare_modulus<const L: usize>(modulus: &[Words<L>]) -> [Vec<Words<L>>; 3] {
    [
        prepare_terms(modulus, |modulus| friendly(modulus, TERM)),
        prepare_terms(modulus, BigUint::clone),
        by_lane(TERM, |lane| negative_inverse(&number(modulus, lane), TERM)),
    ]
}

/// Which differences borrow in a product `x·y` of two terms and its reduction: those of the factors' halves;
/// then those of the halves of a quotient and of a term, for both terms of `M''`, and for the upper term of
/// `M`.
fn split_borrows([x, y, modulus]: [BigUint; 3]) -> [[bool; 2]; 4] {
    let halves = |number: &BigUint, digits: usize| {
        let radix = BigUint::from(1u32) << (52 * digits);
        (number % &radix, number / radix)
    };
    // Of the first factor, the lower half less the upper one; of the other, the other way round.
    let borrows = |a: &BigUint, b: &BigUint, digits: usize| {
        let ((a0, a1), (b0, b1)) = (halves(a, digits), halves(b, digits));
        [a0 < a1, b1 < b0]
    };
    let multiple = friendly(&modulus, TERM);
    let (first, above) = halves(&(&x * &y), TERM);
    let (rest, _) = halves(&(above + &first * &multiple), TERM);
    let (last, _) = halves(&(rest * negative_inverse(&modulus, TERM)), TERM);
    let (lower, upper) = halves(&multiple, TERM);
    [
        borrows(&x, &y, TERM),
        borrows(&first, &lower, TERM / 2),
        borrows(&first, &upper, TERM / 2),
        borrows(&last, &halves(&modulus, TERM).1, TERM / 2),
    ]
}

/// In each of the steps so many digits at a time, `T ← ⌊T/2^{kw}⌋ + q·M''`; the digits left by the modulus
/// itself.
fn whole<const L: usize>(
    x: &[Words<L>],
    y: &[Words<L>],
    modulus: &[Words<L>],
    steps: &[usize],
) -> Vec<Words<L>> {
    let (t, prepared) = (x.len(), prepare(modulus));
    let mut out = vec![[0; L]; t];
    for lane in 0..L {
        let modulus = number(modulus, lane);
        let mut value = number(x, lane) * number(y, lane);
        for &rows in steps {
            let low = &value % (BigUint::from(1u32) << (52 * rows));
            value = (value >> (52 * rows)) + low * friendly(&modulus, rows);
        }
        for _ in steps.iter().sum::<usize>()..t {
            let q = u128::from(digit(&value, 0)) * u128::from(prepared[3 * t][lane]) % (1 << 52);
            value = (value + q * &modulus) >> 52;
        }
        out.iter_mut().enumerate().for_each(|(k, words)| words[lane] = digit(&value, k));
    }
    out
}

/// The steps of numbers in registers: some of four digits, then pairs; the last two digits, or three, are
/// left.
fn steps(width: usize, fours: usize) -> Vec<usize> {
    [vec![4; fours], vec![2; (width - 2) / 2 - 2 * fours]].concat()
}

/// Digit `k` of a number.
fn digit(number: &BigUint, k: usize) -> u64 {
    ((number >> (52 * k)) % (1u64 << 52)).try_into().expect("a digit")
}
