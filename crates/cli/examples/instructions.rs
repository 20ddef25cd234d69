//! Does one thing a number of times, for its instructions to be counted: `instructions CONTESTANT TIMES`.
//!
//! The thing is the paper's: a power modulo a number of 1024 bits in constant time, with an exponent of as many bits. Numbers are the
//! same in every run. `cargo xtask instructions` counts twice, with more and fewer times, and takes the difference.

use std::hint::black_box;
use std::process::ExitCode;

use zariz_kernels::pow::{Power, pow};
use zariz_kernels::rsaz::{self, Quotients, Rsaz, WideMachine};
use zariz_kernels::{limbs, scalar};
use zariz_peers::OpenSsl;

const BITS: usize = 1024;

/// Modulus, base and exponent.
struct Numbers([Vec<u64>; 3]);

impl Numbers {
    fn new() -> Self {
        let number = |kind: u64| {
            (1..=BITS as u64 / 64).map(move |i| (i * 3 + kind).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
        };
        let mut numbers: [Vec<u64>; 3] = [1, 2, 3].map(number);
        let top = BITS / 64 - 1;
        numbers[0][0] |= 1;
        numbers[0][top] |= 1 << 63;
        numbers[1][top] >>= 1;
        numbers[2][top] |= 1 << 63;
        Self(numbers)
    }

    fn power<'a, C>(&'a self, modulus: &'a C) -> [Power<'a, C>; 1] {
        let [_, base, exponent] = &self.0;
        [Power { modulus, base, base_bits: BITS, exponent, exponent_bits: BITS }]
    }
}

fn wide<W: WideMachine>(w: W, quotients: Quotients, numbers: &Numbers, times: usize) {
    let constants = rsaz::constants(&numbers.0[0]);
    for _ in 0..times {
        black_box(pow(Rsaz::with_quotients(w, &constants, quotients), black_box(&numbers.power(&constants))));
    }
}

fn alone<S: scalar::Scalar>(machine: S, numbers: &Numbers, times: usize) {
    let constants = scalar::Constants::new(&numbers.0[0], S::STEP);
    for _ in 0..times {
        black_box(pow(scalar::Domain::new(machine, &constants), black_box(&numbers.power(&constants))));
    }
}

fn openssl(numbers: &Numbers, times: usize) -> Result<(), String> {
    let openssl = OpenSsl::load().map_err(|missing| missing.why().to_owned())?;
    let bytes = |number: &Vec<u64>| {
        let mut out = vec![0; BITS / 8];
        limbs::to_be_bytes(number, &mut out);
        out
    };
    let [modulus, base, exponent] = &numbers.0;
    let power = openssl.power(&bytes(base), &bytes(exponent), &bytes(modulus));
    let mut power = power.map_err(|error| error.to_string())?;
    for _ in 0..times {
        power.compute().map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// What does it, or `None` where the processor lacks the instructions.
fn run(contestant: &str, times: usize) -> Result<(), String> {
    let numbers = Numbers::new();
    match contestant {
        "rsaz-portable" => wide(zariz_machines::RsazPortable::new(), Quotients::Friendly, &numbers, times),
        "scalar-portable" => alone(zariz_machines::ScalarPortable::new(), &numbers, times),
        "openssl" => return openssl(&numbers, times),
        "openssl-version" => {
            let openssl = OpenSsl::load().map_err(|missing| missing.why().to_owned())?;
            println!("{}", openssl.version());
        }
        #[cfg(target_arch = "x86_64")]
        "rsaz-chained" | "rsaz-friendly" => {
            let w = zariz_machines::RsazAvx2::new().ok_or("the processor lacks AVX2 or BMI2")?;
            let quotients = if contestant == "rsaz-chained" { Quotients::Chained } else { Quotients::Friendly };
            wide(w, quotients, &numbers, times);
        }
        #[cfg(target_arch = "x86_64")]
        "scalar-adx" => {
            let machine = zariz_machines::ScalarAdx::new().ok_or("the processor lacks BMI2 or ADX")?;
            alone(machine, &numbers, times);
        }
        _ => return Err(format!("no such contestant: {contestant}")),
    }
    Ok(())
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
