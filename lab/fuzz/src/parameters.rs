//! The provider's parameters: lists with any names, types and values, and keys of any numbers, through
//! OpenSSL.
//!
//! zariz writes no more than there is room for. What both it and OpenSSL's own code accept, gives equal
//! results.

use std::ffi::CString;
use std::sync::{Once, OnceLock};

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::evp::{self, Ctx, Key, Operation, Side, Value};
use crate::script::Script;
use crate::structure::{self, bytes, edit, one_of};

/// The target.
pub fn run(data: &[u8]) {
    // The provider holds back panics, so that they do not reach OpenSSL: here they end the run.
    static ABORTING: Once = Once::new();
    ABORTING.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            hook(info);
            if info.location().is_some_and(|place| !place.file().contains("src/parameters.rs")) {
                std::process::abort();
            }
        }));
    });
    // Bytes too few for a structure have none to test.
    let _ = structured(&mut Unstructured::new(data));
}

const NAMES: [&str; 20] = [
    "digest",
    "pad-mode",
    "saltlen",
    "mgf1-digest",
    "properties",
    "mgf1-properties",
    "digest-props",
    "oaep-label",
    "tls-client-version",
    "tls-negotiated-version",
    "implicit-rejection",
    "algorithm-id",
    "bits",
    "max-size",
    "security-bits",
    "default-digest",
    "n",
    "d",
    "rsa-factor1",
    "unknown",
];

/// Names of digests, paddings and salts, and what is none, between commas.
const WORDS: &str = "SHA1,SHA256,SHA2-512,SHA512-256,SHA3-256,SHAKE256,MD5,MD5-SHA1,RIPEMD160,MD4,MDC2,BLAKE2B-512,\
pkcs1,pss,oaep,oeap,none,x931,digest,auto,max,auto-digestmax,-1, 20 ,0,99999999999,provider=default,fips=yes,provider=zariz,";

const TYPES: [u32; 10] = [
    evp::UTF8_STRING,
    evp::UTF8_STRING,
    evp::INTEGER,
    evp::UNSIGNED,
    evp::OCTET_STRING,
    evp::UTF8_PTR,
    evp::OCTET_PTR,
    evp::REAL,
    0,
    77,
];
const NUMBERS: [i64; 18] = [-4, -3, -2, -1, 0, 1, 3, 4, 5, 6, 7, 8, 20, 32, 300, 0x303, i64::MAX, i64::MIN];
const SIZES: [usize; 8] = [4, 8, 1, 2, 3, 0, 9, 16];

fn value(u: &mut Unstructured) -> Result<Value> {
    let key = CString::new(one_of(u, &NAMES)?).unwrap_or_default();
    let data_type = one_of(u, &TYPES)?;
    let bytes = match u.int_in_range(0..=5)? {
        0 => bytes(u, 40)?,
        1 | 2 => {
            let words: Vec<&str> = WORDS.split(',').collect();
            one_of(u, &words)?.as_bytes().to_vec()
        }
        _ => {
            let (number, size) = (one_of(u, &NUMBERS)?, one_of(u, &SIZES)?);
            let sign = if number < 0 { 0xff } else { 0 };
            number.to_le_bytes().into_iter().chain(std::iter::repeat(sign)).take(size).collect()
        }
    };
    Ok(Value { key, data_type, bytes, absent: u.ratio(1, 32)? })
}

fn values(u: &mut Unstructured) -> Result<Vec<Value>> {
    (0..u.int_in_range(0..=3)?).map(|_| value(u)).collect()
}

/// Values of [`sensible`] lists.
const PADDINGS: [&str; 4] = ["pkcs1", "pss", "oaep", "none"];
const DIGESTS: [&str; 5] = ["SHA1", "SHA256", "SHA512", "SHA3-384", "MD5-SHA1"];
const SALTS: [&str; 5] = ["digest", "auto", "max", "0", "7"];
const LENGTHS: [usize; 12] = [32, 20, 64, 36, 48, 128, 256, 0, 1, 127, 129, 117];

/// Sensible lists for every operation, every parameter read and written, and imports of good keys.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let begin = || Script::default();
    let data = |script: Script, length: usize| script.one_of(&length, &LENGTHS).bytes(length, &[]).at(1, 3);
    for (i, operation) in Operation::ALL.iter().enumerate() {
        for padding in &PADDINGS {
            for (digest, length) in DIGESTS.iter().zip([20, 32, 64, 48, 36]) {
                // "none" needs a block as long as the key.
                let length = if *padding == "none" { 128 } else { length };
                let list = begin().int(0..=5, 1).at(0, 2).one_of(operation, &Operation::ALL).ratio(3, true);
                let list =
                    list.one_of(padding, &PADDINGS).ratio(3, true).one_of(digest, &DIGESTS).int(1..=3, 3);
                let list = match *padding {
                    "pss" => list.ratio(3, true).at(length % SALTS.len(), SALTS.len()),
                    _ => list.int(1..=3, 3),
                };
                out.push(data(list, length).unedited().0);
            }
        }
        for (key, selection) in evp::SELECTIONS.iter().enumerate() {
            let import = begin().int(0..=5, 0).int(0..=3, 0).one_of(selection, &evp::SELECTIONS);
            out.push(data(import.int(0..=3, 0).one_of(operation, &Operation::ALL), 128).0);
            // Begun without a list, and run: with all the room, and with none.
            let alone =
                begin().int(0..=5, 3).at(key, 3).at(i, Operation::ALL.len()).int(0..=3, 0).int(1..=5, 2);
            let alone =
                data(alone.int(0..=6, 6).ratio(2, false), 32).int(0..=6, 6).ratio(2, true).int(0..=300, 0);
            out.push(data(alone, 32).0);
        }
    }
    for name in &NAMES {
        let value = |data_type: u32| begin().one_of(name, &NAMES).one_of(&data_type, &TYPES);
        let number = |data_type| {
            value(data_type).int(0..=5, 3).at(4, NUMBERS.len()).at(1, SIZES.len()).ratio(32, false)
        };
        let room = |data_type| value(data_type).int(0..=5, 0).bytes(40, &[0; 40]).ratio(32, false);
        for value in
            [number(evp::INTEGER), number(evp::UNSIGNED), room(evp::UTF8_STRING), room(evp::OCTET_STRING)]
        {
            let alone =
                begin().int(0..=5, 3).at(0, 3).at(0, Operation::ALL.len()).int(0..=3, 0).int(1..=5, 3);
            // Of the context, of the key, and set.
            let steps = [2, 3, 1]
                .into_iter()
                .fold(alone, |script, step| script.int(0..=6, step).int(0..=3, 1).raw(&value.0));
            out.push(steps.0);
        }
    }
    for (name, words) in
        [("digest", 0..12), ("mgf1-digest", 0..12), ("pad-mode", 12..18), ("saltlen", 18..26)]
    {
        for word in words {
            let value = begin().one_of(&name, &NAMES).one_of(&evp::UTF8_STRING, &TYPES).int(0..=5, 1);
            let value = value.at(word, WORDS.split(',').count()).ratio(32, false);
            let alone = begin().int(0..=5, 3).at(0, 3).at(word % Operation::ALL.len(), Operation::ALL.len());
            out.push(alone.int(0..=3, 1).raw(&value.0).int(1..=5, 1).int(0..=6, 4).0);
        }
    }
    out
}

/// What a program would set: names with values of their types.
fn sensible(u: &mut Unstructured) -> Result<Vec<Value>> {
    let text = |key: &str, text: &str| Value {
        key: CString::new(key).unwrap_or_default(),
        data_type: evp::UTF8_STRING,
        bytes: text.into(),
        absent: false,
    };
    let mut out = Vec::new();
    if u.ratio(2, 3)? {
        out.push(text("pad-mode", one_of(u, &PADDINGS)?));
    }
    if u.ratio(2, 3)? {
        out.push(text("digest", one_of(u, &DIGESTS)?));
    }
    if u.ratio(1, 3)? {
        out.push(text("mgf1-digest", one_of(u, &["SHA1", "SHA256"])?));
    }
    if u.ratio(1, 3)? {
        out.push(text("saltlen", one_of(u, &SALTS)?));
    }
    Ok(out)
}

/// The fixed keys in both providers, whole and public.
fn keys() -> &'static Vec<[Key; 2]> {
    static KEYS: OnceLock<Vec<[Key; 2]>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let numbers = structure::keys().each_ref().map(|key| evp::numbers(&key.components()));
        let key = |numbers: &[Value], selection| {
            Side::BOTH.map(|side| Key::import(side, selection, numbers).expect("a good key"))
        };
        vec![
            key(&numbers[0], evp::SELECTIONS[0]),
            key(&numbers[0], evp::SELECTIONS[1]),
            key(&numbers[1], evp::SELECTIONS[0]),
        ]
    })
}

fn structured(u: &mut Unstructured) -> Result<()> {
    match u.int_in_range(0..=5)? {
        0 => import(u),
        1 | 2 => together(u),
        _ => alone(u),
    }
}

/// Any list, on zariz alone.
fn alone(u: &mut Unstructured) -> Result<()> {
    let [key, _] = &keys()[u.choose_index(keys().len())?];
    let mut ctx = Ctx::new(Side::Zariz, key);
    let mut operation = one_of(u, &Operation::ALL)?;
    ctx.begin(operation, &values(u)?);
    for _ in 0..u.int_in_range(1..=5)? {
        match u.int_in_range(0..=6)? {
            0 => {
                operation = one_of(u, &Operation::ALL)?;
                ctx.begin(operation, &values(u)?);
            }
            1 => {
                ctx.set(&values(u)?);
            }
            2 => {
                ctx.get(&values(u)?);
            }
            3 => {
                key.get(&values(u)?);
            }
            4 => {
                if let Some(copy) = ctx.duplicate() {
                    ctx = copy;
                }
            }
            5 => {
                let (signature, data) = (input(u)?, input(u)?);
                ctx.verify(&signature, &data);
            }
            _ => {
                let room = if u.ratio(1, 2)? { Some(u.int_in_range(0..=300)?) } else { None };
                ctx.run(operation, &input(u)?, room);
            }
        }
    }
    Ok(())
}

/// A digest, a block or a number.
fn input(u: &mut Unstructured) -> Result<Vec<u8>> {
    let length = one_of(u, &LENGTHS)?;
    let mut data = bytes(u, length)?;
    let fill = one_of(u, &[0, 1, 0xff])?;
    data.resize(length, fill);
    Ok(data)
}

/// A sensible list on both providers: what both accept, gives equal results.
fn together(u: &mut Unstructured) -> Result<()> {
    let pair = &keys()[one_of(u, &[0, 2])?];
    let (operation, list, data) = (one_of(u, &Operation::ALL)?, sensible(u)?, input(u)?);
    let [zariz, default] = [0, 1].map(|i| Ctx::new(Side::BOTH[i], &pair[i]));
    if ![&zariz, &default].map(|ctx| ctx.begin(operation, &list)).iter().all(|&accepted| accepted) {
        return Ok(());
    }
    match operation {
        Operation::Verify => {
            let signer = Ctx::new(Side::Default, &pair[1]);
            let mut signature = match signer.begin(Operation::Sign, &list) {
                true => signer.run(Operation::Sign, &data, None).unwrap_or_default(),
                false => Vec::new(),
            };
            edit(u, &mut signature)?;
            let (ours, theirs) = (zariz.verify(&signature, &data), default.verify(&signature, &data));
            // OpenSSL refuses every signature of no bytes at all, its own too; zariz accepts a good one.
            assert!(
                ours == theirs || ours && data.is_empty(),
                "{ours}, OpenSSL: {theirs}, {list:?} {data:x?}"
            );
        }
        // Encryption and PSS are random: each must be understood by the other.
        Operation::Encrypt => {
            let [ours, theirs] = [&zariz, &default].map(|ctx| ctx.run(operation, &data, None));
            assert_eq!(ours.is_some(), theirs.is_some(), "{list:?} {data:x?}");
            if let Some(ciphertext) = ours {
                let reader = Ctx::new(Side::Default, &pair[1]);
                if reader.begin(Operation::Decrypt, &list) {
                    assert_eq!(reader.run(Operation::Decrypt, &ciphertext, None), Some(data), "{list:?}");
                }
            }
        }
        Operation::Sign => {
            let [ours, theirs] = [&zariz, &default].map(|ctx| ctx.run(operation, &data, None));
            assert_eq!(ours.is_some(), theirs.is_some(), "{list:?} {data:x?}");
            if let Some(signature) = ours {
                let reader = Ctx::new(Side::Default, &pair[1]);
                if reader.begin(Operation::Verify, &list) {
                    assert!(reader.verify(&signature, &data) || data.is_empty(), "{list:?} {data:x?}");
                }
            }
        }
        Operation::Recover => {
            let signer = Ctx::new(Side::Default, &pair[1]);
            if signer.begin(Operation::Sign, &list) {
                let mut signature = signer.run(Operation::Sign, &data, None).unwrap_or_default();
                edit(u, &mut signature)?;
                let [ours, theirs] = [&zariz, &default].map(|ctx| ctx.run(operation, &signature, None));
                assert_eq!(ours, theirs, "{list:?} {signature:x?}");
            }
        }
        // Implicit rejection makes an answer of what OpenSSL 3.0 refuses; the target `ciphertexts` has the
        // rest.
        Operation::Decrypt => {
            zariz.run(operation, &data, None);
        }
    }
    Ok(())
}

/// A key of changed numbers. One that zariz takes is used.
fn import(u: &mut Unstructured) -> Result<()> {
    let mut numbers = evp::numbers(&structure::keys()[0].components());
    for _ in 0..u.int_in_range(0..=3)? {
        let at = u.choose_index(numbers.len())?;
        match u.int_in_range(0..=5)? {
            0 => {
                numbers.remove(at);
            }
            1 => numbers[at] = value(u)?,
            2 => {
                let other = u.choose_index(numbers.len())?;
                let bytes = numbers[other].bytes.clone();
                numbers[at].bytes = bytes;
            }
            3 => {
                let length = usize::from(u16::arbitrary(u)? % 3000);
                numbers[at].bytes.resize(length, 0xff);
            }
            _ => edit(u, &mut numbers[at].bytes)?,
        }
        if numbers.is_empty() {
            break;
        }
    }
    let selection = one_of(u, &evp::SELECTIONS)?;
    let Some(key) = Key::import(Side::Zariz, selection, &numbers) else { return Ok(()) };
    key.get(&values(u)?);
    // OpenSSL's own code computes with a key that zariz cannot use, and takes long for long exponents.
    if numbers.iter().any(|number| number.bytes.len() > 256) {
        return Ok(());
    }
    let operation = one_of(u, &Operation::ALL)?;
    let (ctx, data) = (Ctx::new(Side::Zariz, &key), input(u)?);
    if ctx.begin(operation, &[]) {
        ctx.run(operation, &data, None);
        ctx.verify(&data, &data);
    }
    Ok(())
}
