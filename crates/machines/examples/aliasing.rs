//! How the place of a frame's arrays within a page moves the time of a squaring.
use std::hint::black_box;
use std::time::Instant;
use zariz_kernels::Machine;

fn place<T: Copy>(value: T, len: usize, slot: usize) -> (Vec<T>, usize) {
    let size = size_of::<T>();
    let v = vec![value; len + 4096 / size];
    let now = v.as_ptr() as usize / size % (4096 / size);
    let start = (slot + 4096 / size - now) % (4096 / size);
    (v, start)
}

fn sweep<M: Machine>(m: M, name: &str) {
    let t = 20;
    for oq in [0usize, 16, 32, 48] {
        for of in [0usize, 16, 32, 48] {
            for ox in [0usize, 16, 32, 48] {
                let (mut c, c0) = place(m.column_splat(0), 2 * t + 2, 0);
                let (f, f0) = place(m.digit_zero(), t, of);
                let (mo, m0) = place(m.digit_zero(), t, of + 20);
                let (mut x, x0) = place(m.digit_zero(), t, ox);
                let (mut q, q0) = place(m.digit_zero(), t, oq);
                let start = vec![0u64; 2 * t + 2];
                let c = &mut c[c0..c0 + 2 * t + 2];
                let mut best = f64::MAX;
                for _ in 0..400 {
                    let clock = Instant::now();
                    for _ in 0..100 {
                        m.square(black_box(c), black_box(&x[x0..x0 + t]), &start);
                        m.reduce_rows(
                            black_box(c),
                            black_box(&f[f0..f0 + t]),
                            black_box(&mut q[q0..q0 + t]),
                            Some((&mo[m0..m0 + t], m.digit_zero())),
                        );
                        m.normalize(black_box(&mut x[x0..x0 + t]), &c[t..]);
                    }
                    best = best.min(clock.elapsed().as_nanos() as f64 / 100.0);
                }
                println!("{name} q {oq:2} friendly {of:2} x {ox:2}: {best:.1} ns");
            }
        }
    }
}

fn main() {
    sweep(zariz_machines::Avx512Ifma::new().unwrap(), "ifma");
}
