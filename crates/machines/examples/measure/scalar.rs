//! Numbers in limbs.

use std::hint::black_box;

use zariz_kernels::Montgomery as _;
use zariz_kernels::pow::{Power, pow};
use zariz_kernels::scalar::{self, Constants, Context};

use crate::arguments::Arguments;
use crate::stopwatch::{best, gigahertz, modulus, number};

/// Prints cycles of operations, beside their products in parentheses (one a cycle is the limit of the
/// processor's port), and times of powers.
pub fn measure(arguments: &Arguments) {
    const NAMES: [&str; 2] = ["adx", "portable"];
    let lengths = arguments.lengths(&[512, 1024, 1536, 2048, 3072, 4096]);
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) = zariz_machines::scalar::Adx::new().filter(|_| arguments.includes("adx", &NAMES)) {
        table("adx", machine, &lengths);
    }
    if arguments.includes("portable", &NAMES) {
        table("portable", zariz_machines::scalar::Portable::new(), &lengths);
    }
}

fn table<S: scalar::Kernels>(name: &str, machine: S, lengths: &[usize]) {
    for &bits in lengths {
        let (clock, constants) = (gigahertz(), Constants::new(&modulus(bits, 0), S::STEP));
        let n = constants.limbs();
        let [mut m, a, b] = [0, 1, 2].map(|seed| number(bits, seed));
        m.resize(n, 0);
        let [a, b] = [a, b].map(|mut number| {
            number.resize(n, 0);
            number
        });
        let (mut t, mut out) = (vec![0; 2 * n], vec![0; n]);
        let mul = clock * best(|| machine.mul(black_box(&mut t), black_box(&a), black_box(&b)));
        let sqr = clock * best(|| machine.sqr(black_box(&mut t), black_box(&a)));
        let reduce =
            clock * best(|| machine.reduce(black_box(&mut out), black_box(&mut t), black_box(&m), 1));
        let mut mont = Context::new(machine, &constants);
        let mut x = a.clone();
        let ams = clock * best(|| mont.ams(black_box(&mut x), 4)) / 4.0;
        let amm = clock * best(|| mont.amm(black_box(&mut x), &b));
        let table = vec![1; 32 * n];
        let select = clock * best(|| machine.select(black_box(&mut out), black_box(&table), black_box(7)));
        let power =
            Power { modulus: &constants, base: &a, base_bits: bits, exponent: &b, exponent_bits: bits };
        let power = best(|| drop(black_box(pow(&mut Context::new(machine, &constants), &[power]))));
        println!(
            "{name:8} {bits:5} bits: mul {mul:6.0} ({:5})  sqr {sqr:6.0} ({:5})  reduce {reduce:6.0} ({:5})  \
             amm {amm:6.0}  ams {ams:6.0}  select {select:5.0} cycles   power {:9.1} µs ({clock:.2} GHz)",
            n * n,
            n * (n + 1) / 2,
            n * n + n,
            power / 1000.0,
        );
    }
}
