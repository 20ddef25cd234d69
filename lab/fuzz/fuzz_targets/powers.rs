#![cfg_attr(fuzzing, no_main)]
//! See `zariz_fuzz::powers`.

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(init: zariz_fuzz::write_seeds("powers"), |data: &[u8]| zariz_fuzz::powers::run(data));

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("run by cargo-fuzz alone: cargo xtask fuzz");
}
