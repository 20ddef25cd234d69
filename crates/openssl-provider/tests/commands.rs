//! Debian's `openssl` program on our provider, chosen by options or by the configuration alone. What it makes is the same
//! as what OpenSSL's default provider makes, or is accepted by that; and each command's counters say that it was ours.
#![cfg(target_os = "linux")]

#[path = "common/module.rs"]
#[allow(dead_code)] // each program has its own needs
mod module;

#[path = "commands/certificates.rs"]
mod certificates;
#[path = "commands/ciphers.rs"]
mod ciphers;
#[path = "commands/keys.rs"]
mod keys;
#[path = "commands/mail.rs"]
mod mail;
#[path = "commands/run.rs"]
mod run;
#[path = "commands/settings.rs"]
mod settings;
#[path = "commands/signatures.rs"]
mod signatures;
#[path = "commands/speed.rs"]
mod speed;
#[path = "commands/tls.rs"]
mod tls;
