//! Two numbers at once, one across vectors and one in limbs: word for word what the two arithmetics compute by
//! themselves, and against a big-integer library.
#![cfg(target_arch = "x86_64")]

use num_bigint::BigUint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::rsaz::{self, Beside, Workspace};
use zariz_kernels::{Montgomery, mixed, scalar};
use zariz_machines::mixed::RsazAdx;

mod common;
use common::{big, check_reduced, limbs_of, modulus, number, odd, words};

fn machine() -> Option<RsazAdx> {
    let machine = RsazAdx::new();
    if machine.is_none() {
        eprintln!("skipped: the processor lacks AVX2, BMI2 or ADX");
    }
    machine
}

/// Lengths of all kinds: with code of their own, and on either side of radices, digits and limbs.
const LENGTHS: [usize; 16] =
    [2, 63, 64, 65, 511, 512, 513, 960, 1023, 1024, 1041, 1042, 1536, 1537, 2047, mixed::MAX_BITS];

#[test]
fn products_and_squares_are_those_of_both_arithmetics() {
    let Some(machine) = machine() else { return };
    let mut rng = StdRng::seed_from_u64(81);
    for bits in LENGTHS {
        for round in 0..30 {
            let moduli = [(); 2].map(|()| odd(&modulus(&mut rng, bits)));
            let (vectors, limbs) = (rsaz::constants(&moduli[0]), scalar::Constants::new(&moduli[1], 8));
            let mut both = mixed::Context::new(machine, &vectors, &limbs);
            let mut first = rsaz::Context::new(mixed::Kernels::vectors(machine), &vectors);
            let mut second = scalar::Context::new(mixed::Kernels::limbs(machine), &limbs);
            let cut = first.words();
            // Any limbs, and any number below 2^bits across vectors.
            let mut any = || {
                let mut out = both.zeros(both.words());
                let below = number(&mut rng, bits);
                out[..cut].copy_from_slice(&first.plain(&[&limbs_of(&below, 1)]));
                let length = second.words();
                out[cut..].copy_from_slice(&words(&mut rng, length, u64::MAX));
                out
            };
            let (mut x, y) = (any(), any());
            let (mut of_first, mut of_second) = (x[..cut].to_vec(), x[cut..].to_vec());
            let times = round % 4;
            both.ams(&mut x, times);
            both.amm(&mut x, &y);
            both.amm(&mut x, &y);
            both.ams(&mut x, 1);
            first.ams(&mut of_first, times);
            second.ams(&mut of_second, times);
            for _ in 0..2 {
                first.amm(&mut of_first, &y[..cut]);
                second.amm(&mut of_second, &y[cut..]);
            }
            first.ams(&mut of_first, 1);
            second.ams(&mut of_second, 1);
            assert_eq!(x[..cut], of_first, "{bits} bits, modulo {:x?}", moduli[0].limbs());
            assert_eq!(x[cut..], of_second, "{bits} bits, modulo {:x?}", moduli[1].limbs());
        }
    }
}

#[test]
fn powers_of_one_number_and_of_two() {
    let Some(machine) = machine() else { return };
    let mut rng = StdRng::seed_from_u64(82);
    for bits in LENGTHS {
        for count in [1, 2, 2, 2] {
            let moduli = [(); 2].map(|()| modulus(&mut rng, bits));
            let prepared = moduli.each_ref().map(odd);
            let (vectors, limbs) = (rsaz::constants(&prepared[0]), scalar::Constants::new(&prepared[1], 8));
            let mont = || mixed::Context::new(machine, &vectors, &limbs);
            let numbers: Vec<_> = moduli
                .iter()
                .map(|modulus| match rng.random_range(0..5) {
                    0 => (BigUint::ZERO, number(&mut rng, 50)),
                    1 => (modulus - 1u32, number(&mut rng, 50)),
                    2 => (number(&mut rng, bits), BigUint::ZERO),
                    _ => (number(&mut rng, 2 * bits), number(&mut rng, 50)),
                })
                .collect();
            let given: Vec<_> = numbers.iter().map(|(base, e)| (limbs_of(base, 1), limbs_of(e, 1))).collect();
            let powers: Vec<Power<()>> = given[..count]
                .iter()
                .map(|(base, exponent)| Power {
                    modulus: &(),
                    base,
                    base_bits: 2 * bits,
                    exponent,
                    exponent_bits: 50,
                })
                .collect();
            for results in [pow::pow(&mut mont(), &powers), pow::pow_vartime(&mut mont(), &powers)] {
                assert_eq!(results.len(), count);
                for (result, ((base, exponent), modulus)) in results.iter().zip(numbers.iter().zip(&moduli)) {
                    assert_eq!(
                        big(result),
                        base.modpow(exponent, modulus),
                        "{base:x}^{exponent:x} mod {modulus:x}"
                    );
                }
            }
            check_reduced(mont, &powers, &moduli[..count]);
        }
    }
}

/// Steps are spread over as many places as the loops have.
#[test]
fn loops_call_as_many_steps_as_they_say() {
    #[derive(Default)]
    struct Count(usize);
    impl Beside for Count {
        fn begin(&mut self) {}
        fn step(&mut self) {
            self.0 += 1;
        }
        fn end(&mut self) {}
    }
    let w = zariz_machines::rsaz::Portable::new();
    for g in 1..=25 {
        let digits = vec![1; 4 * g];
        let mut space = Workspace::new(w, 28, &digits, 1, &digits, rsaz::Quotients::Friendly);
        let (mut x, y) = (vec![1; 4 * g], vec![1; 4 * g]);
        let (mut products, mut squares) = (Count::default(), Count::default());
        rsaz::multiply::<_, 28, true, 0>(w, &mut space, &mut x, &y, &mut products);
        rsaz::square::<_, 28, true, 0>(w, &mut space, &mut x, 2, &mut squares);
        assert_eq!(products.0, rsaz::steps_of_multiply(g), "{g}");
        assert_eq!(squares.0, 2 * rsaz::steps_of_square(g), "{g}");
    }
}
