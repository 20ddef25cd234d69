//! Times RSAZ: products, squares and powers, in nanoseconds and core cycles, and the share of the port limit.
use std::hint::black_box;
use std::time::Instant;
use zariz_kernels::pow::{self, Power};
use zariz_kernels::rsaz::{self, Quotients};
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

fn measure<W: rsaz::Kernels>(name: &str, w: W, only: Option<u32>) {
    for bits in [512usize, 1024, 2048] {
        let modulus: Vec<u64> =
            (0..bits as u64 / 64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63 | 1).collect();
        let exponent: Vec<u64> = modulus.iter().map(|limb| limb.wrapping_mul(0x2545_f491_4f6c_dd1d)).collect();
        let m = only.unwrap_or(rsaz::digit_bits_for(bits));
        let k = rsaz::digits_for(bits, m);
        if k > rsaz::most_sums(m) {
            continue;
        }
        let c = batch::Constants::new(&modulus, m, k);
        for quotients in [Quotients::Chained, Quotients::Friendly] {
            let mut domain = rsaz::Domain::with_quotients(w, &c, quotients);
            let mut x = domain.enter(&[&modulus[1..]], bits);
            let y = x.clone();
            let amm = best(400, 100, || domain.amm(black_box(&mut x), black_box(&y)));
            let ams = best(400, 20, || domain.ams(black_box(&mut x), 5));
            let batch =
                [Power { modulus: &c, base: &exponent, base_bits: bits, exponent: &exponent, exponent_bits: bits }];
            let power = best(40, 1, || {
                black_box(pow::pow(rsaz::Domain::with_quotients(w, &c, quotients), black_box(&batch)));
            });
            let ghz = clock();
            let g = k / 4;
            // Two operations for each multiply-accumulate, on three ports.
            let reduce = if quotients == Quotients::Chained { 4 * g * g } else { 4 * (g * g - 1) + 4 };
            let floor = |macs: usize| (macs * 2) as f64 / 3.0;
            let (product, square) = (floor(4 * g * (g + 1) + reduce), floor(2 * g * (g + 3) + reduce));
            let cycles = [amm * ghz, ams * ghz / 5.0];
            println!(
                "{name:10} {bits:5} m={m} k={k:3} {:9} amm {amm:7.0} ns {:6.0} cycles {:3.0} %   ams {:7.0} ns {:6.0} cycles {:3.0} %   power {:9.0} ns {:9.0} cycles ({ghz:.2} GHz)",
                format!("{quotients:?}"),
                cycles[0],
                100.0 * product / cycles[0],
                ams / 5.0,
                cycles[1],
                100.0 * square / cycles[1],
                power,
                power * ghz
            );
        }
    }
}

/// The clock now, from a chain of dependent additions.
fn clock() -> f64 {
    let mut best = f64::MAX;
    for _ in 0..50 {
        let t = Instant::now();
        let mut x = 1u64;
        for _ in 0..10_000 {
            for _ in 0..10 {
                // SAFETY: one register addition.
                unsafe { std::arch::asm!("add {0}, {0}", inout(reg) x, options(nomem, nostack)) };
            }
        }
        black_box(x);
        best = best.min(t.elapsed().as_nanos() as f64);
    }
    10_000.0 * 10.0 / best
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let which = arguments.next().unwrap_or_default();
    let only = arguments.next().and_then(|m| m.parse().ok());
    if "portable".contains(&which) {
        measure("portable", zariz_machines::rsaz::Portable::new(), only);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(w) = zariz_machines::rsaz::Avx2::new().filter(|_| "avx2".contains(&which)) {
        measure("avx2", w, only);
    }
}
