//! Computes requests. The signatures of an array are computed in batches, and so are its decryptions and
//! verifications.

use std::fmt::Write;

use zariz::Engine;
use zariz::rsa::{
    Algorithm, Components, DecryptJob, KeyGenerator, Message, Mgf, Padding, PrivateKey, PublicKey, SignJob,
    Signed, VerifyJob, decrypt_many, sign_many, verify_many,
};
use zeroize::Zeroizing;

use crate::keys::{self, Key};
use crate::protocol::{Failure, Operation, Reader, Request, Status};

type Outcome = Result<Zeroizing<Vec<u8>>, Failure>;

/// A request with its own reference to its key, so that Java can free the key meanwhile.
enum Job<'a> {
    Sign(PrivateKey, Algorithm, &'a [u8]),
    Decrypt(PrivateKey, Padding, &'a [u8]),
    Verify(PublicKey, Algorithm, [&'a [u8]; 2]),
    /// A request that is computed by itself.
    Other(Request<'a>),
    Failed(Failure),
}

/// The results of all requests, in order.
pub fn answer(requests: &[u8]) -> Zeroizing<Vec<u8>> {
    let jobs = jobs(Reader(requests));
    let (mut sign, mut decrypt, mut verify) = (Vec::new(), Vec::new(), Vec::new());
    for job in &jobs {
        match job {
            Job::Sign(key, algorithm, digest) => {
                sign.push(SignJob { key, algorithm: *algorithm, message: Message::Digest(digest) });
            }
            Job::Decrypt(key, padding, ciphertext) => decrypt.push(DecryptJob { key, padding, ciphertext }),
            Job::Verify(key, algorithm, [digest, signature]) => {
                let signed = Signed { message: Message::Digest(digest), signature };
                verify.push(VerifyJob { key, algorithm: *algorithm, signed });
            }
            Job::Other(_) | Job::Failed(_) => {}
        }
    }
    let mut signed = sign_many(&sign).into_iter();
    let mut decrypted = decrypt_many(&decrypt).into_iter();
    let mut verified = verify_many(&verify).into_iter();
    let missing = || Err(Failure(Status::Failed, "a result is missing".into()));
    let results: Vec<Outcome> = jobs
        .iter()
        .map(|job| match job {
            Job::Sign(..) => signed.next().map_or_else(missing, |result| Ok(Zeroizing::new(result?))),
            Job::Decrypt(..) => decrypted.next().map_or_else(missing, |result| Ok(result?)),
            Job::Verify(..) => {
                verified.next().map_or_else(missing, |result| Ok(result.map(|()| <_>::default())?))
            }
            Job::Other(request) => other(request),
            Job::Failed(Failure(status, text)) => Err(Failure(*status, text.clone())),
        })
        .collect();
    write(&results)
}

/// The jobs of all requests. The lock for the keys is taken once.
fn jobs(mut reader: Reader) -> Vec<Job> {
    let (keys, mut jobs) = (keys::read(), Vec::new());
    while !reader.0.is_empty() {
        let Some(request) = reader.request() else {
            jobs.push(Job::Failed(Failure(Status::Malformed, "the request is damaged".into())));
            break;
        };
        let job = match (request.operation, algorithm(&request), padding(&request)) {
            (Operation::SignPkcs1 | Operation::SignPss, Some(algorithm), _) => {
                keys.private(request.key).map(|key| Job::Sign(key, algorithm, request.bytes[0]))
            }
            (Operation::VerifyPkcs1 | Operation::VerifyPss, Some(algorithm), _) => {
                keys.public(request.key).map(|key| Job::Verify(key, algorithm, request.bytes))
            }
            (Operation::DecryptPkcs1 | Operation::DecryptOaep, _, Some(padding)) => {
                keys.private(request.key).map(|key| Job::Decrypt(key, padding, request.bytes[0]))
            }
            _ => Ok(Job::Other(request)),
        };
        jobs.push(job.unwrap_or_else(Job::Failed));
    }
    jobs
}

fn algorithm(request: &Request) -> Option<Algorithm> {
    let &Request { hash, mask_hash, salt_len, .. } = request;
    match request.operation {
        Operation::SignPkcs1 | Operation::VerifyPkcs1 => Some(Algorithm::Pkcs1v15(hash)),
        Operation::SignPss | Operation::VerifyPss => {
            Some(Algorithm::Pss { hash, mgf: Mgf::Mgf1(mask_hash), salt_len })
        }
        _ => None,
    }
}

fn padding(request: &Request) -> Option<Padding> {
    match request.operation {
        Operation::DecryptPkcs1 | Operation::EncryptPkcs1 => Some(Padding::Pkcs1v15),
        Operation::DecryptOaep | Operation::EncryptOaep => Some(Padding::Oaep {
            hash: request.hash,
            mgf: Mgf::Mgf1(request.mask_hash),
            label: request.bytes[1].to_vec(),
        }),
        _ => None,
    }
}

fn other(request: &Request) -> Outcome {
    let [first, second] = request.bytes;
    let handle = |key| {
        let bits = match &key {
            Key::Private(key) => key.bits(),
            Key::Public(key) => key.bits(),
        };
        let parts = [&keys::insert(key).to_be_bytes()[..], &(bits as u32).to_be_bytes()];
        Ok(Zeroizing::new(parts.concat()))
    };
    match request.operation {
        Operation::LoadNumbers => handle(Key::Private(PrivateKey::from_components(&numbers(first)?)?)),
        Operation::LoadDer => handle(Key::Private(PrivateKey::parse(first)?)),
        Operation::LoadPublic => handle(Key::Public(PublicKey::from_components(first, second)?)),
        Operation::Free => {
            keys::remove(request.key);
            Ok(Zeroizing::default())
        }
        Operation::Generate => {
            let bits = usize::try_from(request.key).unwrap_or(usize::MAX);
            Ok(KeyGenerator::new(bits)?.with_exponent(first)?.generate()?.to_der()?)
        }
        Operation::Describe => {
            let mut text = env!("CARGO_PKG_VERSION").to_owned();
            _ = write!(text, " {}", Engine::best().name());
            Ok(Zeroizing::new(text.into_bytes()))
        }
        _ => {
            let padding = padding(request)
                .ok_or_else(|| Failure(Status::Malformed, "the request cannot be computed".into()))?;
            let key = keys::read().public(request.key)?;
            Ok(Zeroizing::new(key.encrypt(&padding, first)?))
        }
    }
}

/// The numbers of a private key, without the zeros that Java writes before them.
fn numbers(bytes: &[u8]) -> Result<Components, Failure> {
    let mut reader = Reader(bytes);
    let mut next = || {
        let number = reader.bytes().ok_or_else(|| Failure(Status::Malformed, "the key is damaged".into()))?;
        let zeros = number.iter().take_while(|&&byte| byte == 0).count();
        Ok::<_, Failure>(Zeroizing::new(number[zeros..].to_vec()))
    };
    Ok(Components {
        n: next()?.to_vec(),
        e: next()?.to_vec(),
        d: next()?,
        p: next()?,
        q: next()?,
        dp: next()?,
        dq: next()?,
        qinv: next()?,
    })
}

fn write(results: &[Outcome]) -> Zeroizing<Vec<u8>> {
    let parts = || {
        results.iter().map(|result| match result {
            Ok(bytes) => (Status::Done, bytes.as_slice()),
            Err(Failure(status, text)) => (*status, text.as_bytes()),
        })
    };
    // The whole length is reserved: a vector that grows would leave copies of secrets behind.
    let mut out = Zeroizing::new(Vec::with_capacity(parts().map(|(_, bytes)| 5 + bytes.len()).sum()));
    for (status, bytes) in parts() {
        out.push(status as u8);
        out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        out.extend_from_slice(bytes);
    }
    out
}
