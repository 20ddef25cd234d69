//! Public keys.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyType};
use zariz::rsa::{Algorithm, Error, Message, Signed};

use crate::error::{Failure, Kind};
use crate::keys::{self, Half, Source};
use crate::moduli::count;
use crate::numbers::{Batch, Width};
use crate::output::{Outcome, int, list, many, one, with_failures};
use crate::powers::Call;
use crate::private_key::PrivateKey;
use crate::work::{Options, cost, run};

/// An RSA public key.
///
/// >>> from zariz import PrivateKey
/// >>> key = PrivateKey.generate(2048)
/// >>> public = key.public_key
/// >>> key.decrypt(public.encrypt(b"secret"))
/// b'secret'
/// >>> public.verify_batch([b"a", b"b"], [bytes(256), key.sign(b"b", "PS256")], "PS256")
/// [False, True]
#[pyclass(frozen, module = "zariz")]
pub struct PublicKey(pub zariz::rsa::PublicKey);

/// The time of one public operation, with the usual exponent.
fn public_cost(key: &zariz::rsa::PublicKey) -> f64 {
    cost(key.bits(), 24)
}

/// Verifies each signature. A wrong one is not a failure; its result is the reason.
pub fn verify(
    py: Python<'_>,
    key: &zariz::rsa::PublicKey,
    algorithm: Algorithm,
    prehashed: bool,
    messages: Arc<Batch>,
    signatures: Arc<Batch>,
    options: &Options,
) -> PyResult<Vec<Outcome<Result<(), Error>>>> {
    let (count, each, key) = (messages.len(), public_cost(key), key.clone());
    let piece = move |range: Range<usize>, _: &_| -> Vec<Outcome<Result<(), Error>>> {
        let message = if prehashed { Message::Digest } else { Message::Bytes };
        let signed = |i| Signed { message: message(messages.get(i)), signature: signatures.get(i) };
        let results = key.verify_batch(algorithm, &range.map(signed).collect::<Vec<_>>());
        let outcome = |result| match result {
            Err(
                wrong @ (Error::Verification
                | Error::SaltLength { .. }
                | Error::Length { .. }
                | Error::OutOfRange),
            ) => Ok(Err(wrong)),
            result => Ok(Ok(result?)),
        };
        results.into_iter().map(outcome).collect()
    };
    run(py, count, each, options, piece)
}

/// Adds a hint if all messages are as long as the key's signatures, and no signature is: the caller probably
/// used the argument order of `cryptography`. A single item may be an arbitrary token, and simply does not
/// verify.
pub fn warn_if_swapped(
    py: Python<'_>,
    key: &zariz::rsa::PublicKey,
    messages: &Batch,
    signatures: &Batch,
    level: i32,
) -> PyResult<()> {
    let count = messages.len().min(signatures.len());
    if count > 1 && (0..count).all(|i| are_swapped(key, messages.get(i), signatures.get(i))) {
        PyErr::warn(
            py,
            &py.get_type::<PyUserWarning>(),
            c"each message is as long as a signature, and no signature \
            is: give the messages first, then the signatures",
            level,
        )?;
    }
    Ok(())
}

fn are_swapped(key: &zariz::rsa::PublicKey, message: &[u8], signature: &[u8]) -> bool {
    message.len() == key.size() && signature.len() != key.size()
}

/// Why a signature does not verify.
fn wrong(error: Error) -> Failure {
    let text = match error {
        Error::Length { expected, actual } => {
            format!("the signature has {actual} bytes, and signatures of this key have {expected}")
        }
        Error::OutOfRange => Error::Verification.to_string(),
        error => error.to_string(),
    };
    Failure::of(Kind::Signature, text)
}

impl PublicKey {
    fn encrypt_items(
        &self,
        py: Python<'_>,
        messages: Batch,
        padding: zariz::rsa::Padding,
        options: &Options,
    ) -> PyResult<Vec<Outcome<Vec<u8>>>> {
        let (key, messages) = (self.0.clone(), Arc::new(messages));
        let of_pieces = messages.clone();
        let piece = move |range: Range<usize>, _: &_| {
            let list: Vec<&[u8]> = range.map(|i| of_pieces.get(i)).collect();
            let results = key.encrypt_batch(&padding, &list).into_iter();
            results.map(|result| result.map_err(Failure::from)).collect::<Vec<_>>()
        };
        let count = messages.len();
        Ok(with_failures(run(py, count, public_cost(&self.0), options, piece)?, &[&messages]))
    }
}

#[pymethods]
impl PublicKey {
    /// Reads a key: from a path, or from bytes (PEM or DER; SPKI or PKCS#1), or from a key of `cryptography`.
    #[classmethod]
    fn load(_class: &Bound<'_, PyType>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = source.py();
        if let Ok(key) = source.cast::<Self>() {
            return Ok(Self(key.get().0.clone()));
        }
        if let Ok(key) = source.cast::<PrivateKey>() {
            return Ok(Self(key.get().0.public_key().clone()));
        }
        let Source { bytes, path } = Source::read(source, Half::Public)?;
        let key = zariz::rsa::PublicKey::parse(&bytes);
        key.map(Self).map_err(|error| keys::refused(py, path.as_deref(), error))
    }

    /// Makes a key from modulus and exponent.
    #[classmethod]
    #[pyo3(signature = (n, e=None))]
    fn from_numbers(
        _class: &Bound<'_, PyType>,
        n: &Bound<'_, PyAny>,
        e: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = n.py();
        let n = Batch::read_one(n, "n", Width::AtLeast(0))?;
        let e = e.map(|e| Batch::read_one(e, "e", Width::AtLeast(0))).transpose()?;
        if let Some((_, failure)) = n.failures.first().or(e.as_ref().and_then(|e| e.failures.first())) {
            return Err(failure.exception(py, None));
        }
        let (n, e) = (n.get(0), e.as_ref().map_or(&[1, 0, 1][..], |e| e.get(0)));
        zariz::rsa::PublicKey::from_components(n, e).map(Self).map_err(|error| {
            let order = if n.len() < e.len() { "; give n first, then e" } else { "" };
            Failure::of(Kind::Key, format!("{error}{order}")).exception(py, None)
        })
    }

    fn __repr__(&self) -> String {
        format!("<zariz.PublicKey of {} bits>", self.0.bits())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.0.n(), self.0.e()).hash(&mut hasher);
        hasher.finish()
    }

    /// Pickles the key as DER.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let der = slf.get().0.to_der().map_err(|error| Failure::from(error).exception(py, None))?;
        Ok((py.get_type::<Self>().getattr("load")?, (PyBytes::new(py, &der),)))
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

    /// The modulus.
    #[getter]
    fn n<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        int(py, &self.0.n())
    }

    /// The public exponent.
    #[getter]
    fn e<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        int(py, &self.0.e())
    }

    /// The key as PEM text (SPKI).
    fn to_pem(&self, py: Python<'_>) -> PyResult<String> {
        self.0.to_pem().map_err(|error| Failure::from(error).exception(py, None))
    }

    /// Verifies a signature; raises `InvalidSignature` if it is wrong.
    #[pyo3(signature = (message, signature, algorithm, *, prehashed=false))]
    fn verify(
        &self,
        message: &Bound<'_, PyAny>,
        signature: &Bound<'_, PyAny>,
        algorithm: &str,
        prehashed: bool,
    ) -> PyResult<()> {
        let (py, algorithm) = (message.py(), keys::algorithm(message.py(), algorithm)?);
        let message = Arc::new(Batch::read_one(message, "message", Width::NoInts)?);
        let signature = Arc::new(Batch::read_one(signature, "signature", Width::NoInts)?);
        let options = Options::new(py, Some(1), None)?;
        let outcome =
            verify(py, &self.0, algorithm, prehashed, message.clone(), signature.clone(), &options)?.pop();
        let mut failure = match outcome {
            Some(Ok(Ok(()))) => return Ok(()),
            Some(Ok(Err(error))) => wrong(error),
            Some(Err(failure)) => failure,
            None => wrong(Error::Verification),
        };
        if are_swapped(&self.0, message.get(0), signature.get(0)) {
            failure.text += "; the message has as many: give the message first, then the signature";
        }
        Err(failure.exception(py, None))
    }

    /// Whether each signature verifies, in order.
    #[pyo3(signature = (messages, signatures, algorithm, *, prehashed=false, threads=None, progress=None, errors="raise"))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn verify_batch<'py>(
        &self,
        messages: &Bound<'py, PyAny>,
        signatures: &Bound<'py, PyAny>,
        algorithm: &str,
        prehashed: bool,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = messages.py();
        let (call, algorithm) =
            (Call::new(py, threads, progress, errors, None)?, keys::algorithm(py, algorithm)?);
        let messages = Arc::new(Batch::read(messages, "messages", |_| Width::NoInts)?);
        let signatures = Arc::new(Batch::read(signatures, "signatures", |_| Width::NoInts)?);
        count(py, &[("messages", messages.len(), false), ("signatures", signatures.len(), false)])?;
        warn_if_swapped(py, &self.0, &messages, &signatures, 1)?;
        let results = verify(py, &self.0, algorithm, prehashed, messages, signatures, &call.options)?;
        list(py, &results, call.errors, |valid| Ok(PyBool::new(py, valid.is_ok()).to_owned().into_any()))
    }

    /// Encrypts a message: "RSA-OAEP-256" (also -384, -512), "RSA-OAEP" (SHA-1) or "RSA1_5".
    #[pyo3(signature = (message, padding="RSA-OAEP-256", *, label=None))]
    fn encrypt<'py>(
        &self,
        message: &Bound<'py, PyAny>,
        padding: &str,
        label: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, padding) = (message.py(), keys::padding(message.py(), padding, label.unwrap_or_default())?);
        let message = Batch::read_one(message, "message", Width::NoInts)?;
        let (options, kind) = (Options::new(py, Some(1), None)?, message.kind);
        one(py, kind, self.encrypt_items(py, message, padding, &options)?)
    }

    /// Encrypts many messages, in order.
    #[pyo3(signature = (messages, padding="RSA-OAEP-256", *, label=None, threads=None, progress=None, errors="raise", out=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn encrypt_batch<'py>(
        &self,
        messages: &Bound<'py, PyAny>,
        padding: &str,
        label: Option<&[u8]>,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = messages.py();
        let call = Call::new(py, threads, progress, errors, out)?;
        let padding = keys::padding(py, padding, label.unwrap_or_default())?;
        let messages = Batch::read(messages, "messages", |_| Width::NoInts)?;
        let (count, kind) = (count(py, &[("messages", messages.len(), false)])?, messages.kind);
        call.check_out(py, count, self.0.size())?;
        let results = self.encrypt_items(py, messages, padding, &call.options)?;
        many(py, kind, self.0.size(), &results, call.errors, call.out)
    }
}
