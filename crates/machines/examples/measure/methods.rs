//! Methods beside each other: rounds of all of them alternate.

use std::hint::black_box;

use zariz_kernels::Montgomery;
use zariz_kernels::batch::{self, Constants, Method};
use zariz_kernels::pow::{Power, pow};
use zariz_machines::batch::{Find, NAMES};
use zariz_machines::on_each_machine;

use crate::arguments::Arguments;
use crate::stopwatch::{modulus, number, time};

const ROUNDS: usize = 60;
/// Whole powers are measured in one of this many rounds.
const POWERS: usize = 4;

/// Prints, for each method, the best time in nanoseconds of a product, a product with a table entry, a square
/// and a power, and the median of their ratios to the first method's.
pub fn measure(arguments: &Arguments) {
    let mut methods = Method::NAMED.to_vec();
    methods.push(("karatsuba-squares2", Method { square_levels: 2, ..Method::AMM }));
    methods.push(("amm+karatsuba", Method { square_levels: 1, multiply_levels: 1, ..Method::AMM }));
    let names: Vec<&str> =
        methods.iter().map(|&(name, _)| name).filter(|name| !NAMES.contains(name)).collect();
    methods.retain(|(name, _)| arguments.includes(name, &names));
    for bits in arguments.lengths(&[1024, 2048, 4096]) {
        on_each_machine!(table(arguments, bits, &methods));
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn table<M: Find>(arguments: &Arguments, bits: usize, methods: &[(&str, Method)]) {
    let (Some(m), name) = (arguments.machine::<M>(), M::NAME) else { return };
    let (modulus, base, exponent) = (modulus(bits, 0), number(bits - 64, 1), number(bits, 0));
    let least = Constants::digits_for(bits, M::DIGIT_BITS);
    let prepare =
        |method: Method| Constants::new(&modulus, M::DIGIT_BITS, method.digits(least)).with_method(method);
    let constants: Vec<_> = methods.iter().map(|&(_, method)| prepare(method)).collect();
    let mut contexts: Vec<_> = constants
        .iter()
        .map(|constants| {
            let mut mont = batch::Context::new(m, &[constants]);
            let x = mont.enter(&[&base], bits);
            let mut entry = mont.zeros(mont.entry_words());
            entry[..x.len()].copy_from_slice(&x);
            mont.complete_entry(&mut entry);
            (mont, x, entry)
        })
        .collect();
    let calls = 200_000 / (least * least) / 8 + 1;
    // times[method][round] = [amm, multiply_entry, ams, pow]
    let mut times = vec![Vec::new(); methods.len()];
    for round in 0..ROUNDS {
        for ((times, constants), (mont, x, entry)) in times.iter_mut().zip(&constants).zip(&mut contexts) {
            let y = x.clone();
            let amm = time(calls, || mont.amm(black_box(x), black_box(&y)));
            let by_entry = time(calls, || mont.multiply_entry(black_box(x), black_box(entry)));
            let ams = time(calls, || mont.ams(black_box(x), 1));
            let power = Power {
                modulus: constants,
                base: &base,
                base_bits: bits,
                exponent: &exponent,
                exponent_bits: bits,
            };
            let powers =
                || drop(black_box(pow(&mut batch::Context::new(m, &[constants]), black_box(&[power]))));
            let whole = if round % POWERS == 0 { time(1, powers) } else { f64::NAN };
            times.push([amm, by_entry, ams, whole]);
        }
    }
    for (((method, _), constants), mine) in methods.iter().zip(&constants).zip(&times) {
        print!("{name:11} {bits:5} L={:3} {method:21}", constants.digits());
        for (k, what) in ["amm", "entry", "ams", "pow"].iter().enumerate() {
            let rounds =
                || mine.iter().zip(&times[0]).map(move |(a, b)| (a[k], b[k])).filter(|pair| !pair.0.is_nan());
            let best = rounds().map(|pair| pair.0).fold(f64::MAX, f64::min);
            print!("  {what} {best:9.0} {:.3}", median(rounds().map(|(a, b)| a / b)));
        }
        println!();
    }
}
