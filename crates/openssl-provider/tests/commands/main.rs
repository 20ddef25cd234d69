//! Debian's `openssl` program on zariz, selected by options or only by the configuration. Its results equal
//! those of OpenSSL's default provider, or that accepts them; and each command's counters say that zariz
//! computed them.
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
