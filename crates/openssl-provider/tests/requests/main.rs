//! The library's queue under callers that give up, come late, panic and fork: no request is lost, none is
//! answered twice or wrongly, and memory does not grow. One soak has a computation that returns numbers, the
//! other real keys through `Batcher`s, whose batches fill the lanes. The callers' results must agree with the
//! queue's counters. Short here; `cargo xtask soak --requests N` is long.
//!
//! Data for children is on the heap: in a child, the C library reuses the stacks of the parent's other
//! threads. And no thread forks while another starts or ends: the standard library then holds a lock that
//! nobody would release in the child, where no thread could start. So both soaks are one test: the harness
//! would start and end a thread for each.

#[path = "../common/mod.rs"]
mod common;
mod numbers;
mod run;
mod signers;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Panics without a message from the hook.
fn meant_to() -> ! {
    resume_unwind(Box::new("meant to"))
}

/// Calls a function that is meant to panic.
fn panics(work: impl FnOnce()) {
    let message = catch_unwind(AssertUnwindSafe(work)).expect_err("a panic");
    assert_eq!(message.downcast_ref(), Some(&"meant to"), "another panic");
}

#[test]
fn callers_of_all_sorts() {
    numbers::soak_of_numbers();
    signers::soak_of_signatures_and_powers();
}
