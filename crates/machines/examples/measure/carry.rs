//! Carry chains.

use std::hint::black_box;

use zariz_kernels::carry::{self, Constants, Context, DIGITS, SCRATCH};
use zariz_kernels::pow::{Power, pow};

use crate::arguments::Arguments;
use crate::stopwatch::{best, gigahertz, modulus, number};

/// Prints cycles of a product, of reading a table of 64 entries, and of a power.
pub fn measure(arguments: &Arguments) {
    const NAMES: [&str; 2] = ["avx512f", "portable"];
    let lengths = arguments.lengths(&[512, 1024, 2048, 4096]);
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) =
        zariz_machines::carry::Avx512::new().filter(|_| arguments.includes("avx512f", &NAMES))
    {
        table("avx512f", machine, &lengths);
    }
    if arguments.includes("portable", &NAMES) {
        table("portable", zariz_machines::carry::Portable::new(), &lengths);
    }
}

fn table<M: carry::Kernels>(name: &str, m: M, lengths: &[usize]) {
    for &bits in lengths {
        let (clock, constants) = (gigahertz(), Constants::new(&modulus(bits, 0)));
        let words = constants.words();
        let [a, mut b, mut out] = [7, 11, 13].map(|digit| vec![[digit; 16]; words]);
        let mut scratch = [[0; DIGITS]; SCRATCH];
        // Each depends on the one before, as in a power.
        let amm = best(|| {
            m.amm(&mut out, &mut scratch, &a, &b, constants.modulus());
            b.copy_from_slice(&out);
        });
        let entries = vec![[9; 16]; 64 * words];
        let select = best(|| carry::Kernels::select(m, &mut out, &entries, black_box(17)));
        let (base, exponent) = (number(bits, 1), number(bits, 2));
        let power = Power {
            modulus: &constants,
            base: &base,
            base_bits: bits,
            exponent: &exponent,
            exponent_bits: bits,
        };
        let power = best(|| drop(black_box(pow(&mut Context::new(m, &constants), &[power]))));
        println!(
            "{name:8} {bits:5} bits: amm {:9.0}  64 entries read {:7.0}  power {:12.0} cycles ({clock:.2} GHz)",
            amm * clock,
            select * clock,
            power * clock,
        );
    }
}
