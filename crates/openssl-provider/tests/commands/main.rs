//! Debian's `openssl` program on our provider, chosen by options or by the configuration alone. What it makes
//! is the same as what OpenSSL's default provider makes, or is accepted by that; and each command's counters
//! say that it was ours.
#![cfg(target_os = "linux")]

mod certificates;
mod ciphers;
mod keys;
mod mail;
mod run;
mod settings;
mod signatures;
mod speed;
mod tls;

#[path = "../common/counters.rs"]
mod counters;
#[path = "../common/module.rs"]
mod module;
