//! What crypto_mb's interface costs: eight operations through it, with eight keys, beside the same operations
//! by Rust's calls with prepared keys. Prints the rate through the interface as a multiple of Rust's: the
//! median of rounds that alternate. Run it on one core: `taskset -c 0 cargo run --release -p zariz-crypto-mb
//! --example ratio`. An argument is the seconds for each row.

use std::array;
use std::ffi::c_int;
use std::ptr;
use std::time::{Duration, Instant};

use zariz::rsa::hazmat::primitive::{PrivateJob, PublicJob, private_many, public_many_vartime};
use zariz::rsa::{KeyGenerator, PrivateKey};
use zariz::{Engine, Modulus, PowJob, pow_many};
use zariz_crypto_mb::*;

/// A number in words, the lowest first.
fn words(bytes: &[u8], len: usize) -> Vec<u64> {
    let mut words: Vec<u64> = bytes
        .rchunks(8)
        .map(|chunk| chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        .collect();
    words.resize(len, 0);
    words
}

fn pointers(numbers: &[Vec<u64>]) -> [*const u64; LANES] {
    array::from_fn(|lane| numbers[lane].as_ptr())
}

/// The median of `ours/theirs` rates, where rounds of both alternate.
fn ratio(seconds: f64, mut rust: impl FnMut(), mut mbx: impl FnMut()) -> f64 {
    let time = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..4).for_each(|_| call());
        start.elapsed().as_secs_f64()
    };
    let (end, mut ratios) = (Instant::now() + Duration::from_secs_f64(seconds), Vec::new());
    while ratios.len() < 11 || Instant::now() < end {
        let [a, b] = if ratios.len() % 2 == 0 {
            let a = time(&mut rust);
            [a, time(&mut mbx)]
        } else {
            let b = time(&mut mbx);
            [time(&mut rust), b]
        };
        ratios.push(a / b);
    }
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(2.0), |text| text.parse::<f64>())?;
    println!("{}: times Rust's rate, eight keys in a call", Engine::best());
    println!("bits  private_crt  private  public    exp");
    for bits in [1024usize, 2048, 3072, 4096] {
        let keys = KeyGenerator::new(bits)?.generate_many(LANES)?;
        println!("{bits}  {}", row(bits, &keys, seconds)?);
    }
    Ok(())
}

fn row(bits: usize, keys: &[PrivateKey], seconds: f64) -> Result<String, Box<dyn std::error::Error>> {
    let (size, length) = (bits / 8, bits as c_int);
    let components: Vec<_> = keys.iter().map(PrivateKey::components).collect();
    let column = |number: &dyn Fn(usize) -> Vec<u8>, len: usize| -> Vec<Vec<u64>> {
        (0..LANES).map(|lane| words(&number(lane), len)).collect()
    };
    let half = |number: &dyn Fn(usize) -> Vec<u8>| column(number, bits / 128);
    let [p, q, dp, dq, iq] = [
        half(&|i| components[i].p.to_vec()),
        half(&|i| components[i].q.to_vec()),
        half(&|i| components[i].dp.to_vec()),
        half(&|i| components[i].dq.to_vec()),
        half(&|i| components[i].qinv.to_vec()),
    ];
    let d = column(&|i| components[i].d.to_vec(), bits / 64);
    let n = column(&|i| components[i].n.clone(), bits / 64);

    let numbers: Vec<Vec<u8>> = (0..LANES as u8).map(|lane| vec![lane + 1; size]).collect();
    let from: [*const u8; LANES] = array::from_fn(|lane| numbers[lane].as_ptr());
    let mut results = vec![vec![0u8; size]; LANES];
    let to: [*mut u8; LANES] = array::from_fn(|lane| results[lane].as_mut_ptr());
    let private: Vec<_> =
        keys.iter().zip(&numbers).map(|(key, number)| PrivateJob::new(key, number)).collect();
    let public: Vec<_> =
        keys.iter().zip(&numbers).map(|(key, number)| PublicJob::new(key.public_key(), number)).collect();

    let [pp, pq, pdp, pdq, piq, pd, pn] = [&p, &q, &dp, &dq, &iq, &d, &n].map(|numbers| pointers(numbers));
    let (no_method, no_buffer) = (ptr::null(), ptr::null_mut());
    let ok = |status: u32| assert_eq!(status, 0, "every lane has a result");
    let rust_private = || drop(private_many(&private));
    let crt = ratio(seconds, rust_private, || {
        // SAFETY: arrays of eight pointers to numbers of these lengths.
        ok(unsafe {
            mbx_rsa_private_crt_mb8(&from, &to, &pp, &pq, &pdp, &pdq, &piq, length, no_method, no_buffer)
        });
    });
    let exponents = ratio(seconds, rust_private, || {
        // SAFETY: as above.
        ok(unsafe { mbx_rsa_private_mb8(&from, &to, &pd, &pn, length, no_method, no_buffer) });
    });
    let opened = ratio(
        seconds,
        || drop(public_many_vartime(&public)),
        || {
            // SAFETY: as above.
            ok(unsafe { mbx_rsa_public_mb8(&from, &to, &pn, length, no_method, no_buffer) });
        },
    );

    let moduli = components.iter().map(|key| Modulus::new(&key.n)).collect::<Result<Vec<_>, _>>()?;
    let exponents_be: Vec<Vec<u8>> = (0..LANES as u8).map(|lane| vec![0xa5 ^ lane; size]).collect();
    let powers: Vec<_> = (0..LANES)
        .map(|i| PowJob { modulus: &moduli[i], base: &numbers[i], exponent: &exponents_be[i] })
        .collect();
    let base = column(&|i| numbers[i].clone(), bits / 64);
    let exponent = column(&|i| exponents_be[i].clone(), bits / 64);
    let mut out = vec![vec![0u64; bits / 64]; LANES];
    let pout: [*mut u64; LANES] = array::from_fn(|lane| out[lane].as_mut_ptr());
    let (pbase, pexponent) = (pointers(&base), pointers(&exponent));
    let mut buffer = vec![0u8; mbx_exp_BufferSize(length) as usize];
    let power = ratio(
        seconds,
        || drop(pow_many(&powers)),
        || {
            let (buffer, len) = (buffer.as_mut_ptr(), buffer.len() as c_int);
            // SAFETY: as above.
            ok(unsafe { mbx_exp_mb8(&pout, &pbase, &pexponent, length, &pn, length, buffer, len) });
        },
    );
    Ok(format!("{crt:11.3}  {exponents:7.3}  {opened:6.3}  {power:5.3}"))
}
