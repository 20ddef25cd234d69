//! Times numbers laid across vectors, on each machine there is: cycles of products, squares and powers, beside the limit of
//! the ports that multiply.
//!
//! Cycles are of the core's clock, from a chain of dependent additions: `pair [BITS…]`.
#[cfg(target_arch = "x86_64")]
fn main() {
    let mut lengths: Vec<usize> = std::env::args().skip(1).filter_map(|bits| bits.parse().ok()).collect();
    if lengths.is_empty() {
        lengths = vec![512, 1024, 1536, 2048, 3072, 4096];
    }
    // A multiplication of vectors, both halves, is this many instructions, two of which start in a cycle.
    match zariz_machines::batch::Avx512Ifma::new() {
        Some(m) => table("avx512-ifma", m, &lengths, 2),
        None => eprintln!("this processor lacks AVX512-IFMA"),
    }
    match zariz_machines::batch::Avx512Fma::new() {
        Some(m) => table("avx512-fma", m, &lengths, 5),
        None => eprintln!("this processor lacks AVX-512F or DQ"),
    }
}

#[cfg(target_arch = "x86_64")]
fn table(name: &str, m: impl zariz_kernels::pair::Kernels, lengths: &[usize], instructions: usize) {
    use std::hint::black_box;
    use zariz_kernels::pair::{Constants, Domain, Shape};
    use zariz_kernels::pow::{self, Power};
    use zariz_kernels::{Domain as _, limbs};

    println!("{name}: numbers  bits | product cycles, share of port limit | square cycles, share | power us");
    for &bits in lengths {
        for count in [1, 2] {
            let moduli: Vec<Vec<u64>> = (0..count)
                .map(|n| {
                    let word = |i: u64| (i + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63 | 1;
                    (1..=bits as u64 / 64).map(word).collect()
                })
                .collect();
            let constants: Vec<_> = moduli.iter().map(|m| Constants::with_bits(m, bits)).collect();
            let constants: Vec<_> = constants.iter().collect();
            let mut numbers = Domain::new(m, &constants);
            let mut x = numbers.enter(&[&moduli[0][1..]], bits);
            let y = x.clone();
            const INNER: usize = 64;
            let product = best(400, INNER, || {
                for _ in 0..INNER {
                    numbers.amm(black_box(&mut x), black_box(&y));
                }
            });
            let square = best(400, INNER, || numbers.ams(black_box(&mut x), INNER));
            let mut exponent = limbs::zero(bits / 64);
            exponent.fill(0xb5ad_4ece_da1c_e2a9);
            let powers: Vec<_> = constants
                .iter()
                .map(|&modulus| Power {
                    modulus,
                    base: &moduli[0][1..],
                    base_bits: bits,
                    exponent: &exponent,
                    exponent_bits: bits,
                })
                .collect();
            let power = best(30, 1, || {
                black_box(pow::pow(Domain::new(m, &constants), black_box(&powers)));
            });
            let cycles = clock();
            let limit = (count as usize * multiplications(Shape::new(bits)) * instructions) as f64 / 2.0;
            println!(
                "{name}: {count:7} {bits:5} | {:7.0} {:4.0} % | {:7.0} {:4.0} % | {:9.1}   ({cycles:.2} GHz)",
                product * cycles,
                100.0 * limit / (product * cycles),
                square * cycles,
                100.0 * limit / (square * cycles),
                power / 1000.0,
            );
        }
    }
}

/// Multiplications of vectors in a product, both halves, as the kernels' banners count them.
#[cfg(target_arch = "x86_64")]
fn multiplications(shape: zariz_kernels::pair::Shape) -> usize {
    let (n, vectors) = (shape.width, shape.vectors());
    let spare = 8 * vectors - shape.digits;
    // A row of the shift s needs a vector more where s is above the lanes left over.
    let rows = |first: usize| -> usize {
        (first..8 * vectors).map(|row| shape.tiles * (n + usize::from(row % 8 > spare))).sum()
    };
    // The product; friendly multiples for all vectors but one, and M for that; the last quotient.
    2 * rows(spare) + 8
}

/// Nanoseconds.
#[cfg(target_arch = "x86_64")]
fn best(rounds: usize, inner: usize, mut f: impl FnMut()) -> f64 {
    let round = |_| {
        let start = std::time::Instant::now();
        f();
        start.elapsed().as_nanos() as f64 / inner as f64
    };
    (0..rounds).map(round).fold(f64::MAX, f64::min)
}

/// Cycles a nanosecond.
#[cfg(target_arch = "x86_64")]
fn clock() -> f64 {
    let chain = || {
        let mut x = 1u64;
        for _ in 0..10_000 {
            // SAFETY: ten additions in registers.
            unsafe {
                std::arch::asm!(".rept 10", "add {0}, {0}", ".endr", inout(reg) x, options(nomem, nostack, pure));
            }
        }
        std::hint::black_box(x);
    };
    100_000.0 / best(30, 1, chain)
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    eprintln!("the AVX-512 machines need x86-64");
}
