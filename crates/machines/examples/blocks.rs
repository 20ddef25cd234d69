//! Times single blocks on AVX512-IFMA and AVX-512 FMA.
use std::hint::black_box;
use std::time::Instant;
use zariz_kernels::batch;
fn best(mut f: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..300 {
        let t = Instant::now();
        for _ in 0..100 {
            f();
        }
        best = best.min(t.elapsed().as_nanos() as f64 / 100.0);
    }
    best
}
fn measure<M: batch::Kernels>(name: &str, m: M, cpp: f64) {
    for t in [10usize, 15, 20] {
        let ghz = 2.9;
        let a = vec![m.digit_zero(); 2 * t];
        let mut q = a.clone();
        let mut c = vec![m.column_splat(0); 4 * t + 4];
        let start = vec![0u64; 2 * t + 2];
        let mut out = vec![m.digit_zero(); t];
        let pct = |products: usize, ns: f64| format!("{ns:6.1} ns {:3.0}%", 100.0 * products as f64 * cpp / ghz / ns);
        let n = best(|| m.mac_rows(black_box(&mut c), black_box(&a[..t]), black_box(&a[..t])));
        print!("{name} T={t} mac {} ", pct(t * t, n));
        let n = best(|| m.reduce_rows(black_box(&mut c), black_box(&a[..t]), black_box(&mut q[..t]), None));
        print!(" reduce {} ", pct(t * t, n));
        let d = m.digit_zero();
        let n =
            best(|| m.reduce_rows(black_box(&mut c), black_box(&a[..t]), black_box(&mut q[..t]), Some((&a[..t], d))));
        print!(" +last {} ", pct(t * t, n));
        if t <= M::MAX_SQUARE {
            let n = best(|| m.square(black_box(&mut c), black_box(&a[..t]), black_box(&start)));
            print!(" square {} ", pct(t * (t + 1) / 2, n));
        }
        if t <= M::MAX_TRIANGLE {
            let n = best(|| m.square_onto(black_box(&mut c), black_box(&a[..t])));
            print!(" onto {} ", pct(t * (t + 1) / 2, n));
        }
        let n = best(|| m.splat(black_box(&mut c), &start));
        print!(" splat {n:.1} ");
        let n = best(|| m.normalize(black_box(&mut out), black_box(&c)));
        println!(" normalize {n:.1}");
    }
}
fn main() {
    measure("ifma", zariz_machines::batch::Avx512Ifma::new().unwrap(), 1.0);
    measure("fma ", zariz_machines::batch::Avx512Fma::new().unwrap(), 2.5);
}
