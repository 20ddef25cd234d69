//! Every machine against a big-integer library.

#[macro_use]
mod common;

use common::{check_batch, slow};
use rand::{SeedableRng, rngs::StdRng};
use zariz_kernels::batch;

// Where the processor lacks AVX-IFMA or AVX512-IFMA, their machine code runs all the same.
zariz_emulator::install_before_main!();

#[test]
fn every_small_length() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(1);
        for bits in 2..=230 {
            check_batch(m, &mut rng, bits, M::LANES, bits + 7, 1 + bits / 3);
        }
    }
    on_every_machine!(check);
}

#[test]
fn rows_are_their_products() {
    fn check<M: batch::Kernels>(m: M) {
        common::row::check(m, &mut StdRng::seed_from_u64(5), if slow::<M>() { 20 } else { 2000 });
    }
    on_every_machine!(check);
}

#[test]
fn tables_read_by_lookups() {
    fn check<M: batch::Kernels>(m: M) {
        common::lookup::check(m, &mut StdRng::seed_from_u64(4));
    }
    on_every_machine!(check);
}

#[test]
fn around_digit_and_tile_boundaries() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(2);
        let w = M::DIGIT_BITS as usize;
        for digits in [5, 8, 9, 10, 11, 18, 19, 20, 21, 22, 40, 41, 61, 80] {
            if slow::<M>() && digits > 41 {
                continue;
            }
            for extra in [-4i32, -3, -2, 0, 1] {
                let bits = (w * digits).saturating_add_signed(extra as isize);
                check_batch(m, &mut rng, bits, M::LANES, bits, 20);
            }
        }
    }
    on_every_machine!(check);
}

#[test]
fn long_bases_and_exponents() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(3);
        for bits in [2, 3, 64, 100, 512, 1023, 1024] {
            for (base_bits, exponent_bits) in
                [(1, 1), (5 * bits + 1, 0), (2 * bits, bits), (4096, 700), (64, 1200)]
            {
                if slow::<M>() && bits * exponent_bits > 100_000 {
                    continue;
                }
                check_batch(m, &mut rng, bits, M::LANES, base_bits, exponent_bits);
            }
        }
    }
    on_every_machine!(check);
}

#[test]
fn fewer_jobs_than_lanes() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(4);
        for lanes in 1..=M::LANES {
            check_batch(m, &mut rng, 300, lanes, 600, 90);
        }
    }
    on_every_machine!(check);
}

#[test]
fn large_moduli() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(5);
        for bits in [1536, 2048, 3072, 4096, 8192, 16_384] {
            if slow::<M>() && bits > 4096 {
                continue;
            }
            check_batch(m, &mut rng, bits, M::LANES, bits, 12);
        }
    }
    on_every_machine!(check);
}

/// Powers of two need no table: windows are shifts. The fewer bits are free above the modulus, the narrower
/// is the window: every width of it, down to none.
#[test]
fn bits_free_above_the_modulus() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(6);
        let w = M::DIGIT_BITS as usize;
        for digits in [2, 5, 10, 20, 21] {
            for free in [3, 5, 6, 9, 10, 17, 18, 33, 34, 40] {
                check_batch(m, &mut rng, w * digits - free, M::LANES, 90, 90);
            }
        }
    }
    on_every_machine!(check);
}
