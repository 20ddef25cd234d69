//! Debian's TLS servers on the provider, under load on loopback: haproxy (asynchronous), nginx and apache2.
//!
//! Every connection is a full handshake, every response is compared, and the provider's counters must say
//! that it made each signature. `ZARIZ_HANDSHAKES` is the number of handshakes in each load (800; the
//! figures in the documents are of 20,000). `ZARIZ_SUBJECT=default` runs the tests on OpenSSL's own code, to
//! tell a server's faults from zariz's.

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
#[path = "../common/random.rs"]
mod random;
mod reload;
mod soak;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Taken for each load: tests of one program run in threads, and concurrent loads would disturb each other.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many handshakes a load makes.
fn handshakes() -> usize {
    let Ok(text) = std::env::var("ZARIZ_HANDSHAKES") else { return 800 };
    text.parse().unwrap_or_else(|_| panic!("ZARIZ_HANDSHAKES is {text:?}, which is not a number"))
}
