//! The unit tests of small modules. They are compiled here, beside the library: the library itself compiled
//! for tests would be every machine's code a second time.
#![cfg(target_arch = "x86_64")]
#![allow(dead_code, reason = "the tests use parts of the modules")]

#[path = "../src/cpu.rs"]
mod cpu;
#[path = "../src/cycles.rs"]
mod cycles;
#[path = "../src/hidden.rs"]
mod hidden;
#[path = "../src/memcheck.rs"]
mod memcheck;
#[path = "../src/mxcsr.rs"]
mod mxcsr;
#[path = "../src/registers.rs"]
mod registers;
