//! Compares methods on every machine, interleaved in one process: `methods BITS… MACHINE… METHOD…`, all where none is
//! named. For each method the time of
//! a product, a product with a table entry, a square and an exponentiation, and its ratio to AMM's, medians of pairs.
use std::hint::black_box;
use std::time::Instant;
use zariz_kernels::Domain;
use zariz_kernels::batch::{self, Method};
use zariz_kernels::pow::{Power, pow};

const ROUNDS: usize = 60;

fn time(inner: usize, mut f: impl FnMut()) -> f64 {
    let t = Instant::now();
    for _ in 0..inner {
        f();
    }
    t.elapsed().as_nanos() as f64 / inner as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure<M: batch::Kernels>(name: &str, m: M, bits: usize, wanted: &dyn Fn(&str) -> bool) {
    let modulus: Vec<u64> =
        (0..bits as u64 / 64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63 | 1).collect();
    let least = batch::Constants::digits_for(bits, M::DIGIT_BITS);
    let mut methods: Vec<_> = Method::NAMED.to_vec();
    methods.push(("karatsuba-squares2", Method { square_levels: 2, ..Method::AMM }));
    methods.push(("amm+karatsuba", Method { square_levels: 1, multiply_levels: 1, ..Method::AMM }));
    methods.retain(|(name, _)| wanted(name));
    let constants: Vec<_> = methods
        .iter()
        .map(|(_, method)| batch::Constants::new(&modulus, M::DIGIT_BITS, method.digits(least)).with_method(*method))
        .collect();
    let mut frames: Vec<_> = constants
        .iter()
        .map(|c| {
            let mut frame = batch::Domain::new(m, &[c]);
            let x = frame.enter(&[&modulus[1..]], bits);
            let mut entry = frame.zeros(frame.entry_words());
            entry[..x.len()].copy_from_slice(&x);
            frame.complete_entry(&mut entry);
            (frame, x, entry)
        })
        .collect();
    let inner = 200_000 / (least * least) / 8 + 1;
    // times[method][round] = [amm, entry, ams, pow]
    let mut times = vec![Vec::new(); methods.len()];
    for round in 0..ROUNDS {
        for (i, (frame, x, entry)) in frames.iter_mut().enumerate() {
            let y = x.clone();
            let amm = time(inner, || frame.amm(black_box(x), black_box(&y)));
            let by_entry = time(inner, || frame.multiply_entry(black_box(x), black_box(entry)));
            let ams = time(inner, || frame.ams(black_box(x), 1));
            let power = Power {
                modulus: &constants[i],
                base: &modulus[1..],
                base_bits: bits,
                exponent: &modulus,
                exponent_bits: bits,
            };
            let whole = if round % 4 == 0 {
                time(1, || {
                    black_box(pow(batch::Domain::new(m, &[power.modulus]), black_box(&[power])));
                })
            } else {
                f64::NAN
            };
            times[i].push([amm, by_entry, ams, whole]);
        }
    }
    for (i, (method, _)) in methods.iter().enumerate() {
        print!("{name:11} {bits:5} L={:3} {method:21}", constants[i].digits());
        for (k, what) in ["amm", "entry", "ams", "pow"].iter().enumerate() {
            let rounds = || times[i].iter().zip(&times[0]).map(move |(a, b)| (a[k], b[k])).filter(|p| !p.0.is_nan());
            let best = rounds().map(|p| p.0).fold(f64::MAX, f64::min);
            print!("  {what} {best:9.0} {:.3}", median(rounds().map(|(a, b)| a / b)));
        }
        println!();
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    const MACHINES: [&str; 4] = ["avx512-ifma", "avx512-fma", "avx2-fma", "portable"];
    let is_machine = |a: &str| MACHINES.contains(&a);
    let machines = || arguments.iter().filter(|a| is_machine(a));
    let methods = || arguments.iter().filter(|a| !is_machine(a) && a.parse::<usize>().is_err());
    let run = |machine: &str| machines().next().is_none() || machines().any(|a| a == machine);
    let wanted = |method: &str| methods().next().is_none() || methods().any(|a| a == method);
    for &bits in if sizes.is_empty() { &[1024, 2048, 4096][..] } else { &sizes } {
        use zariz_machines::batch::*;
        if let Some(m) = Avx512Ifma::new().filter(|_| run("avx512-ifma")) {
            measure("avx512-ifma", m, bits, &wanted);
        }
        if let Some(m) = Avx512Fma::new().filter(|_| run("avx512-fma")) {
            measure("avx512-fma", m, bits, &wanted);
        }
        if let Some(m) = Avx2Fma::new().filter(|_| run("avx2-fma")) {
            measure("avx2-fma", m, bits, &wanted);
        }
        if run("portable") {
            measure("portable", Portable::<1>::new(), bits, &wanted);
        }
    }
}
