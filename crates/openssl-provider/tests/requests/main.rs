//! The library's queue under callers who give up, come late, panic and fork: no request is lost, none is answered twice
//! or wrongly, and memory does not grow. With a computation that gives numbers back, and with real keys through
//! `Batcher`s, whose batches fill the lanes. What callers saw and what the queue counted must agree. Short here; `cargo
//! xtask soak --requests N` is long.
//!
//! What children use is on the heap: the C library gives the stacks of threads that a child does not have to its new
//! ones. And no thread forks while another thread starts or ends: the standard library holds a lock then, which nobody
//! would release in the child, and no thread could start there. So both soaks are one test: the harness would start and
//! end a thread for each.

#[path = "../common/mod.rs"]
mod common;
mod numbers;
mod run;
mod signers;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Panics quietly: the hook would print a message.
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
