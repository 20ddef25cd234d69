//! Measures blocks, products, methods and powers on every machine of this processor.
//!
//! `cargo run --release -p zariz-machines --features papers --example measure -- SUBJECT…`; see [`USAGE`].

mod arguments;
mod batch;
#[cfg(feature = "papers")]
mod carry;
mod methods;
mod pair;
mod rsaz;
mod scalar;
mod stopwatch;

use arguments::Arguments;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: measure SUBJECT [BITS…] [NAME…]

Times are the best of many short rounds. BITS are lengths of moduli; NAME is a machine, or a method where methods are
measured. Without them, all are measured.

Subjects:
  blocks    single blocks of batches, and their share of the limit of the ports that multiply
  batch     products and squares of batches, and their share of that limit
  methods   products, squares and powers by every method, alternating in one process, and their ratio to AMM's
  pair      one or two numbers laid across vectors
  rsaz      one number by RSAZ
  scalar    one number in limbs
  carry     one number by carry chains (with the feature `papers`)
";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let subject = words.next().unwrap_or_default();
    let arguments = Arguments::new(words);
    match subject.as_str() {
        "blocks" => batch::measure_blocks(&arguments),
        "batch" => batch::measure(&arguments),
        "methods" => methods::measure(&arguments),
        "pair" => pair::measure(&arguments),
        "rsaz" => rsaz::measure(&arguments),
        "scalar" => scalar::measure(&arguments),
        #[cfg(feature = "papers")]
        "carry" => carry::measure(&arguments),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
