//! The whole program, run like by a user: every command, every exit code, good and bad input.

mod decrypt;
mod demo;
mod info;
mod interruption;
mod key_folder;
mod keygen;
mod keys;
mod lost;
mod modexp;
mod names;
mod output;
mod passwords;
mod prime;
mod run;
mod sign;
mod speed;
mod stream;
mod terminal;
mod usage;
mod verify;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_zariz");
