//! TLS servers of Debian on the provider, under load on loopback: haproxy (asynchronous), nginx and apache2.
//!
//! Every connection is a full handshake, every answer is compared, and the provider's counters must say that
//! it made each signature. `ZARIZ_HANDSHAKES` is how many handshakes each load makes (2,000; the figures in
//! the documents are of 20,000). `ZARIZ_SUBJECT=default` runs the tests on OpenSSL's own code, to distinguish
//! a server's faults from ours.

mod apache;
#[path = "../common/counters.rs"]
mod counters;
mod cut;
mod haproxy;
mod identity;
mod load;
mod measure;
#[path = "../common/module.rs"]
mod module;
mod nginx;
mod page;
mod process;
mod provider;
mod random;
mod reload;
mod soak;
#[path = "../common/subject.rs"]
mod subject;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// One load at a time: tests of one program run in threads, and concurrent loads would disturb each other.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many handshakes a load makes.
fn handshakes() -> usize {
    let Ok(text) = std::env::var("ZARIZ_HANDSHAKES") else { return 2000 };
    text.parse().unwrap_or_else(|_| panic!("ZARIZ_HANDSHAKES is {text:?}, which is not a number"))
}
