//! A sum of products, one element at a time and eight at once: `cargo run --release --example products`.

use std::time::Instant;

use zariz_bls12_381::{Fp, Fp8};

/// Products in each chain.
const CHAIN: usize = 100_000;

fn main() {
    let (a, b): ([Fp; 8], [Fp; 8]) = (elements(3), elements(5));

    let start = Instant::now();
    let mut one = a;
    for (x, y) in one.iter_mut().zip(&b) {
        for _ in 0..CHAIN {
            *x *= y;
            *x += y;
        }
    }
    let apart = start.elapsed();

    let start = Instant::now();
    let (mut eight, factors) = (Fp8::new(&a), Fp8::new(&b));
    for _ in 0..CHAIN {
        eight *= &factors;
        eight += &factors;
    }
    let together = start.elapsed();

    assert_eq!(eight.to_array(), one);
    println!(
        "8 x {CHAIN} products and sums: {apart:.1?} one at a time, {together:.1?} in lanes of {}",
        eight.engine()
    );
    println!("the first result is {}", one[0]);
}

/// Eight elements: the powers of a small number.
fn elements(number: u64) -> [Fp; 8] {
    let mut power = Fp::ONE;
    [(); 8].map(|()| {
        power *= Fp::from(number);
        power
    })
}
