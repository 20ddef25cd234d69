//! Keys to test with.

use super::ffi;
use super::key::Key;
use super::params::Params;
use super::world::{Side, World};

/// The private keys with which the program `zariz` measures.
pub const PEM_1024: &[u8] = include_bytes!("../../../cli/keys/bench-1024.pem");
pub const PEM_2048: &[u8] = include_bytes!("../../../cli/keys/bench-2048.pem");
pub const PEM_3072: &[u8] = include_bytes!("../../../cli/keys/bench-3072.pem");
pub const PEM_4096: &[u8] = include_bytes!("../../../cli/keys/bench-4096.pem");
pub const PEM_8192: &[u8] = include_bytes!("../../../cli/keys/bench-8192.pem");

/// The 2048-bit key in a provider. OpenSSL's decoders make keys of their own provider, whatever the property
/// query.
#[track_caller]
pub fn rsa_2048(world: &World, side: Side) -> Key<'_> {
    native(world, side, PEM_2048)
}

/// The key of a file in a provider.
#[track_caller]
pub fn native<'w>(world: &'w World, side: Side, pem: &[u8]) -> Key<'w> {
    let key = Key::pem(world, Side::Reference, pem).expect("the key loads").on(world, side);
    assert_eq!(key.provider(), side.provider());
    key
}

/// A new key, made by OpenSSL.
#[track_caller]
pub fn new(world: &World, settings: Params) -> Key<'_> {
    Key::generate(world, Side::Reference, &settings).expect("the default provider makes the key")
}

/// A kind of key: its name, the key in OpenSSL's own provider, and whether zariz computes with it.
pub struct Kind<'w> {
    pub name: &'static str,
    pub key: Key<'w>,
    pub accelerated: bool,
}

/// Keys of every kind.
pub fn kinds(world: &World) -> Vec<Kind<'_>> {
    let bits = |bits| Params::new().size("bits", bits);
    let pem = |pem| Key::pem(world, Side::Reference, pem).expect("the key loads");
    let kind = |name, key, accelerated| Kind { name, key, accelerated };
    let mut without_crt = pem(PEM_2048).numbers(ffi::KEYPAIR).expect("the numbers");
    without_crt.retain(|name, _| matches!(name.as_str(), "n" | "e" | "d"));
    let without_crt =
        Key::with_numbers(world, Side::Reference, ffi::KEYPAIR, &without_crt).expect("n, e and d");
    vec![
        kind("512 bits", new(world, bits(512)), false),
        kind("1023 bits", new(world, bits(1023)), false),
        kind("1024 bits", pem(PEM_1024), true),
        kind("1025 bits", new(world, bits(1025)), true),
        kind("2047 bits", new(world, bits(2047)), true),
        kind("2048 bits", pem(PEM_2048), true),
        kind("2048 bits, e = 3", new(world, bits(2048).number("e", &[3])), true),
        kind("3072 bits", pem(PEM_3072), true),
        kind("4096 bits", pem(PEM_4096), true),
        kind("three primes", new(world, bits(2048).size("primes", 3)), false),
        kind("n, e and d alone", without_crt, false),
    ]
}
