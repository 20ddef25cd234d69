//! Numbers laid across vectors, one or two side by side, against a big-integer library.

mod common;

use common::pair::check;
use common::{big, limbs_of, modulus, odd, slow};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use zariz_kernels::Montgomery as _;
use zariz_kernels::pair::{Constants, Context, Kernels, Shape};

zariz_emulator::install_before_main!();

macro_rules! on_every_machine {
    ($check:ident) => {{
        $check(zariz_machines::batch::Portable::<8>::new());
        #[cfg(target_arch = "x86_64")]
        match zariz_machines::batch::Avx512Ifma::new() {
            Some(m) => $check(m),
            None => eprintln!("skipped on avx512-ifma: the processor lacks it"),
        }
        #[cfg(target_arch = "x86_64")]
        match zariz_machines::batch::Avx512Fma::new() {
            Some(m) => $check(m),
            None => eprintln!("skipped on avx512-fma: the processor lacks AVX-512F or DQ"),
        }
    }};
}

#[test]
fn every_length_a_little() {
    fn run<M: Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(41);
        let step = if slow::<M>() { 211 } else { 13 };
        for bits in (2..2300)
            .step_by(step)
            .chain([1021, 1024, 1033, 1034, 1241, 1242, 1657, 1658, 2069, 2070, 2073, 2074])
        {
            for count in [1, 2] {
                let exponent_bits = rng.random_range(0..40);
                check(m, &mut rng, bits, count, bits, exponent_bits);
            }
        }
        for bits in [3072, 4096, 8192, Constants::MAX_BITS] {
            check(m, &mut rng, bits, 1, bits, 5);
        }
    }
    on_every_machine!(run);
}

#[test]
fn many_numbers_of_the_tuned_lengths() {
    fn run<M: Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(42);
        for bits in [1024, 1536, 2048] {
            for _ in 0..if slow::<M>() { 1 } else { 300 } {
                check(m, &mut rng, bits, 2, 2 * bits, 60);
            }
        }
    }
    on_every_machine!(run);
}

#[test]
fn long_exponents() {
    fn run<M: Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(43);
        for bits in [512, 1024, 1536, 2048] {
            check(m, &mut rng, bits, 2, 2 * bits, if slow::<M>() { 30 } else { bits });
        }
    }
    on_every_machine!(run);
}

/// Multiplications of the largest numbers that are allowed, `4M − 1`, and other edges, for moduli that drive
/// carries far.
#[test]
fn the_bounds_are_reached() {
    fn run<M: Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(44);
        let one = BigUint::from(1u32);
        for bits in [2, 51, 104, 409, 410, 1024, 1033, 1100, 1536, 2048, 2073, 2100, 3000, 4096, 4150] {
            let all = (&one << bits) - &one;
            let sparse = (&one << (bits - 1)) + &one;
            for modulus in [all, sparse, modulus(&mut rng, bits)] {
                let most = &modulus * 4u32 - &one;
                for count in [1, 2] {
                    let constants = Constants::new(&odd(&modulus), bits, count);
                    let r = &one << Shape::new(bits, count).bits();
                    for (x, y) in [(&most, &most), (&most, &one), (&modulus, &most), (&BigUint::ZERO, &most)]
                    {
                        let mut numbers = Context::new(m, &vec![&constants; count]);
                        let (x_limbs, y_limbs) = (limbs_of(x, 1), limbs_of(y, 1));
                        let mut z = numbers.plain(&[&x_limbs[..], &y_limbs][..count]);
                        let factor = numbers.plain(&[&y_limbs[..], &x_limbs][..count]);
                        numbers.amm(&mut z, &factor);
                        numbers.ams(&mut z, 3);
                        let found = numbers.leave(z, count);
                        let inverse = r.modinv(&modulus).expect("an odd modulus");
                        let mut expected = x * y * &inverse % &modulus;
                        for _ in 0..3 {
                            expected = &expected * &expected * &inverse % &modulus;
                        }
                        expected = expected * &inverse % &modulus;
                        for found in found.iter() {
                            assert_eq!(
                                big(found),
                                expected,
                                "{bits} bits, {count} side by side: {modulus:x}"
                            );
                        }
                    }
                }
            }
        }
    }
    on_every_machine!(run);
}
