//! What the vector carry propagation chains take: cycles of one multiplication, and of what is in it.
//!
//! `cargo run --release -p zariz-machines --example carry`

use std::hint::black_box;

use zariz_kernels::carry::{self, Digits, SPARE};
use zariz_kernels::pow::{Power, pow};
use zariz_machines::CycleCounter;

fn main() {
    measure("portable", zariz_machines::carry::Portable::new());
    #[cfg(target_arch = "x86_64")]
    match zariz_machines::carry::Avx512::new() {
        Some(m) => measure("avx512f", m),
        None => println!("avx512f: this processor lacks it"),
    }
}

/// The best of several rounds: what interrupts a round makes it slower.
fn cycles(counter: CycleCounter, calls: u32, mut call: impl FnMut()) -> f64 {
    let round = |call: &mut dyn FnMut()| {
        let from = counter.now();
        for _ in 0..calls {
            call();
        }
        counter.now().wrapping_sub(from) as f64 / f64::from(calls)
    };
    (0..60).map(|_| round(&mut call)).fold(f64::INFINITY, f64::min)
}

fn measure<M: carry::Kernels>(name: &str, m: M) {
    let Some(counter) = CycleCounter::new() else { return println!("no cycle counter: nothing to tell") };
    for bits in [512, 1024, 2048, 4096] {
        let number = |seed: u64| -> Vec<u64> {
            (0..bits as u64 / 64).map(|i| (seed + i).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
        };
        let mut modulus = number(100);
        modulus[0] |= 1;
        modulus[bits / 64 - 1] |= 1 << 63;
        let constants = carry::Constants::new(&modulus);
        let words = constants.words();
        let [a, mut b, mut out] = [7, 11, 13].map(|digit| vec![Digits([digit; 16]); words]);
        let mut spare = [Digits::ZERO; SPARE];
        // Each depends on the one before, as in a power.
        let amm = cycles(counter, 100, || {
            m.amm(&mut out, &mut spare, &a, &b, constants.modulus());
            b.copy_from_slice(&out);
        });
        let table = vec![Digits([9; 16]); 64 * words];
        let select = cycles(counter, 100, || carry::Kernels::select(m, &mut out, &table, black_box(17)));
        let (base, exponent) = (number(1), number(2));
        let power =
            Power { modulus: &constants, base: &base, base_bits: bits, exponent: &exponent, exponent_bits: bits };
        let power = cycles(counter, 1, || drop(black_box(pow(carry::Domain::new(m, &constants), &[power]))));
        println!("{name:>9} {bits:>5} bits: amm {amm:>9.0}, 64 entries read {select:>7.0}, power {power:>12.0} cycles");
    }
}
