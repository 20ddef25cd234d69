//! Signatures, encryption, and the numbers beneath them: one at a time, and many in one call.

use zariz::rsa::hazmat::primitive::{
    PrivateJob as Private, PublicJob as Public, private_many, public_many_vartime,
};
use zariz::rsa::hazmat::pss;
use zariz::rsa::{self, DecryptJob, Message, Padding, SignJob, Signed, VerifyJob};
use zeroize::Zeroizing;

use crate::algorithm::{SignatureAlgorithm, ZARIZ_PKCS1V15, padding};
use crate::failure::{Failure, Status, ZARIZ_OUTPUT_LENGTH, ZARIZ_UNSUPPORTED, guard};
use crate::handle::get;
use crate::jobs::{Job, many};
use crate::keys::{PrivateKey, PublicKey};
use crate::memory::{Bytes, put_value};

/// One operation with a private key. The caller owns all memory; `output` may be the memory of an input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PrivateJob {
    /// The key.
    pub key: *const PrivateKey,
    /// The signature algorithm, or the encryption padding; not read for zariz_private_many.
    pub algorithm: u32,
    /// The library writes the status of the job here.
    pub status: Status,
    /// The message or digest, the ciphertext, or a big-endian number as long as the key.
    pub input: Bytes,
    /// OAEP's label; empty for everything else.
    pub label: Bytes,
    /// The result is written here; `zariz_private_key_size` bytes are always enough.
    pub output: *mut u8,
    /// How many bytes may be written to `output`.
    pub capacity: usize,
    /// The library writes the length of the result here: 0 if the job failed.
    pub output_len: usize,
}

/// One operation with a public key. The caller owns all memory; `output` may be the memory of an input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PublicJob {
    /// The key.
    pub key: *const PublicKey,
    /// The signature algorithm, or the encryption padding; not read for zariz_public_many.
    pub algorithm: u32,
    /// The library writes the status of the job here.
    pub status: Status,
    /// The message or digest, the plaintext, or a big-endian number as long as the key.
    pub input: Bytes,
    /// The signature to verify, or OAEP's label; empty for everything else.
    pub other: Bytes,
    /// The result is written here; verification has none. `zariz_public_key_size` bytes are enough.
    pub output: *mut u8,
    /// How many bytes may be written to `output`.
    pub capacity: usize,
    /// The library writes the length of the result here: 0 if the job failed.
    pub output_len: usize,
}

impl Job for PrivateJob {
    fn finish(&mut self, status: Status, len: usize) {
        (self.status, self.output_len) = (status, len);
    }
    fn output(&self) -> (*mut u8, usize) {
        (self.output, self.capacity)
    }
}

impl Job for PublicJob {
    fn finish(&mut self, status: Status, len: usize) {
        (self.status, self.output_len) = (status, len);
    }
    fn output(&self) -> (*mut u8, usize) {
        (self.output, self.capacity)
    }
}

fn failures<T>(results: Vec<Result<T, rsa::Error>>) -> Vec<Result<T, Failure>> {
    results.into_iter().map(|result| result.map_err(Failure::from)).collect()
}

fn message(algorithm: SignatureAlgorithm, input: &[u8]) -> Message<'_> {
    if algorithm.is_digest { Message::Digest(input) } else { Message::Bytes(input) }
}

/// The parts of a job for a signature.
pub(crate) unsafe fn to_sign<'a>(job: &PrivateJob) -> Result<SignJob<'a>, Failure> {
    let algorithm = SignatureAlgorithm::read(job.algorithm)?;
    // SAFETY: as the caller promises.
    let (key, input) = unsafe { (get(job.key)?, job.input.get("the message")?) };
    Ok(SignJob::new(key, algorithm.to_sign(key.bits())?, message(algorithm, input)))
}

/// Signs `count` messages, each with its own key and algorithm, many at once in the lanes of vector
/// registers: 8, 16 or more are the fastest. Each job has its own status; the call returns that of the first
/// job that failed. In constant time, except for the lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_sign_many(jobs: *mut PrivateJob, count: usize) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { many(jobs, count, |job| to_sign(job), |jobs| failures(rsa::sign_many(jobs)), true) })
}

/// Decrypts `count` ciphertexts, like zariz_sign_many. In constant time, including the check of the padding.
/// With ZARIZ_PKCS1V15, `capacity` must be at least the key's size. Treat a plaintext of an unexpected length
/// like one with unexpected bytes: do not tell the peer which of the two it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_decrypt_many(jobs: *mut PrivateJob, count: usize) -> Status {
    // SAFETY: the header asks it of the caller.
    let read = |job: &PrivateJob| unsafe { room_for(job).and_then(|()| to_decrypt(job)) };
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { many(jobs, count, read, decrypt_many, true) })
}

/// PKCS #1 v1.5 needs room for any plaintext: whether a substitute is too long would show that the padding
/// was wrong.
pub(crate) unsafe fn room_for(job: &PrivateJob) -> Result<(), Failure> {
    // SAFETY: as the caller promises.
    let size = unsafe { get(job.key) }?.size();
    if job.algorithm == ZARIZ_PKCS1V15 && job.capacity < size {
        let message =
            format!("{size} bytes are needed for the result of PKCS #1 v1.5, whatever its length is");
        return Err(Failure::new(ZARIZ_OUTPUT_LENGTH, message));
    }
    Ok(())
}

/// The parts of a job for a decryption.
pub(crate) unsafe fn to_decrypt<'a>(
    job: &PrivateJob,
) -> Result<(&'a rsa::PrivateKey, Padding, &'a [u8]), Failure> {
    // SAFETY: as the caller promises.
    unsafe {
        let padding = padding(job.algorithm, job.label.get("the label")?)?;
        Ok((get(job.key)?, padding, job.input.get("the ciphertext")?))
    }
}

fn decrypt_many(jobs: &[(&rsa::PrivateKey, Padding, &[u8])]) -> Vec<Result<Zeroizing<Vec<u8>>, Failure>> {
    let jobs: Vec<_> =
        jobs.iter().map(|(key, padding, ciphertext)| DecryptJob::new(key, padding, ciphertext)).collect();
    failures(rsa::decrypt_many(&jobs))
}

/// The parts of a job for a number.
pub(crate) unsafe fn to_raw<'a>(job: &PrivateJob) -> Result<Private<'a>, Failure> {
    // SAFETY: as the caller promises.
    unsafe { Ok(Private::new(get(job.key)?, job.input.get("the number")?)) }
}

/// Computes input^d mod n for `count` numbers, without padding: for protocols that pad themselves. Like
/// zariz_sign_many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_many(jobs: *mut PrivateJob, count: usize) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { many(jobs, count, |job| to_raw(job), |jobs| failures(private_many(jobs)), true) })
}

/// A signature to verify.
struct Verification<'a> {
    key: &'a rsa::PublicKey,
    algorithm: SignatureAlgorithm,
    signed: Signed<'a>,
}

/// Verifies `count` signatures, each with its own key. The job of a signature that is not valid has the
/// status ZARIZ_VERIFICATION. Not in constant time: signatures, messages and public keys are not secret.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_verify_many(jobs: *mut PublicJob, count: usize) -> Status {
    let read = |job: &PublicJob| {
        let algorithm = SignatureAlgorithm::read(job.algorithm)?;
        // SAFETY: the header asks it of the caller.
        unsafe {
            let message = message(algorithm, job.input.get("the message")?);
            let signed = Signed { message, signature: job.other.get("the signature")? };
            Ok(Verification { key: get(job.key)?, algorithm, signed })
        }
    };
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { many(jobs, count, read, verify_many, false) })
}

fn verify_many(jobs: &[Verification]) -> Vec<Result<[u8; 0], Failure>> {
    let known: Vec<_> = jobs.iter().filter(|job| !job.algorithm.auto_salt).collect();
    let known: Vec<_> =
        known.iter().map(|job| VerifyJob::new(job.key, job.algorithm.algorithm, job.signed)).collect();
    let mut known = rsa::verify_many(&known).into_iter();
    let unknown: Vec<_> = jobs.iter().filter(|job| job.algorithm.auto_salt).collect();
    let unknown: Vec<_> = unknown.iter().map(|job| Public::new(job.key, job.signed.signature)).collect();
    let mut unknown = public_many_vartime(&unknown).into_iter();
    // A signature of another length, or not below the modulus, is not valid.
    let invalid = |error| match error {
        rsa::Error::Length { .. } | rsa::Error::OutOfRange => rsa::Error::Verification,
        error => error,
    };
    let result = |job: &Verification| {
        if !job.algorithm.auto_salt {
            return Ok(known.next().unwrap_or(Err(rsa::Error::Verification)).map_err(invalid)?);
        }
        let encoded = unknown.next().unwrap_or(Err(rsa::Error::Verification));
        any_salt(job, encoded.map_err(invalid))
    };
    jobs.iter().map(result).map(|result| result.map(|()| [])).collect()
}

/// Verifies a PSS signature with a salt of any length, given its number to the power `e`.
fn any_salt(job: &Verification, encoded: Result<Vec<u8>, rsa::Error>) -> Result<(), Failure> {
    let rsa::Algorithm::Pss { hash, mgf, .. } = job.algorithm.algorithm else {
        return Err(Failure::argument("only PSS has a salt"));
    };
    if matches!(job.key.usage(), rsa::Usage::PssWith(_)) {
        let message = "the key asks for salts of some length: name the length, not ZARIZ_SALT_AUTO";
        return Err(Failure::new(ZARIZ_UNSUPPORTED, message));
    }
    let digest = match job.signed.message {
        Message::Bytes(bytes) => hash.digest(&[bytes]),
        Message::Digest(digest) => digest.to_vec(),
    };
    Ok(pss::verify(hash, mgf, None, &digest, &mut encoded?, job.key.bits())?)
}

/// Encrypts `count` plaintexts, each for its own key. The time depends on the public exponent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_encrypt_many(jobs: *mut PublicJob, count: usize) -> Status {
    let read = |job: &PublicJob| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let padding = padding(job.algorithm, job.other.get("the label")?)?;
            Ok((get(job.key)?, padding, job.input.get("the plaintext")?))
        }
    };
    let encrypt = |jobs: &[(&rsa::PublicKey, Padding, &[u8])]| {
        failures(jobs.iter().map(|(key, padding, plaintext)| key.encrypt(padding, plaintext)).collect())
    };
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { many(jobs, count, read, encrypt, true) })
}

/// Computes input^e mod n for `count` numbers, without padding. Not in constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_many(jobs: *mut PublicJob, count: usize) -> Status {
    // SAFETY: the header asks it of the caller.
    let read = |job: &PublicJob| unsafe { Ok(Public::new(get(job.key)?, job.input.get("the number")?)) };
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { many(jobs, count, read, |jobs| failures(public_many_vartime(jobs)), true) })
}

/// Signs one message. `signature` must have room for `zariz_private_key_size` bytes. Many at once are faster:
/// use zariz_sign_many, or a batcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_sign(
    key: *const PrivateKey,
    algorithm: u32,
    message: Bytes,
    signature: *mut u8,
    capacity: usize,
) -> Status {
    let mut job =
        PrivateJob { key, algorithm, input: message, output: signature, capacity, ..PrivateJob::NONE };
    // SAFETY: the header asks it of the caller.
    unsafe { zariz_sign_many(&raw mut job, 1) }
}

/// Verifies one signature: ZARIZ_OK, or ZARIZ_VERIFICATION.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_verify(
    key: *const PublicKey,
    algorithm: u32,
    message: Bytes,
    signature: Bytes,
) -> Status {
    let mut job = PublicJob { key, algorithm, input: message, other: signature, ..PublicJob::NONE };
    // SAFETY: the header asks it of the caller.
    unsafe { zariz_verify_many(&raw mut job, 1) }
}

/// Encrypts one plaintext. `ciphertext` must have room for `zariz_public_key_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_encrypt(
    key: *const PublicKey,
    padding: u32,
    label: Bytes,
    plaintext: Bytes,
    ciphertext: *mut u8,
    capacity: usize,
) -> Status {
    let mut job = PublicJob { key, algorithm: padding, input: plaintext, other: label, ..PublicJob::NONE };
    (job.output, job.capacity) = (ciphertext, capacity);
    // SAFETY: the header asks it of the caller.
    unsafe { zariz_encrypt_many(&raw mut job, 1) }
}

/// Decrypts one ciphertext. `plaintext` must have room for `zariz_private_key_size` bytes; `plaintext_len` is
/// set to the length of the plaintext.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_decrypt(
    key: *const PrivateKey,
    padding: u32,
    label: Bytes,
    ciphertext: Bytes,
    plaintext: *mut u8,
    capacity: usize,
    plaintext_len: *mut usize,
) -> Status {
    if plaintext_len.is_null() {
        return Failure::null("the pointer for the plaintext's length").leave();
    }
    let mut job = PrivateJob { key, algorithm: padding, input: ciphertext, label, ..PrivateJob::NONE };
    (job.output, job.capacity) = (plaintext, capacity);
    // SAFETY: the header asks it of the caller.
    let status = unsafe { zariz_decrypt_many(&raw mut job, 1) };
    if status != crate::ZARIZ_OK {
        return status;
    }
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { put_value(job.output_len, plaintext_len, "the pointer for the plaintext's length") })
}

impl Bytes {
    const NONE: Self = Self { data: std::ptr::null(), len: 0 };
}

impl PrivateJob {
    const NONE: Self = Self {
        key: std::ptr::null(),
        algorithm: 0,
        status: 0,
        input: Bytes::NONE,
        label: Bytes::NONE,
        output: std::ptr::null_mut(),
        capacity: 0,
        output_len: 0,
    };
}

impl PublicJob {
    const NONE: Self = Self {
        key: std::ptr::null(),
        algorithm: 0,
        status: 0,
        input: Bytes::NONE,
        other: Bytes::NONE,
        output: std::ptr::null_mut(),
        capacity: 0,
        output_len: 0,
    };
}
