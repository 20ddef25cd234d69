//! Products and squares of batches.

use std::hint::black_box;

use zariz_kernels::Montgomery;
use zariz_kernels::batch::{self, Constants};

use crate::arguments::{Arguments, on_machines};
use crate::stopwatch::{best, gigahertz, modulus, number};

/// Prints nanoseconds of a product, a square and the preparation of a modulus, and the share of the port
/// limit.
pub fn measure(arguments: &Arguments) {
    on_machines!(arguments, table(&arguments.lengths(&[1024, 1536, 2048])));
}

fn table<M: batch::Kernels>(name: &str, m: M, cycles: f64, lengths: &[usize]) {
    for &bits in lengths {
        let (clock, l, modulus) = (gigahertz(), Constants::digits_for(bits, M::DIGIT_BITS), modulus(bits, 0));
        let constants = Constants::new(&modulus, M::DIGIT_BITS, l);
        let mut mont = batch::Context::new(m, &[&constants]);
        let mut x = mont.enter(&[&number(bits, 1)], bits);
        let y = x.clone();
        let amm = best(|| mont.amm(black_box(&mut x), black_box(&y)));
        let ams = best(|| mont.ams(black_box(&mut x), 1));
        let setup = best(|| drop(black_box(Constants::new(black_box(&modulus), M::DIGIT_BITS, l))));
        let share = |products: usize, ns: f64| 100.0 * products as f64 * cycles / clock / ns;
        println!(
            "{name:11} {bits:5} bits, {l:3} digits: amm {amm:9.0} ns {:4.0} %   ams {ams:9.0} ns {:4.0} %   \
             setup {setup:9.0} ns ({clock:.2} GHz)",
            share(2 * l * l, amm),
            share(l * l + l * (l + 1) / 2, ams),
        );
    }
}
