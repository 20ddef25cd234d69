#![cfg_attr(fuzzing, no_main)]
//! See `zariz_fuzz::lines`.

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(init: zariz_fuzz::write_seeds("lines"), |data: &[u8]| zariz_fuzz::lines::run(data));

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("run by cargo-fuzz alone: cargo xtask fuzz");
}
