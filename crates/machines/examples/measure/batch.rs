//! Products and squares of batches, and single blocks.

use std::hint::black_box;

use zariz_kernels::Montgomery;
use zariz_kernels::batch::{self, Constants};
use zariz_machines::batch::Find;
use zariz_machines::on_each_machine;

use crate::arguments::Arguments;
use crate::stopwatch::{best, gigahertz, modulus, number};

/// Prints nanoseconds of a product, a square and the preparation of a modulus, and the share of the port
/// limit.
pub fn measure(arguments: &Arguments) {
    on_each_machine!(table(arguments));
}

fn table<M: Find>(arguments: &Arguments) {
    let Some(m) = arguments.machine::<M>() else { return };
    let (name, cycles) = (M::NAME, f64::from(M::PRODUCT_TENTHS) / 10.0);
    for bits in arguments.lengths(&[1024, 1536, 2048]) {
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

/// Prints nanoseconds of blocks at some tile widths, and the share of the port limit.
pub fn measure_blocks(arguments: &Arguments) {
    on_each_machine!(blocks(arguments));
}

fn blocks<M: Find>(arguments: &Arguments) {
    let Some(m) = arguments.machine::<M>() else { return };
    let (name, cycles) = (M::NAME, f64::from(M::PRODUCT_TENTHS) / 10.0);
    for t in [5, 7, 10, 15, 20].into_iter().filter(|&t| t <= M::MAX_TILE) {
        let clock = gigahertz();
        let a = vec![m.digit_zero(); t];
        let (mut q, mut out) = (a.clone(), a.clone());
        let mut c = vec![m.column_splat(0); 4 * t + 4];
        let (start, last) = (vec![0; 2 * t], Some((&a[..], m.digit_zero())));
        let share = |what: &str, products: usize, ns: f64| {
            print!("  {what} {ns:6.1} ns {:3.0} %", 100.0 * products as f64 * cycles / clock / ns);
        };
        print!("{name:11} {t:2} digits");
        share("mac_rows", t * t, best(|| m.mac_rows(black_box(&mut c), black_box(&a), black_box(&a))));
        let mut reduce =
            |last| best(|| m.reduce_rows(black_box(&mut c), black_box(&a), black_box(&mut q), last));
        share("reduce_rows", t * t, reduce(None));
        share("with the last", t * t, reduce(last));
        if t <= M::MAX_SQUARE {
            let square = best(|| m.square(black_box(&mut c), black_box(&a), black_box(&start)));
            share("square", t * (t + 1) / 2, square);
        }
        if t <= M::MAX_TRIANGLE {
            let square = best(|| m.square_onto(black_box(&mut c), black_box(&a)));
            share("square_onto", t * (t + 1) / 2, square);
        }
        print!("  splat {:.1} ns", best(|| m.splat(black_box(&mut c), &start)));
        println!("  normalize {:.1} ns", best(|| m.normalize(black_box(&mut out), black_box(&c))));
    }
}
