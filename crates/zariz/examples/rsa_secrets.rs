//! Shows whether a branch or an address of RSA depends on a secret. Runs under valgrind's memcheck, to which
//! all private numbers of a key, and the random numbers that blind operations, are undefined.
//!
//! Run by `cargo xtask test secrets`. What the time does reveal is in `src/declassify.rs`: each decision
//! there must be made here at least once.

use zariz::rsa::blind::{self, Variant};
use zariz::rsa::hazmat::oaep;
use zariz::rsa::hazmat::pkcs1v15::{decode_message, encode_message};
use zariz::rsa::hazmat::premaster;
use zariz::rsa::hazmat::primitive::{PrivateJob, PublicJob, private_many, public_many_vartime};
use zariz::rsa::{
    Algorithm, Components, CrtComponents, Error, Hash, Mgf, Padding, PrimeComponents, PrivateKey,
};
use zariz::{Dispatch, Engine, declassify};
use zariz_kernels::limbs::{self, Limbs};
use zariz_machines::memcheck;

const MESSAGE: &[u8] = b"a message";

/// A key's numbers, the private ones secret.
fn secret(numbers: &Components) -> Components {
    let mut numbers = numbers.clone();
    let Components { d, p, q, dp, dq, qinv, .. } = &mut numbers;
    [d, p, q, dp, dq, qinv].into_iter().for_each(|number| memcheck::secret(number));
    numbers
}

/// What a caller sees of a result.
fn seen<B: AsMut<[u8]>>(mut result: Result<B, Error>) -> Result<B, Error> {
    if let Ok(bytes) = &mut result {
        memcheck::publish(bytes.as_mut());
    }
    result
}

/// Ciphertexts of blocks with good and bad paddings of PKCS#1 v1.5, and whether they are good.
fn pkcs1_blocks(size: usize) -> Vec<(Vec<u8>, bool)> {
    let good = encode_message(MESSAGE, size).expect("room").to_vec();
    let changed = |at: usize, byte: u8| {
        let mut block = good.clone();
        block[at] = byte;
        (block, false)
    };
    let separator = size - MESSAGE.len() - 1;
    let bad = [changed(0, 1), changed(1, 1), changed(5, 0), changed(separator, 1)];
    [(good.clone(), true)].into_iter().chain(bad).collect()
}

/// Encrypts a block as it is.
fn encrypted(key: &PrivateKey, block: &[u8]) -> Vec<u8> {
    let job = PublicJob { key: key.public_key(), number: block };
    public_many_vartime(&[job]).swap_remove(0).expect("below the modulus")
}

fn sign(key: &PrivateKey) {
    for algorithm in [Algorithm::RS256, Algorithm::PS256] {
        let messages: Vec<&[u8]> = vec![MESSAGE; 5];
        for signature in key.sign_batch(algorithm, &messages) {
            let signature = seen(signature).expect("a signature");
            key.public_key().verify(algorithm, MESSAGE, &signature).expect("a right signature");
        }
    }
}

fn decrypt(key: &PrivateKey) {
    for (block, is_good) in pkcs1_blocks(key.size()) {
        let ciphertext = encrypted(key, &block);
        let message = seen(key.decrypt(&Padding::Pkcs1v15, &ciphertext)).expect("never an error");
        assert_eq!(message[..] == *MESSAGE, is_good, "implicit rejection");
        // What a provider for OpenSSL does.
        let job = PrivateJob { key, number: &ciphertext };
        let opened = private_many(&[job]).swap_remove(0).expect("a block");
        let substitute = key.implicit_rejection(&ciphertext).expect("as long as the key");
        assert_eq!(seen(decode_message(&opened, &substitute)).expect("a message"), message);
        let mut secret = premaster::decode(&opened, 0x0303, Some(0x0302)).expect("long enough");
        memcheck::publish(&mut secret[..]);
    }
    let (hash, mgf) = (Hash::Sha256, Mgf::Mgf1(Hash::Sha256));
    let encode = |label| oaep::encode(hash, mgf, label, MESSAGE, key.size()).expect("room");
    let good = encode(b"");
    let mut first = good.clone();
    first[0] = 1;
    let mut last = good.clone();
    last[key.size() - 1] ^= 1;
    let mut zeros = good.clone();
    zeros.fill(0);
    for (block, expected) in [
        (&good, Ok(MESSAGE)),
        (&encode(b"another label"), Err(Error::Decryption)),
        (&first, Err(Error::Decryption)),
        (&last, Err(Error::Decryption)),
        (&zeros, Err(Error::Decryption)),
    ] {
        let message = seen(key.decrypt(&Padding::oaep(hash), &encrypted(key, block)));
        assert_eq!(message.as_ref().map(|message| &message[..]).map_err(|error| *error), expected);
    }
}

/// A blind signature: the message and what the client draws are secret until the signature is out.
fn blind(key: &PrivateKey) {
    let server = blind::PrivateKey::new(Variant::PssRandomized, key).expect("a key");
    let client = server.public_key();
    let mut prepared = vec![client.variant().prepare(MESSAGE).expect("prepared"); 5];
    prepared.iter_mut().for_each(|message| memcheck::secret(message));
    let messages: Vec<&[u8]> = prepared.iter().map(|message| &message[..]).collect();
    let blinded = client.blind_batch(&messages).into_iter().map(|blinded| {
        let mut blinded = blinded.expect("blinded");
        memcheck::publish(&mut blinded.message);
        blinded
    });
    let blinded: Vec<_> = blinded.collect();
    prepared.iter_mut().for_each(|message| memcheck::publish(message));
    for (prepared, blinded) in prepared.iter().zip(&blinded) {
        let mut answer = server.blind_sign(&blinded.message).expect("an answer");
        memcheck::publish(&mut answer);
        let signature = client.finalize(prepared, &answer, &blinded.inverse).expect("a signature");
        client.verify(prepared, &signature).expect("a right signature");
    }
}

/// Keys that are read from DER and PEM, and written as DER. (A dependency writes PEM, and checks then that
/// its text is UTF-8, in a table.)
///
/// Of a private number in DER, the first byte stays public: decoders look at its sign, and whether it is
/// zero.
fn files(numbers: &Components) {
    let key = PrivateKey::from_components(numbers).expect("a key");
    let mut der = key.to_der().expect("encoded");
    let Components { d, p, q, dp, dq, qinv, .. } = numbers;
    let place = |number: &[u8]| {
        let at = der.windows(number.len()).position(|window| window == number).expect("it is in there");
        at + 1..at + number.len()
    };
    let secrets = [d, p, q, dp, dq, qinv].map(|number| place(number));
    secrets.iter().for_each(|range| memcheck::secret(&mut der[range.clone()]));
    let key = PrivateKey::parse(&der).expect("a key");
    let mut written = key.to_der().expect("encoded");
    memcheck::publish(&mut written);
    memcheck::publish(&mut der);
    assert!(written == der, "another key was written");

    // In base64, a character stays public if its group of four has a bit of a public byte, and so do the last
    // groups, which may have padding.
    let plain = PrivateKey::from_components(numbers).expect("a key");
    let mut pem = plain.to_pem().expect("encoded").as_bytes().to_vec();
    let start = pem.iter().position(|&byte| byte == b'\n').expect("lines") + 1;
    for group in 0..der.len() / 3 - 2 {
        let is_secret = |byte: usize| secrets.iter().any(|range| range.contains(&byte));
        if (3 * group..3 * group + 3).all(is_secret) {
            let at = start + 4 * group + 4 * group / 64;
            memcheck::secret(&mut pem[at..at + 4]);
        }
    }
    sign(&PrivateKey::parse(&pem).expect("a key"));
}

/// A key whose numbers fit together around a composite: its results are wrong, computed again, and withheld.
fn composite(numbers: &Components) {
    const E: &[u64] = &[65_537];
    let minus_one = |x: &[u64]| Limbs::new([&[x[0] - 1], &x[1..]].concat());
    let [mut p, q] = [&numbers.p, &numbers.q].map(|number| limbs::from_be_bytes(number));
    let fits = |p: &[u64]| limbs::equal(&limbs::gcd(&minus_one(p), E), &[1]);
    while !(limbs::equal(&limbs::rem(&p, &[3]), &[]) && fits(&p)) {
        limbs::add_assign(&mut p, &[2]);
    }
    // d = (1 + k·λ)/e with k = −λ^(−1) mod e.
    let lambda = limbs::mul(&minus_one(&p), &minus_one(&q));
    let (_one, inverse) = limbs::gcd_inverse(&limbs::rem(&lambda, E), E);
    let mut product = limbs::mul(&[E[0] - inverse[0]], &lambda);
    limbs::add_assign(&mut product, &[1]);
    let d = limbs::div_exact(&product, E);
    let bytes = |number: &[u64]| {
        let mut out = vec![0; 8 * number.len()];
        limbs::to_be_bytes(number, &mut out);
        out
    };
    let mut wrong = numbers.clone();
    wrong.n = bytes(&limbs::mul(&p, &q));
    *wrong.d = bytes(&d);
    *wrong.p = bytes(&p);
    *wrong.dp = bytes(&limbs::rem(&d, &minus_one(&p)));
    *wrong.dq = bytes(&limbs::rem(&d, &minus_one(&q)));
    *wrong.qinv = bytes(&limbs::gcd_inverse(&limbs::rem(&q, &p), &p).1);
    let key = PrivateKey::from_components(&secret(&wrong)).expect("numbers that fit together");
    assert_eq!(key.sign(Algorithm::RS256, MESSAGE), Err(Error::InvalidKey));
}

/// Keys that are refused.
fn damaged(numbers: &Components) {
    let change: [fn(&mut Components); 12] = [
        |k| k.d.fill(0),
        |k| k.d.fill(0xff),
        |k| k.d[0] ^= 1,
        |k| k.p.fill(0),
        |k| *k.p.last_mut().expect("a number") ^= 1,
        |k| k.q[5] ^= 1,
        |k| k.q = k.p.clone(),
        |k| k.dp.fill(0),
        |k| *k.dp.last_mut().expect("a number") ^= 2,
        |k| *k.dq = [&[1; 16], &k.dq[..]].concat(),
        |k| k.qinv.fill(0xff),
        |k| *k.qinv.last_mut().expect("a number") ^= 2,
    ];
    for (i, change) in change.into_iter().enumerate() {
        let mut numbers = numbers.clone();
        change(&mut numbers);
        assert!(PrivateKey::from_components(&secret(&numbers)).is_err(), "damage {i}");
    }
}

fn dispatches() -> impl Iterator<Item = Dispatch> {
    let engines = Engine::ALL.iter().copied().filter(|engine| engine.is_available()).map(Dispatch::Only);
    engines.chain([Dispatch::Auto])
}

/// A leak.
fn planted(secret: u8) {
    if secret & 8 == 0 {
        println!("leaked");
    }
}

fn main() {
    let numbers = PrivateKey::generate(1024).expect("a key").components();
    // What must be found: branches that depend on a number of the key, and on a signature before it is out.
    let load = || PrivateKey::from_components(&secret(&numbers)).expect("a key");
    match std::env::args().nth(1).as_deref() {
        Some("leak") => return planted(load().components().d[50]),
        Some("leak-signature") => {
            return planted(load().sign(Algorithm::RS256, MESSAGE).expect("a signature")[50]);
        }
        _ => {}
    }
    for dispatch in dispatches() {
        let key = load().with_engine(dispatch).expect("available");
        sign(&key);
        decrypt(&key);
        blind(&key);
        println!("{dispatch}: signatures, decryption, blind signatures");
    }
    let key = load();
    key.validate().expect("primes");
    let Components { n, e, d, p, q, dp, dq, qinv } = &secret(&numbers);
    sign(&PrivateKey::from_primes(&PrimeComponents { n, e, d, p, q }).expect("a key"));
    sign(&PrivateKey::from_crt(&CrtComponents { p, q, dp, dq, qinv }).expect("a key"));
    sign(&PrivateKey::from_exponents(n, e, d).expect("a key"));
    files(&numbers);
    composite(&numbers);
    damaged(&numbers);
    println!("keys: loaded, validated, written, damaged, composite");
    let counts = declassify::counts();
    let count = |name| counts.get(name).copied().unwrap_or_default();
    declassify::ALL.iter().for_each(|name| println!("{:6} {name}", count(name)));
    assert!(declassify::ALL.iter().all(|name| count(name) > 0), "a decision was never made");
}
