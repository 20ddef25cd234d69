//! Measures the rows of the table.

use std::hint::black_box;
use std::time::Instant;

use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::mul;

use super::table::LENGTHS;
use crate::backend::{self, Backend, Product};
use crate::engine::{Engine, Layout};
use crate::prepared::Prepared;

/// About a minute on Zen 3. A neighbour on the core's other thread comes and goes, and slows vector code
/// most; so many rounds are needed for a steady median.
const ROUNDS: usize = 4_000;

/// While a neighbour uses the core's other thread, vector code without AVX-512 loses about 15 % more than
/// scalar code (Zen 3). This is half of that.
const BESIDE_A_NEIGHBOUR: f64 = 1.07;

/// Prints the rows for all engines of this processor.
#[test]
#[ignore = "prints the rows of cost/table/*.rs, for a developer to paste"]
fn rows() {
    let engines =
        Engine::ALL.iter().copied().filter(|engine| engine.is_available() && engine.name() != "carry-chains");
    let calls = engines.flat_map(|engine| numbers(engine).map(move |numbers| (engine, numbers)));
    let mut rows: Vec<_> =
        calls.map(|call| (call, [const { [const { Vec::new() }; 3] }; LENGTHS.len()])).collect();
    for _ in 0..ROUNDS {
        for ((engine, numbers), costs) in &mut rows {
            let backend = engine.backend().expect("an engine of this processor");
            for (costs, bits) in costs.iter_mut().zip(LENGTHS).filter(|(_, bits)| backend.fits(*bits)) {
                measure(backend, *numbers, bits, costs);
            }
        }
    }
    let shares_vectors = cfg!(target_arch = "x86_64") && !Engine::Avx512Fma.is_available();
    for ((engine, numbers), costs) in rows {
        let factor = if shares_vectors && engine.uses_vectors() { BESIDE_A_NEIGHBOUR } else { 1.0 };
        // No engine gets numbers that are too long for it; the table still has a figure there.
        let known = costs.iter().filter(|costs| !costs[0].is_empty()).count();
        let costs = (0..costs.len()).map(|i| {
            let from = i.min(known - 1);
            let cost = |times: &Vec<f64>| factor * median(times) * (LENGTHS[i] / LENGTHS[from]).pow(2) as f64;
            costs[from].each_ref().map(|times| cost(times).round() as u64)
        });
        let costs: Vec<_> = costs.collect();
        println!("    EngineCosts {{ engine: Engine::{engine:?}, numbers: {numbers}, costs: {costs:?} }},");
    }
}

/// How many numbers at once an engine is measured with. Vector lanes cost the same whether used or not; an
/// engine for two numbers at once does one number sooner.
pub fn numbers(engine: Engine) -> std::ops::RangeInclusive<usize> {
    match engine.layout() {
        Layout::Pair => 1..=2,
        _ => engine.lanes()..=engine.lanes(),
    }
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Adds a time of each quantity, in nanoseconds.
fn measure(backend: &dyn Backend, count: usize, bits: usize, costs: &mut [Vec<f64>; 3]) {
    let (modulus, number) = (modulus(bits), vec![0x5a; bits / 64]);
    let prepared = Prepared::new(&modulus, bits);
    let product = Product { modulus: &prepared, a: &number, a_bits: bits, b: &number };
    let products = vec![product; count];
    let (moduli, numbers) = (vec![&prepared; count], vec![&number[..]; count]);
    let _default = backend::default_mxcsr(backend);
    let mut montgomery = backend.montgomery(&moduli);
    let [mut x, y] = [(); 2].map(|()| montgomery.enter(&numbers, bits));
    let mut time = |i: usize, operations: usize, work: &mut dyn FnMut()| {
        work(); // code and data come into the caches
        let start = Instant::now();
        (0..operations).for_each(|_| work());
        costs[i].push(start.elapsed().as_nanos() as f64 / operations as f64);
    };
    time(0, 2, &mut || drop(black_box(backend::in_batches(backend, &products, |it| it.modulus, mul::mul))));
    let operations = if bits <= 1024 { 16 } else { 4 };
    time(1, operations, &mut || montgomery.amm(&mut x, &y));
    time(2, operations, &mut || montgomery.ams(&mut x, 1));
}

/// Any odd number of exactly so many bits.
fn modulus(bits: usize) -> Limbs {
    let mut out = limbs::zero(bits / 64);
    for (i, limb) in (1u64..).zip(out.iter_mut()) {
        *limb = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63 | 1;
    }
    out
}
