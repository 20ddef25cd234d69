//! The vectors of RFC 9474 and RFC 9578: with their salts and blinds, which callers cannot choose.

use num_bigint::BigUint;
use serde_json::Value;

use super::*;
use crate::rsa::{self, PrimeComponents};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/blind.json")).expect("JSON")
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().expect("a text");
    assert_eq!(hex.len() % 2, 0, "{hex}");
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal")).collect()
}

/// Blinds with the salt and inverse of a vector, signs, finalizes and verifies.
fn check(what: &str, key: &PrivateKey, prepared: &[u8], vector: &Value) {
    let [salt, inverse, blinded_message, blind_signature, signature] =
        ["salt", "inv", "blinded_msg", "blind_sig", "sig"].map(|name| bytes(&vector[name]));
    let public = key.public_key();
    let n = BigUint::from_bytes_be(&public.n());
    let blind = BigUint::from_bytes_be(&inverse).modinv(&n).expect("an inverse").to_bytes_be();
    let encoded = public.encode(prepared, &salt).expect("encoded");
    let blinded =
        public.blind_with(&[Ok((encoded, zariz_kernels::limbs::from_be_bytes(&blind)))]).swap_remove(0);
    let blinded = blinded.expect("blinded");
    assert_eq!(blinded.message, blinded_message, "{what}: blinded");
    assert_eq!(blinded.inverse.as_bytes(), inverse, "{what}: inverse");
    assert_eq!(key.blind_sign(&blinded_message).as_ref(), Ok(&blind_signature), "{what}: blind signature");
    let inverse = Inverse::from_bytes(&inverse);
    assert_eq!(
        public.finalize(prepared, &blind_signature, &inverse).as_ref(),
        Ok(&signature),
        "{what}: signature"
    );
    assert_eq!(public.verify(prepared, &signature), Ok(()), "{what}");
}

#[test]
fn vectors_of_the_rfc() {
    let rfc = &vectors()["rfc9474"];
    let [n, e, d, p, q] = ["n", "e", "d", "p", "q"].map(|name| bytes(&rfc["key"][name]));
    let numbers = PrimeComponents { n: &n, e: &e, d: &d, p: &p, q: &q };
    let key = rsa::PrivateKey::from_primes(&numbers).expect("a key");
    let mut seen = Vec::new();
    for vector in rfc["vectors"].as_array().expect("a list") {
        let variant: Variant = vector["name"].as_str().expect("a name").parse().expect("a variant");
        let [message, prefix] = ["msg", "msg_prefix"].map(|name| bytes(&vector[name]));
        let prepared = [&prefix[..], &message].concat();
        assert_eq!(variant.message(&prepared), Some(&message[..]), "{variant}");
        check(variant.name(), &PrivateKey::new(variant, &key).expect("a key"), &prepared, vector);
        seen.push(variant);
    }
    assert!(Variant::ALL.iter().all(|variant| seen.contains(variant)), "{seen:?}");
}

#[test]
fn vector_of_privacy_pass() {
    let vector = &vectors()["rfc9578"];
    let key = rsa::PrivateKey::parse(vector["private_key"].as_str().expect("PEM").as_bytes()).expect("a key");
    let variant = Variant::PssDeterministic;
    let key = PrivateKey::new(variant, &key).expect("a key");
    let spki = bytes(&vector["public_key"]);
    assert_eq!(key.public_key().to_der(), Ok(spki.clone()));
    assert_eq!(PublicKey::parse(variant, &spki).as_ref(), Ok(key.public_key()));
    // The end of a token's input is the SHA-256 of its key.
    let input = bytes(&vector["token_input"]);
    assert!(input.ends_with(&rsa::Hash::Sha256.digest(&[&spki])));
    check("a token", &key, &input, vector);
}

/// What an honest key never shows: blinds and messages that share a factor with the modulus.
#[test]
fn numbers_without_an_inverse_are_refused_alone() {
    let p: Vec<u8> = (0..16).flat_map(|_| [0xff, 0x23, 0x45, 0x67]).chain([0xff; 64]).collect();
    let n = BigUint::from_bytes_be(&p) * 3u8;
    let key = rsa::PublicKey::from_components(&n.to_bytes_be(), &[3]).expect("a key");
    let key = PublicKey::new(Variant::PssZeroDeterministic, &key).expect("a key");
    let number = |value: u64| {
        let mut number = zariz_kernels::limbs::zero(key.key.modulus().limbs().len());
        number[0] = value;
        number
    };
    let pairs =
        [(5, 7), (5, 3), (6, 7), (9, 3), (7, 5)].map(|(message, blind)| Ok((number(message), number(blind))));
    let [good, blinding, message, both, other, random] = [&pairs[..], &[Err(Error::Random)]]
        .concat()
        .try_into()
        .map(|all: [_; 6]| key.blind_with(&all))
        .map_or_else(|_| panic!("six pairs"), |results| <[_; 6]>::try_from(results).expect("six results"));
    for (result, blind, expected) in [(good, 7u8, 5u8), (other, 5, 7)] {
        let Blinded { message, inverse } = result.expect("blinded");
        assert_eq!(BigUint::from_bytes_be(inverse.as_bytes()) * blind % &n, BigUint::from(1u8));
        assert_eq!(BigUint::from_bytes_be(&message), BigUint::from(expected) * BigUint::from(blind).pow(3));
    }
    assert_eq!(blinding.err(), Some(Error::Blinding));
    assert_eq!(message.err(), Some(Error::InvalidInput));
    assert_eq!(both.err(), Some(Error::Blinding));
    assert_eq!(random.err(), Some(Error::Random));
}
