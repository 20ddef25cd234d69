//! libzariz: calls with jobs of any kind, good and bad ones in one call. What Rust's interface says is right.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::OnceLock;

use arbitrary::{Arbitrary, Result, Unstructured};
use zariz::rsa::{Algorithm, Padding, PrivateKey};
use zariz_capi as c;

use crate::structure::{bytes, one_of};

/// A key in both interfaces. Handles are pointers, but all threads may use them.
struct Key {
    key: PrivateKey,
    private: *mut c::PrivateKey,
    public: *mut c::PublicKey,
}

// SAFETY: the header says so.
unsafe impl Send for Key {}
// SAFETY: the header says so.
unsafe impl Sync for Key {}

fn keys() -> &'static [Key] {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    let make = |bits| {
        let key = PrivateKey::generate(bits).expect("a key");
        let (der, mut private, mut public) = (key.to_der().expect("DER"), ptr::null_mut(), ptr::null_mut());
        // SAFETY: the memory is there.
        unsafe {
            let parsed =
                c::zariz_private_key_parse(der.as_ptr(), der.len(), ptr::null(), 0, &raw mut private);
            assert_eq!(parsed, c::ZARIZ_OK);
            assert_eq!(c::zariz_private_key_public(private, &raw mut public), c::ZARIZ_OK);
        }
        Key { key, private, public }
    };
    KEYS.get_or_init(|| [1024, 1032].map(make).into())
}

/// Codes that mean something to some function.
const CODES: [u32; 8] = [
    0,
    c::ZARIZ_RS256,
    c::ZARIZ_RS512 | c::ZARIZ_DIGEST,
    c::ZARIZ_PS256,
    0x2304_ffff, // PSS, with a salt to be found
    c::ZARIZ_PKCS1V15,
    c::ZARIZ_OAEP_SHA1,
    c::ZARIZ_OAEP_SHA256,
];

/// What the caller has for one job.
struct Memory {
    key: usize,
    is_wrong_handle: bool,
    code: u32,
    input: Vec<u8>,
    other: Vec<u8>,
    capacity: usize,
    /// Longer than `capacity`: what is behind must stay.
    output: Vec<u8>,
}

const BEHIND: u8 = 0xa5;

fn memory(u: &mut Unstructured) -> Result<Memory> {
    let keys = keys();
    let key = u.int_in_range(0..=keys.len() - 1)?;
    let code = if u.ratio(1, 4)? { u32::arbitrary(u)? } else { one_of(u, &CODES)? };
    let input = if u.ratio(1, 2)? { vec![u8::arbitrary(u)?; keys[key].key.size()] } else { bytes(u, 140)? };
    let capacity = if u.ratio(3, 4)? { 140 } else { u.int_in_range(0..=140)? };
    let (is_wrong_handle, other) = (u.ratio(1, 8)?, bytes(u, 140)?);
    Ok(Memory { key, is_wrong_handle, code, input, other, capacity, output: vec![BEHIND; 150] })
}

fn list(bytes: &[u8]) -> c::Bytes {
    c::Bytes { data: bytes.as_ptr(), len: bytes.len() }
}

/// The target.
pub fn run(data: &[u8]) {
    // Bytes too few for a structure have none to test.
    let _ = structured(&mut Unstructured::new(data));
}

fn structured(u: &mut Unstructured) -> Result<()> {
    let operation = u.int_in_range(0..=6)?;
    if operation == 6 {
        any_bytes(&bytes(u, 4096)?);
        return Ok(());
    }
    let count = u.int_in_range(1..=9)?;
    let mut all = (0..count).map(|_| memory(u)).collect::<Result<Vec<_>>>()?;
    let label = if u.ratio(1, 4)? { all[0].other.clone() } else { Vec::new() };
    let outcomes = if operation < 3 {
        private(operation, &mut all, &label)
    } else {
        public(operation, &mut all, &label)
    };
    for (memory, (status, len)) in all.iter().zip(outcomes) {
        assert!(
            memory.output[memory.capacity..].iter().all(|&byte| byte == BEHIND),
            "bytes behind the output"
        );
        if status == c::ZARIZ_OK {
            assert!(!memory.is_wrong_handle && (operation == 3 || len <= memory.capacity));
            check(operation, memory, &memory.output[..len], &label);
        } else {
            assert!((c::ZARIZ_NULL_POINTER..=c::ZARIZ_UNSUPPORTED + 2).contains(&status), "status {status}");
            assert_eq!(len, 0);
        }
    }
    Ok(())
}

/// A result, where Rust's interface has the same one.
fn check(operation: i32, memory: &Memory, output: &[u8], label: &[u8]) {
    let key = &keys()[memory.key].key;
    match (operation, memory.code) {
        (0, c::ZARIZ_RS256) => {
            assert_eq!(output, key.sign(Algorithm::RS256, &memory.input).expect("a signature"));
        }
        (0, c::ZARIZ_PS256) => {
            key.public_key().verify(Algorithm::PS256, &memory.input, output).expect("a signature");
        }
        (1, c::ZARIZ_PKCS1V15) => {
            let plaintext = key.decrypt(&Padding::Pkcs1v15, &memory.input).expect("a plaintext");
            assert_eq!(output, &**plaintext);
        }
        (4, c::ZARIZ_PKCS1V15) => {
            assert!(label.is_empty());
            let plaintext = key.decrypt(&Padding::Pkcs1v15, output).expect("a plaintext");
            assert_eq!(memory.input, **plaintext);
        }
        _ => {}
    }
}

fn private(operation: i32, all: &mut [Memory], label: &[u8]) -> Vec<(c::Status, usize)> {
    let job = |memory: &mut Memory| {
        let key = &keys()[memory.key];
        c::PrivateJob {
            key: if memory.is_wrong_handle { key.public.cast() } else { key.private },
            algorithm: memory.code,
            status: -1,
            input: list(&memory.input),
            label: list(label),
            output: memory.output.as_mut_ptr(),
            capacity: memory.capacity,
            output_len: 0,
        }
    };
    let mut jobs: Vec<_> = all.iter_mut().map(job).collect();
    let call = [c::zariz_sign_many, c::zariz_decrypt_many, c::zariz_private_many][operation as usize];
    // SAFETY: the memory of all jobs is there.
    let status = unsafe { call(jobs.as_mut_ptr(), jobs.len()) };
    let outcomes: Vec<_> = jobs.iter().map(|job| (job.status, job.output_len)).collect();
    first_failure(status, &outcomes);
    outcomes
}

fn public(operation: i32, all: &mut [Memory], label: &[u8]) -> Vec<(c::Status, usize)> {
    let job = |memory: &mut Memory| {
        let key = &keys()[memory.key];
        c::PublicJob {
            key: if memory.is_wrong_handle { key.private.cast() } else { key.public },
            algorithm: memory.code,
            status: -1,
            input: list(&memory.input),
            other: list(if operation == 3 { &memory.other } else { label }),
            output: memory.output.as_mut_ptr(),
            capacity: memory.capacity,
            output_len: 0,
        }
    };
    let mut jobs: Vec<_> = all.iter_mut().map(job).collect();
    let calls = [c::zariz_verify_many, c::zariz_encrypt_many, c::zariz_public_many];
    // SAFETY: the memory of all jobs is there.
    let status = unsafe { calls[operation as usize - 3](jobs.as_mut_ptr(), jobs.len()) };
    let outcomes: Vec<_> = jobs.iter().map(|job| (job.status, job.output_len)).collect();
    first_failure(status, &outcomes);
    outcomes
}

fn first_failure(status: c::Status, outcomes: &[(c::Status, usize)]) {
    let first = outcomes.iter().map(|outcome| outcome.0).find(|&status| status != c::ZARIZ_OK);
    assert_eq!(status, first.unwrap_or(c::ZARIZ_OK));
}

/// Bytes where keys, moduli and numbers are expected.
fn any_bytes(data: &[u8]) {
    let (mut private, mut public, mut modulus) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the memory is there; what was not made is NULL, which may be freed.
    unsafe {
        c::zariz_private_key_parse(
            data.as_ptr(),
            data.len(),
            data.as_ptr(),
            data.len().min(8),
            &raw mut private,
        );
        c::zariz_public_key_parse(data.as_ptr(), data.len(), &raw mut public);
        c::zariz_modulus_new(list(data), &raw mut modulus);
        assert!(c::zariz_private_key_bits(private) <= 16384 && c::zariz_modulus_size(modulus) <= 2048);
        c::zariz_private_key_free(private);
        c::zariz_public_key_free(public);
        c::zariz_modulus_free(modulus);
    }
}

/// Every operation on every code.
pub fn seeds() -> Vec<Vec<u8>> {
    (0..7u8)
        .flat_map(|operation| {
            (0..8u8).map(move |turn| {
                let rest =
                    (0..300u32).map(|i| (i.wrapping_mul(2_654_435_761).rotate_left(turn.into()) >> 11) as u8);
                [operation].into_iter().chain(rest).collect()
            })
        })
        .collect()
}
