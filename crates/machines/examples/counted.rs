//! Raises to one power a number of times, for its instructions to be counted:
//! `counted rsaz-chained|scalar-adx TIMES`.
//!
//! It is the power of the example `instructions` in `zariz-papers`, by what no engine of `zariz` offers:
//! quotients as in the paper on RSAZ, and MULX, ADCX and ADOX where the processor does not name them, as
//! valgrind's. Run by `cargo xtask instructions`.

use std::hint::black_box;
use std::process::ExitCode;

use zariz_kernels::OddModulus;
use zariz_kernels::pow::{Power, pow};
use zariz_kernels::rsaz::{self, Quotients};
use zariz_kernels::scalar::{self, Kernels as _};

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
        numbers[1][top] &= !(1 << 63);
        numbers[2][top] |= 1 << 63;
        Self(numbers)
    }

    fn modulus(&self) -> OddModulus {
        OddModulus::new(&self.0[0]).expect("an odd number above 1")
    }

    fn power<'a, C>(&'a self, modulus: &'a C) -> [Power<'a, C>; 1] {
        let [_, base, exponent] = &self.0;
        [Power { modulus, base, base_bits: BITS, exponent, exponent_bits: BITS }]
    }
}

fn chained<W: rsaz::Kernels>(w: W, numbers: &Numbers, times: usize) {
    let constants = rsaz::constants(&numbers.modulus());
    for _ in 0..times {
        black_box(pow(
            &mut rsaz::Context::with_quotients(w, &constants, Quotients::Chained),
            black_box(&numbers.power(&constants)),
        ));
    }
}

fn limbwise<S: scalar::Kernels>(machine: S, numbers: &Numbers, times: usize) {
    let constants = scalar::Constants::new(&numbers.modulus(), S::STEP);
    let power =
        |machine| pow(&mut scalar::Context::new(machine, &constants), black_box(&numbers.power(&constants)));
    for _ in 0..times {
        black_box(power(machine));
    }
    // Whether the instructions are what they are taken for: by other code.
    let portable = zariz_machines::scalar::Portable::new();
    let constants = scalar::Constants::new(&numbers.modulus(), zariz_machines::scalar::Portable::STEP);
    let expected = pow(&mut scalar::Context::new(portable, &constants), &numbers.power(&constants));
    assert!(power(machine)[0] == expected[0], "the machine computes wrong numbers");
}

#[cfg(target_arch = "x86_64")]
fn run(contestant: &str, times: usize) -> Result<(), &'static str> {
    let numbers = Numbers::new();
    match contestant {
        "rsaz-chained" => {
            chained(
                zariz_machines::rsaz::Avx2::new().ok_or("the processor lacks AVX2 or BMI2")?,
                &numbers,
                times,
            );
        }
        "scalar-adx" => {
            // Valgrind runs ADCX and ADOX, but its processor does not name them.
            if !is_x86_feature_detected!("bmi2") {
                return Err("the processor lacks BMI2");
            }
            // SAFETY: BMI2 was found; the caller of this program makes sure that the processor, or valgrind,
            // has ADX.
            limbwise(unsafe { zariz_machines::scalar::Adx::assume() }, &numbers, times);
        }
        _ => return Err("there is no such contestant"),
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn run(_: &str, _: usize) -> Result<(), &'static str> {
    Err("x86-64 is needed")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match &arguments[..] {
        [contestant, times] => times.parse().ok().map(|times| (contestant, times)),
        _ => None,
    };
    let Some((contestant, times)) = parsed else {
        eprintln!("usage: counted CONTESTANT TIMES");
        return ExitCode::from(2);
    };
    match run(contestant, times) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("counted: {error}");
            ExitCode::FAILURE
        }
    }
}
