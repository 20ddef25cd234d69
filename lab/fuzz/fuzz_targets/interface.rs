#![cfg_attr(fuzzing, no_main)]
//! See `zariz_fuzz::interface`.

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(init: zariz_fuzz::write_seeds("interface"), |data: &[u8]| zariz_fuzz::interface::run(data));

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("run by cargo-fuzz alone: cargo xtask fuzz");
}
