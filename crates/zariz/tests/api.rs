//! What callers rely on of the types: they can be shared between threads, and errors can be boxed.

use std::error::Error;

use zariz::{
    Dispatch, Engine, EngineError, FixedBase, FixedBaseError, InvertJob, Layout, Method, Modulus,
    ModulusError, MulJob, MultiPowError, MultiPowJob, PowJob, Residues, ResiduesError, UnknownMethod,
};
use zeroize::ZeroizeOnDrop;

fn shared<T: Send + Sync>() {}
fn wiped<T: ZeroizeOnDrop>() {}
fn error<T: Error + Send + Sync + Clone + Eq + 'static>() {}

#[test]
fn types_are_shared_between_threads() {
    shared::<(Dispatch, Engine, Layout, Method, Modulus)>();
    shared::<(FixedBase, InvertJob, MulJob, MultiPowJob, PowJob, Residues)>();
    wiped::<Modulus>();
    error::<EngineError>();
    error::<FixedBaseError>();
    error::<ModulusError>();
    error::<MultiPowError>();
    error::<ResiduesError>();
    error::<UnknownMethod>();
}

#[cfg(feature = "papers")]
#[test]
fn table_entries_are_shared_between_threads() {
    shared::<zariz::TableEntry>();
}

#[cfg(feature = "primes")]
#[test]
fn types_of_searches_can_be_sent_to_threads() {
    fn sent<T: Send>() {}
    shared::<zariz::primes::Search>();
    sent::<zariz::primes::Primes>();
    error::<zariz::primes::PrimeError>();
}

#[cfg(feature = "keygen")]
#[test]
fn types_of_new_keys_can_be_sent_to_threads() {
    fn sent<T: Send>() {}
    shared::<(zariz::rsa::KeyGenerator, zariz::rsa::KeyMethod)>();
    sent::<zariz::rsa::Keys>();
}

#[cfg(feature = "rsa")]
#[test]
fn types_of_rsa_are_shared_between_threads() {
    use zariz::rsa::hazmat::pkcs1v15::ImplicitRejection;
    use zariz::rsa::hazmat::primitive::{PrivateJob, PublicJob};
    use zariz::rsa::*;

    shared::<(PrivateKey, PublicKey, SigningKey, VerifyingKey, Signature, Components)>();
    shared::<(Algorithm, Padding, Hash, Mgf, Hasher, Usage, PssParameters)>();
    shared::<(Message, SignJob, VerifyJob, DecryptJob, Signed, PrivateJob, PublicJob, ImplicitRejection)>();
    error::<KeyError>();
    error::<zariz::rsa::Error>();
    error::<UnknownAlgorithm>();

    shared::<(blind::PrivateKey, blind::PublicKey, blind::Variant, blind::Blinded, blind::Inverse)>();
    shared::<(blind::BlindSignJob, blind::FinalizeJob, blind::Signed)>();
    error::<blind::Error>();
    error::<blind::UnknownVariant>();

    wiped::<PrivateKey>();
    wiped::<SigningKey>();
    wiped::<Components>();
    wiped::<ImplicitRejection>();
    wiped::<blind::PrivateKey>();
    wiped::<blind::Inverse>();
}
