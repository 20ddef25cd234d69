//! Cycles of the scalar operations, beside their products: one a cycle is the limit of the processor's port.

use std::hint::black_box;
use std::time::Instant;

use zariz_kernels::pow::{Power, pow};
use zariz_kernels::scalar::{self, Constants, Domain};

/// Nanoseconds, the best of some rounds.
fn best(mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    let mut calls = 1u32;
    for _ in 0..200 {
        let start = Instant::now();
        for _ in 0..calls {
            work();
        }
        let each = start.elapsed().as_nanos() as f64 / f64::from(calls);
        best = best.min(each);
        calls = ((20_000.0 / each) as u32).max(1);
    }
    best
}

/// The core's clock in GHz, from a chain of products of three cycles each.
fn gigahertz() -> f64 {
    let chain = || {
        let mut x = black_box(3u64);
        for _ in 0..1000 {
            x = x.wrapping_mul(x);
        }
        black_box(x);
    };
    3000.0 / best(chain)
}

fn show<S: scalar::Kernels>(name: &str, machine: S) {
    let clock = gigahertz();
    for n in [8usize, 16, 24, 32, 48, 64] {
        let m: Vec<u64> = (0..n as u64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).collect();
        let (a, b) = (m.clone(), m.clone());
        let (mut t, mut out) = (vec![0; 2 * n], vec![0; n]);
        let mul = clock * best(|| machine.mul(black_box(&mut t), black_box(&a), black_box(&b)));
        let sqr = clock * best(|| machine.sqr(black_box(&mut t), black_box(&a)));
        let reduce = clock * best(|| machine.reduce(black_box(&mut out), black_box(&mut t), black_box(&m), 1));
        let constants = Constants::new(&m, S::STEP);
        let mut domain = Domain::new(machine, &constants);
        let mut x = a.clone();
        let ams = clock * best(|| zariz_kernels::Domain::ams(&mut domain, black_box(&mut x), 4)) / 4.0;
        let amm = clock * best(|| zariz_kernels::Domain::amm(&mut domain, black_box(&mut x), &b));
        let table = vec![1; 32 * n];
        let select = clock * best(|| machine.select(black_box(&mut out), black_box(&table), black_box(7)));
        let power = Power { modulus: &constants, base: &a, base_bits: 64 * n, exponent: &b, exponent_bits: 64 * n };
        let whole = best(|| drop(black_box(pow(Domain::new(machine, &constants), &[power]))));
        println!(
            "{name:9} {:5} bits, {clock:.2} GHz: mul {mul:6.0} ({:5})  sqr {sqr:6.0} ({:5})  reduce {reduce:6.0} ({:5})  \
             amm {amm:6.0} ams {ams:6.0}  select {select:5.0}  pow {:9.1} us",
            64 * n,
            n * n,
            n * (n + 1) / 2,
            n * n + n,
            whole / 1000.0
        );
    }
}

fn main() {
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) = zariz_machines::scalar::Adx::new() {
        show("adx", machine);
    }
    show("portable", zariz_machines::scalar::Portable::new());
}
