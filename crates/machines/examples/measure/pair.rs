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

    use zariz_kernels::Domain as _;
    use zariz_kernels::pair::{Constants, Domain, Kernels, Shape};
    use zariz_kernels::pow::{Power, pow};

    use crate::stopwatch::{best, gigahertz, modulus, number};

    pub fn table(name: &str, m: impl Kernels, lengths: &[usize], instructions: usize) {
        for &bits in lengths {
            for count in [1, 2] {
                let constants = [0, 1].map(|seed| Constants::with_bits(&modulus(bits, seed), bits));
                let constants: Vec<_> = constants.iter().take(count).collect();
                let (base, exponent) = (number(bits - 64, 2), number(bits, 3));
                let mut domain = Domain::new(m, &constants);
                let mut x = domain.enter(&[&base], bits);
                let y = x.clone();
                let product = best(|| domain.amm(black_box(&mut x), black_box(&y)));
                const TIMES: usize = 64;
                let square = best(|| domain.ams(black_box(&mut x), TIMES)) / TIMES as f64;
                let power = |&modulus| Power {
                    modulus,
                    base: &base,
                    base_bits: bits,
                    exponent: &exponent,
                    exponent_bits: bits,
                };
                let powers: Vec<_> = constants.iter().map(power).collect();
                let power = best(|| drop(black_box(pow(&mut Domain::new(m, &constants), black_box(&powers)))));
                let clock = gigahertz();
                let limit = (count * products(Shape::new(bits)) * instructions) as f64 / 2.0;
                let share = |ns: f64| 100.0 * limit / (ns * clock);
                println!(
                    "{name:11} {bits:5} bits, numbers {count}: amm {:7.0} cycles {:4.0} %   ams {:7.0} cycles {:4.0} %   \
                     power {:9.1} µs ({clock:.2} GHz)",
                    product * clock,
                    share(product),
                    square * clock,
                    share(square),
                    power / 1000.0,
                );
            }
        }
    }

    /// Products of vectors in a product of numbers, both halves, as the kernels' banners count them.
    fn products(shape: Shape) -> usize {
        let (n, vectors) = (shape.width, shape.vectors());
        let spare = 8 * vectors - shape.digits;
        // A row of the shift s needs a vector more where s is above the lanes left over.
        let rows = |first: usize| -> usize {
            (first..8 * vectors).map(|row| shape.tiles * (n + usize::from(row % 8 > spare))).sum()
        };
        // The product; friendly multiples for all vectors but one, and M for that; the last quotient.
        2 * rows(spare) + 8
    }
}
