//! Single blocks.

use std::hint::black_box;

use zariz_kernels::batch;

use crate::arguments::{Arguments, on_machines};
use crate::stopwatch::{best, gigahertz};

/// Prints nanoseconds of blocks at some tile widths, and the share of the port limit.
pub fn measure(arguments: &Arguments) {
    on_machines!(arguments, table());
}

fn table<M: batch::Kernels>(name: &str, m: M, cycles: f64) {
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
        let mut reduce = |last| best(|| m.reduce_rows(black_box(&mut c), black_box(&a), black_box(&mut q), last));
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
