//! One module for each command: its arguments and what it does.

pub mod decrypt;
pub mod demo;
pub mod info;
pub mod keygen;
pub mod modexp;
pub mod papers;
pub mod sign;
pub mod speed;
pub mod verify;

use crate::args::Command;
use crate::exit::{Failure, Outcome};

/// Runs a command.
pub fn run(command: Command) -> Result<Outcome, Failure> {
    match command {
        Command::Sign(args) => sign::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Decrypt(args) => decrypt::run(&args),
        Command::Modexp(args) => modexp::run(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Speed(args) => speed::run(&args),
        Command::Papers(args) => papers::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Demo(args) => demo::run(&args),
    }
}
