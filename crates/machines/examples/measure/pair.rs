//! Numbers laid across vectors.

use crate::arguments::Arguments;

/// Prints cycles of products and squares of one number and of two, their share of the port limit, and times
/// of powers.
#[cfg(target_arch = "x86_64")]
pub fn measure(arguments: &Arguments) {
    const NAMES: [&str; 2] = ["avx512-ifma", "avx512-fma"];
    let lengths = arguments.lengths(&[512, 1024, 1536, 2048, 3072, 4096]);
    for name in NAMES.into_iter().filter(|name| arguments.includes(name, &NAMES)) {
        // A product of vectors, both halves, is this many instructions, two of which start in a cycle.
        match (name, zariz_machines::batch::Avx512Ifma::new(), zariz_machines::batch::Avx512Fma::new()) {
            ("avx512-ifma", Some(m), _) => x86::table(name, m, &lengths, 2),
            ("avx512-fma", _, Some(m)) => x86::table(name, m, &lengths, 5),
            _ => eprintln!("{name}: this processor lacks it"),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub fn measure(_: &Arguments) {
    eprintln!("the AVX-512 machines need x86-64");
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::hint::black_box;

    use zariz_kernels::Montgomery as _;
    use zariz_kernels::pair::{Constants, Context, Kernels, Shape};
    use zariz_kernels::pow::{Power, pow};

    use crate::stopwatch::{best, gigahertz, modulus, number};

    pub fn table(name: &str, m: impl Kernels, lengths: &[usize], instructions: usize) {
        for &bits in lengths {
            for count in [1, 2] {
                let constants = [0, 1].map(|seed| Constants::new(&modulus(bits, seed), bits, count));
                let constants: Vec<_> = constants.iter().take(count).collect();
                let (base, exponent) = (number(bits - 64, 2), number(bits, 3));
                let mut mont = Context::new(m, &constants);
                let mut x = mont.enter(&[&base], bits);
                let y = x.clone();
                let product = best(|| mont.amm(black_box(&mut x), black_box(&y)));
                const TIMES: usize = 64;
                let square = best(|| mont.ams(black_box(&mut x), TIMES)) / TIMES as f64;
                let power = |&modulus| Power {
                    modulus,
                    base: &base,
                    base_bits: bits,
                    exponent: &exponent,
                    exponent_bits: bits,
                };
                let powers: Vec<_> = constants.iter().map(power).collect();
                let power =
                    best(|| drop(black_box(pow(&mut Context::new(m, &constants), black_box(&powers)))));
                let clock = gigahertz();
                let shape = Shape::new(bits, count);
                let share =
                    |products: usize, ns: f64| 100.0 * (products * instructions) as f64 / 2.0 / (ns * clock);
                println!(
                    "{name:11} {bits:5} bits, numbers {count}: amm {:7.0} cycles {:4.0} %   ams {:7.0} cycles {:4.0} %   \
                     power {:9.1} µs ({clock:.2} GHz)",
                    product * clock,
                    share(products(shape, false), product),
                    square * clock,
                    share(products(shape, true), square),
                    power / 1000.0,
                );
            }
        }
    }

    /// Products of vectors in a product of numbers or a square, both halves, as the kernels' banners count
    /// them.
    fn products(shape: Shape, square: bool) -> usize {
        let (v, segments) = (shape.vectors, shape.segments());
        let product = segments * if square { v * (v + 1) / 2 } else { v * v };
        let last = |digits: usize| digits * (digits + 1) / 2;
        let cleared = v.div_ceil(2);
        product + segments * v * v + last(cleared) + last(v - cleared)
    }
}
