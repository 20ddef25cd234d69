//! Times the kernels of every machine: nanoseconds and the share of the port limit.
use std::hint::black_box;
use std::time::Instant;
use zariz_kernels::{Domain, batch};

fn best(rounds: usize, inner: usize, mut f: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let t = Instant::now();
        for _ in 0..inner {
            f();
        }
        best = best.min(t.elapsed().as_nanos() as f64 / inner as f64);
    }
    best
}

fn measure<M: batch::Kernels>(name: &str, m: M, cycles_per_product: f64) {
    for bits in [1024usize, 1536, 2048] {
        let l = batch::Constants::digits_for(bits, M::DIGIT_BITS);
        let modulus: Vec<u64> =
            (0..bits as u64 / 64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63 | 1).collect();
        let c = batch::Constants::new(&modulus, M::DIGIT_BITS, l);
        let mut f = batch::Domain::new(m, &[&c]);
        let mut x = f.enter(&[&modulus[1..]], bits);
        let y = x.clone();
        let inner = 400_000 / (l * l) / 8 + 1;
        let amm = best(1500, inner, || f.amm(black_box(&mut x), black_box(&y)));
        let ams = best(1500, inner, || f.ams(black_box(&mut x), 1));
        let setup = best(10, 10, || {
            black_box(batch::Constants::new(black_box(&modulus), M::DIGIT_BITS, l));
        });
        let ghz = clock();
        let floor = |products: usize| products as f64 * cycles_per_product / ghz;
        println!(
            "{name:12} {bits:5} L={l:3} amm {amm:9.0} ns {:4.0} %   ams {ams:9.0} ns {:4.0} %  setup {setup:9.0} ns ({ghz:.2} GHz)",
            100.0 * floor(2 * l * l) / amm,
            100.0 * floor(l * l + l * (l + 1) / 2) / ams,
        );
    }
}

/// The clock now, from a chain of dependent additions.
fn clock() -> f64 {
    let mut best = f64::MAX;
    for _ in 0..50 {
        let t = Instant::now();
        let mut x = 1u64;
        for _ in 0..10_000 {
            x = black_box_add(x);
        }
        black_box(x);
        best = best.min(t.elapsed().as_nanos() as f64);
    }
    10_000.0 * 10.0 / best
}
#[inline(always)]
fn black_box_add(mut x: u64) -> u64 {
    for _ in 0..10 {
        // SAFETY: one register addition.
        unsafe { std::arch::asm!("add {0}, {0}", inout(reg) x, options(nomem, nostack)) };
    }
    x
}

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    use zariz_machines::batch::*;
    if "portable".contains(&only) {
        measure("portable", Portable::<1>::new(), 1.0);
    }
    if let Some(m) = Avx2Fma::new().filter(|_| "avx2-fma".contains(&only)) {
        measure("avx2-fma", m, 5.0 / 3.0);
    }
    if let Some(m) = Avx512Fma::new().filter(|_| "avx512-fma".contains(&only)) {
        measure("avx512-fma", m, 2.5);
    }
    if let Some(m) = Avx512Ifma::new().filter(|_| "avx512-ifma".contains(&only)) {
        measure("avx512-ifma", m, 1.0);
    }
}
