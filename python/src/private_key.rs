//! Private keys.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use zariz::rsa::hazmat::primitive::{PrivateJob, private_many};
use zariz::rsa::{Algorithm, KeyError, KeyGenerator, Message, Padding};
use zeroize::Zeroizing;

use crate::error::{Failure, error};
use crate::keys::{self, Half, PEM, Source};
use crate::moduli::count;
use crate::numbers::{Batch, Kind, Width};
use crate::output::{Errors, Outcome, list, many, one, with_failures};
use crate::powers::Call;
use crate::public_key::PublicKey;
use crate::work::{Options, check_made, cost, once, run};

/// An RSA private key.
///
/// Each operation is blinded, and its result is checked before it is given out. Keys cannot be pickled or
/// copied, and do not show themselves: give other processes a path, and load the key there.
///
/// >>> from zariz import PrivateKey
/// >>> key = PrivateKey.generate(2048)
/// >>> signature = key.sign(b"message", "RS256")
/// >>> key.public_key.verify(b"message", signature, "RS256")
/// >>> key
/// <zariz.PrivateKey of 2048 bits>
#[pyclass(frozen, module = "zariz")]
pub struct PrivateKey(pub zariz::rsa::PrivateKey);

/// The time of one private operation: two powers of half the length.
fn private_cost(key: &zariz::rsa::PrivateKey) -> f64 {
    2.0 * cost(key.bits() / 2, key.bits() / 2)
}

/// The time of a new key: two primes.
fn new_cost(bits: usize) -> f64 {
    cost(bits / 2, bits / 2) * (bits as f64 / 8.0).max(8.0)
}

/// The time to allow for decrypting a key, in seconds. The key itself says how often its password is hashed.
const DECRYPTION: f64 = 1.0;
/// The assumed cost of a validation, in powers modulo a prime.
const VALIDATION: f64 = 20.0;

/// The operation for each item.
pub enum Operation {
    Sign(Algorithm),
    SignDigest(Algorithm),
    Decrypt(Padding),
    Raw,
}

impl Operation {
    /// The results for some items.
    pub fn apply(&self, key: &zariz::rsa::PrivateKey, items: &[&[u8]]) -> Vec<Outcome<Zeroizing<Vec<u8>>>> {
        let public = |results: Vec<Result<Vec<u8>, zariz::rsa::Error>>| {
            results.into_iter().map(|result| result.map(Zeroizing::new).map_err(Failure::from)).collect()
        };
        let secret = |results: Vec<Result<Zeroizing<Vec<u8>>, zariz::rsa::Error>>| {
            results.into_iter().map(|result| result.map_err(Failure::from)).collect()
        };
        match self {
            Self::Sign(algorithm) => public(key.sign_batch(*algorithm, items)),
            Self::SignDigest(algorithm) => {
                let digests: Vec<_> = items.iter().map(|&digest| Message::Digest(digest)).collect();
                public(key.sign_batch(*algorithm, &digests))
            }
            Self::Decrypt(padding) => secret(key.decrypt_batch(padding, items)),
            Self::Raw => {
                let jobs: Vec<_> = items.iter().map(|number| PrivateJob { key, number }).collect();
                secret(private_many(&jobs))
            }
        }
    }

    fn sign(py: Python<'_>, algorithm: &str, prehashed: bool) -> PyResult<Self> {
        let algorithm = keys::algorithm(py, algorithm)?;
        Ok(if prehashed { Self::SignDigest(algorithm) } else { Self::Sign(algorithm) })
    }
}

/// Applies the operation to items.
pub fn apply(
    py: Python<'_>,
    key: &zariz::rsa::PrivateKey,
    operation: Operation,
    items: Batch,
    options: &Options,
) -> PyResult<Vec<Outcome<Zeroizing<Vec<u8>>>>> {
    let (key, items, each) = (key.clone(), Arc::new(items), private_cost(key));
    let of_pieces = items.clone();
    let piece = move |range: Range<usize>, _: &_| {
        operation.apply(&key, &range.map(|i| of_pieces.get(i)).collect::<Vec<_>>())
    };
    let count = items.len();
    Ok(with_failures(run(py, count, each, options, piece)?, &[&items]))
}

impl PrivateKey {
    fn single<'py>(
        &self,
        py: Python<'py>,
        operation: Operation,
        items: Batch,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (options, kind) = (Options::new(py, Some(1), None)?, items.kind);
        one(py, kind, apply(py, &self.0, operation, items, &options)?)
    }

    fn batch<'py>(
        &self,
        py: Python<'py>,
        operation: Operation,
        items: Batch,
        call: Call<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let fixed = !matches!(operation, Operation::Decrypt(_));
        let kind = if fixed { items.kind } else { Kind::Bytes };
        let count = count(py, &[("items", items.len(), false)])?;
        call.check_out(py, count, self.0.size())?;
        let results = apply(py, &self.0, operation, items, &call.options)?;
        many(py, kind, self.0.size(), &results, call.errors, call.out)
    }

    fn refuse<T>(what: &str) -> PyResult<T> {
        Err(PyTypeError::new_err(format!(
            "private keys cannot be {what}: give the path of the key file, and call PrivateKey.load there"
        )))
    }
}

#[pymethods]
impl PrivateKey {
    /// Reads a key: from a path, or from bytes (PEM or DER; PKCS#8 or PKCS#1), or from a key of
    /// `cryptography`.
    ///
    /// `password` is for encrypted keys, str or bytes. Every relation between the key's numbers is checked.
    #[classmethod]
    #[pyo3(signature = (source, password=None))]
    fn load(
        _class: &Bound<'_, PyType>,
        source: &Bound<'_, PyAny>,
        password: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = source.py();
        if let Ok(key) = source.cast::<Self>() {
            return Ok(Self(key.get().0.clone()));
        }
        if source.is_instance_of::<PublicKey>() {
            return Err(keys::refused(py, None, KeyError::PublicOnly));
        }
        let password = password.filter(|password| !password.is_none()).map(read_password).transpose()?;
        let Source { bytes, path } = Source::read(source, Half::Private)?;
        let key = match password {
            Some(password) => {
                once(py, DECRYPTION, move || zariz::rsa::PrivateKey::parse_encrypted(&bytes, &password))?
            }
            None => py.detach(|| zariz::rsa::PrivateKey::parse(&bytes)),
        };
        key.map(Self).map_err(|error| keys::refused(py, path.as_deref(), error))
    }

    /// Makes a new key with public exponent 65537.
    #[classmethod]
    #[pyo3(signature = (bits=2048))]
    fn generate(_class: &Bound<'_, PyType>, py: Python<'_>, bits: usize) -> PyResult<Self> {
        let keys = generate(py, bits, 1, &Options::new(py, Some(1), None)?)?;
        let key = keys.into_iter().next().ok_or_else(|| error(py, "no key was made"))?;
        key.map(Self).map_err(|failure| failure.exception(py, None))
    }

    /// Makes many new keys. Many at once cost less than one by one.
    #[classmethod]
    #[pyo3(signature = (bits, count, *, threads=None, progress=None))]
    fn generate_many<'py>(
        _class: &Bound<'py, PyType>,
        py: Python<'py>,
        bits: usize,
        count: usize,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keys = generate(py, bits, count, &Options::new(py, threads, progress)?)?;
        list(py, &keys, Errors::Raise, |key| Ok(Bound::new(py, Self(key.clone()))?.into_any()))
    }

    fn __repr__(&self) -> String {
        format!("<zariz.PrivateKey of {} bits>", self.0.bits())
    }

    fn __reduce_ex__(&self, _protocol: i32) -> PyResult<()> {
        Self::refuse("pickled")
    }

    fn __copy__(&self) -> PyResult<()> {
        Self::refuse("copied")
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::refuse("copied")
    }

    /// The length of the modulus in bits.
    #[getter]
    fn bits(&self) -> usize {
        self.0.bits()
    }

    /// The length of signatures and ciphertexts in bytes.
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// The public half.
    #[getter]
    fn public_key(&self) -> PublicKey {
        PublicKey(self.0.public_key().clone())
    }

    /// The key as PKCS#8 PEM text, encrypted if there is a password. Python does not wipe the text.
    #[pyo3(signature = (password=None))]
    fn to_pem<'py>(
        &self,
        py: Python<'py>,
        password: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyString>> {
        let password = password.filter(|password| !password.is_none()).map(read_password).transpose()?;
        let pem = py.detach(|| match &password {
            Some(password) => self.0.to_encrypted_pem(password).map(Zeroizing::new),
            None => self.0.to_pem(),
        });
        pem.map(|pem| PyString::new(py, &pem)).map_err(|error| Failure::from(error).exception(py, None))
    }

    /// Checks that the primes are probably prime, which loading does not check. It costs as much as several
    /// signatures.
    fn validate(&self, py: Python<'_>) -> PyResult<()> {
        let key = self.0.clone();
        let each = cost(key.bits() / 2, key.bits() / 2) * VALIDATION;
        once(py, each, move || key.validate())?.map_err(|error| Failure::from(error).exception(py, None))
    }

    /// Signs a message: "RS256", "RS384", "RS512", "PS256", "PS384" or "PS512" (RFC 7518).
    ///
    /// `prehashed=True` takes the message's digest, by the algorithm's hash.
    #[pyo3(signature = (message, algorithm, *, prehashed=false))]
    fn sign<'py>(
        &self,
        message: &Bound<'py, PyAny>,
        algorithm: &str,
        prehashed: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, operation) = (message.py(), Operation::sign(message.py(), algorithm, prehashed)?);
        self.single(py, operation, Batch::read_one(message, "message", Width::NoInts)?)
    }

    /// Signs many messages, in order. Several at once cost less than one by one.
    #[pyo3(signature = (messages, algorithm, *, prehashed=false, threads=None, progress=None, errors="raise", out=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn sign_batch<'py>(
        &self,
        messages: &Bound<'py, PyAny>,
        algorithm: &str,
        prehashed: bool,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = messages.py();
        let (call, operation) =
            (Call::new(py, threads, progress, errors, out)?, Operation::sign(py, algorithm, prehashed)?);
        self.batch(py, operation, Batch::read(messages, "messages", |_| Width::NoInts)?, call)
    }

    /// Decrypts a ciphertext: "RSA-OAEP-256" (also -384, -512), "RSA-OAEP" (SHA-1) or "RSA1_5".
    ///
    /// All bad ciphertexts give the same error, `DecryptionFailed`. "RSA1_5" gives no error: bad padding
    /// gives a random message, always the same for a ciphertext (implicit rejection).
    #[pyo3(signature = (ciphertext, padding="RSA-OAEP-256", *, label=None))]
    fn decrypt<'py>(
        &self,
        ciphertext: &Bound<'py, PyAny>,
        padding: &str,
        label: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, padding) =
            (ciphertext.py(), keys::padding(ciphertext.py(), padding, label.unwrap_or_default())?);
        self.single(
            py,
            Operation::Decrypt(padding),
            Batch::read_one(ciphertext, "ciphertext", Width::NoInts)?,
        )
    }

    /// Decrypts many ciphertexts, in order, to a list of bytes.
    #[pyo3(signature = (ciphertexts, padding="RSA-OAEP-256", *, label=None, threads=None, progress=None, errors="raise"))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn decrypt_batch<'py>(
        &self,
        ciphertexts: &Bound<'py, PyAny>,
        padding: &str,
        label: Option<&[u8]>,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = ciphertexts.py();
        let call = Call::new(py, threads, progress, errors, None)?;
        let padding = keys::padding(py, padding, label.unwrap_or_default())?;
        let ciphertexts = Batch::read(ciphertexts, "ciphertexts", |_| Width::NoInts)?;
        self.batch(py, Operation::Decrypt(padding), ciphertexts, call)
    }

    /// `x ** d % n` for many numbers below `n`, without padding: by the CRT, blinded and checked.
    ///
    /// Hazardous: the result is neither a signature nor a plaintext. Ints are padded to the key's length;
    /// bytes and rows must have it.
    #[pyo3(signature = (numbers, *, threads=None, progress=None, errors="raise", out=None))]
    fn raw_batch<'py>(
        &self,
        numbers: &Bound<'py, PyAny>,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = numbers.py();
        let call = Call::new(py, threads, progress, errors, out)?;
        let numbers = Batch::read(numbers, "numbers", |_| Width::AtLeast(self.0.size()))?;
        self.batch(py, Operation::Raw, numbers, call)
    }
}

fn read_password(password: &Bound<'_, PyAny>) -> PyResult<Zeroizing<Vec<u8>>> {
    let bytes = match password.extract::<String>().map(Zeroizing::new) {
        Ok(text) => Zeroizing::new(text.as_bytes().to_vec()),
        Err(_) => Zeroizing::new(Batch::read_one(password, "password", Width::NoInts)?.get(0).to_vec()),
    };
    match bytes.windows(PEM.len()).any(|part| part == PEM.as_bytes()) {
        true => Err(error(
            password.py(),
            "the password is the text of a key; give the key first, then its password",
        )),
        false => Ok(bytes),
    }
}

/// Makes `count` keys.
fn generate(
    py: Python<'_>,
    bits: usize,
    count: usize,
    options: &Options,
) -> PyResult<Vec<Outcome<zariz::rsa::PrivateKey>>> {
    check_made(py, count)?;
    let raised = |error: KeyError| Failure::from(error).exception(py, None);
    let generator = KeyGenerator::new(bits).map_err(raised)?;
    let each = new_cost(bits);
    let piece = move |range: Range<usize>, stop: &AtomicBool| {
        let count = range.len();
        if count == 1 || bits > 4096 {
            let one = |_| generator.generate_while(|| !stop.load(Ordering::Relaxed)).map_err(Failure::from);
            return (0..count).map(one).collect::<Vec<_>>();
        }
        match generator.generate_many(count) {
            Ok(keys) => keys.into_iter().map(Ok).collect(),
            Err(error) => (0..count).map(|_| Err(Failure::from(error.clone()))).collect(),
        }
    };
    run(py, count, each, options, piece)
}
