//! RSAZ.

use std::hint::black_box;

use zariz_kernels::pow::{Power, pow};
use zariz_kernels::rsaz::{self, Context, Quotients};
use zariz_kernels::{Montgomery as _, batch};

use crate::arguments::Arguments;
use crate::stopwatch::{best, gigahertz, modulus, number};

/// Prints times and cycles of products, squares and powers by each kind of quotients, and their share of the
/// port limit.
pub fn measure(arguments: &Arguments) {
    const NAMES: [&str; 2] = ["avx2", "portable"];
    let lengths = arguments.lengths(&[512, 1024, 2048]);
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) = zariz_machines::rsaz::Avx2::new().filter(|_| arguments.includes("avx2", &NAMES)) {
        table("avx2", machine, &lengths);
    }
    if arguments.includes("portable", &NAMES) {
        table("portable", zariz_machines::rsaz::Portable::new(), &lengths);
    }
}

fn table<W: rsaz::Kernels>(name: &str, machine: W, lengths: &[usize]) {
    for &bits in lengths {
        for m in [28, 29] {
            let k = rsaz::digits_for(bits, m);
            if k > rsaz::most_sums(m) {
                continue;
            }
            let constants = batch::Constants::new(&modulus(bits, 0), m, k);
            for &quotients in Quotients::ALL {
                let (base, exponent) = (number(bits - 64, 1), number(bits, 2));
                let mont = || Context::with_quotients(machine, &constants, quotients);
                let mut x = mont().enter(&[&base], bits);
                let (mut numbers, y) = (mont(), x.clone());
                let amm = best(|| numbers.amm(black_box(&mut x), black_box(&y)));
                const TIMES: usize = 5;
                let ams = best(|| numbers.ams(black_box(&mut x), TIMES)) / TIMES as f64;
                let power = Power {
                    modulus: &constants,
                    base: &base,
                    base_bits: bits,
                    exponent: &exponent,
                    exponent_bits: bits,
                };
                let power = best(|| drop(black_box(pow(&mut mont(), black_box(&[power])))));
                let (clock, g) = (gigahertz(), k / 4);
                // Two operations for each multiply-accumulate, on three ports.
                let reduce = match quotients {
                    #[cfg(feature = "papers")]
                    Quotients::Chained => 4 * g * g,
                    Quotients::Friendly => 4 * (g * g - 1) + 4,
                };
                let share = |macs: usize, ns: f64| 100.0 * (macs * 2) as f64 / 3.0 / (ns * clock);
                println!(
                    "{name:8} {bits:5} bits, m={m} k={k:3} {:8}: amm {amm:7.0} ns {:6.0} cycles {:3.0} %   \
                     ams {ams:7.0} ns {:6.0} cycles {:3.0} %   power {:9.1} µs ({clock:.2} GHz)",
                    format!("{quotients:?}"),
                    amm * clock,
                    share(4 * g * (g + 1) + reduce, amm),
                    ams * clock,
                    share(2 * g * (g + 3) + reduce, ams),
                    power / 1000.0,
                );
            }
        }
    }
}
