//! Does one thing a number of times, for its instructions to be counted: `instructions CONTESTANT TIMES`,
//! where the contestant is an engine or `openssl`; `openssl-version` is printed.
//!
//! The thing is the paper's on RSAZ: a power modulo a number of 1024 bits in constant time, with an exponent
//! of as many bits. Numbers are the same in every run. `cargo xtask instructions` counts twice, with more and
//! fewer times, and takes the difference. What only kernels can do is in the example of this name in
//! `zariz-machines`.

use std::hint::black_box;
use std::process::ExitCode;

use zariz::{Engine, Modulus};
use zariz_peers::OpenSsl;

const BYTES: usize = 128;

/// Modulus, base and exponent, big-endian.
struct Numbers([Vec<u8>; 3]);

impl Numbers {
    fn new() -> Self {
        let number = |kind: u64| {
            let limbs = (1..=BYTES as u64 / 8).rev();
            limbs
                .flat_map(move |i| (i * 3 + kind).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes())
                .collect()
        };
        let mut numbers: [Vec<u8>; 3] = [1, 2, 3].map(number);
        numbers[0][BYTES - 1] |= 1;
        numbers[0][0] |= 0x80;
        numbers[1][0] &= 0x7f;
        numbers[2][0] |= 0x80;
        Self(numbers)
    }
}

fn ours(engine: &str, numbers: &Numbers, times: usize) -> Result<(), String> {
    let engine = engine.parse::<Engine>().map_err(|error| error.to_string())?;
    if engine == Engine::Rsaz && !engine.uses_vectors() {
        return Err("the processor lacks AVX2 or BMI2".into());
    }
    let [modulus, base, exponent] = &numbers.0;
    let modulus = Modulus::new(modulus).map_err(|error| error.to_string())?;
    let modulus = modulus.with_engine(engine).map_err(|error| error.to_string())?;
    for _ in 0..times {
        black_box(modulus.pow(black_box(base), black_box(exponent)));
    }
    Ok(())
}

fn openssl(numbers: &Numbers, times: usize) -> Result<(), String> {
    let [modulus, base, exponent] = &numbers.0;
    let openssl = OpenSsl::load().map_err(|missing| missing.why().to_owned())?;
    let mut power = openssl.power(base, exponent, modulus).map_err(|error| error.to_string())?;
    for _ in 0..times {
        power.compute().map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn run(contestant: &str, times: usize) -> Result<(), String> {
    match contestant {
        "openssl" => openssl(&Numbers::new(), times),
        "openssl-version" => {
            let openssl = OpenSsl::load().map_err(|missing| missing.why().to_owned())?;
            println!("{}", openssl.version());
            Ok(())
        }
        engine => ours(engine, &Numbers::new(), times),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match &arguments[..] {
        [contestant, times] => times.parse().ok().map(|times| (contestant, times)),
        _ => None,
    };
    let Some((contestant, times)) = parsed else {
        eprintln!("usage: instructions CONTESTANT TIMES");
        return ExitCode::from(2);
    };
    match run(contestant, times) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}
