//! Shared by the two kinds of keys: files, keys of `cryptography`, and the names of algorithms.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use zariz::rsa::{Algorithm, Hash, KeyError, Padding};
use zeroize::Zeroizing;

use crate::error::{Failure, class_name, error};
use crate::numbers::{Batch, Width, is_one};

/// The longest file that is read as a key.
const MAX_FILE: u64 = 1 << 20;
/// The longest path that an exception shows.
const MAX_SHOWN: usize = 255;
/// In every PEM text.
pub const PEM: &str = "-----BEGIN";

/// Whether the private or the public key is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Private,
    Public,
}

/// The bytes of a key, and the file that they come from.
pub struct Source {
    pub bytes: Zeroizing<Vec<u8>>,
    pub path: Option<PathBuf>,
}

impl Source {
    /// Reads a path, PEM or DER, or a key of `cryptography`.
    pub fn read(source: &Bound<'_, PyAny>, half: Half) -> PyResult<Self> {
        let bytes = |bytes| Ok(Self { bytes, path: None });
        if source.is_instance_of::<PyString>() {
            // Python's own error would show the text.
            let text = source.extract::<String>().map(Zeroizing::new);
            let text =
                text.map_err(|_| error(source.py(), "the key is a str that cannot be encoded as UTF-8"))?;
            if text.contains(PEM) || text.contains('\n') {
                return bytes(Zeroizing::new(text.as_bytes().to_vec()));
            }
            return Self::file(source.py(), PathBuf::from(&*text));
        }
        if is_one(source)? && !source.hasattr(intern!(source.py(), "__index__"))? {
            let batch = Batch::read_one(source, "the key", Width::NoInts)?;
            return bytes(Zeroizing::new(batch.get(0).to_vec()));
        }
        if source.hasattr(intern!(source.py(), "__fspath__"))? {
            return Self::file(source.py(), source.extract::<PathBuf>()?);
        }
        bytes(of_cryptography(source, half)?)
    }

    fn file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        if path.as_os_str().is_empty() {
            return Err(error(py, "the path is empty; give the path of a key file, or the key as PEM text"));
        }
        let mut open = File::open(&path).map_err(|failure| unread(&failure, &path))?;
        let len = open.metadata().map_or(0, |metadata| metadata.len()).min(MAX_FILE);
        // Large enough for all, so that growing leaves no copy.
        let mut bytes =
            Zeroizing::new(Vec::with_capacity(usize::try_from(len).unwrap_or(0).max(1 << 14) + 1));
        (&mut open).take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|failure| unread(&failure, &path))?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(error(
                py,
                &format!("{} is longer than {MAX_FILE} bytes; it is no RSA key", shown(&path)),
            ));
        }
        Ok(Self { bytes, path: Some(path) })
    }
}

/// The exception for an unusable key, with its file.
pub fn refused(py: Python<'_>, path: Option<&Path>, failure: KeyError) -> PyErr {
    let Failure { kind, text } = Failure::from(failure);
    let text = path.map_or_else(|| text.clone(), |path| format!("{}: {text}", shown(path)));
    Failure { kind, text }.exception(py, None)
}

/// The path, for errors. A text that is too long for a path may be a key, and is not shown.
fn shown(path: &Path) -> String {
    match path.as_os_str().len() {
        ..=MAX_SHOWN => format!("{path:?}"),
        length => format!("a path of {length} bytes (not shown, since it may be a key)"),
    }
}

/// The exception that `open` raises, such as FileNotFoundError.
fn unread(failure: &io::Error, path: &Path) -> PyErr {
    match failure.raw_os_error() {
        Some(number) if path.as_os_str().len() <= MAX_SHOWN => {
            PyOSError::new_err((number, failure.to_string(), path.to_owned()))
        }
        Some(number) => PyOSError::new_err((number, format!("{failure}: {}", shown(path)))),
        None => PyOSError::new_err(format!("{failure}: {}", shown(path))),
    }
}

fn of_cryptography(key: &Bound<'_, PyAny>, half: Half) -> PyResult<Zeroizing<Vec<u8>>> {
    let py = key.py();
    let is_private = key.hasattr(intern!(py, "private_bytes"))?;
    if !is_private && !key.hasattr(intern!(py, "public_bytes"))? {
        let name = class_name(key)?;
        return Err(PyTypeError::new_err(format!(
            "a key cannot be made from {name}; give a path, the bytes of a PEM or DER file, or a key of cryptography"
        )));
    }
    let of = |name: &str| py.import("cryptography.hazmat.primitives.serialization")?.getattr(name);
    let der = of("Encoding")?.getattr("DER")?;
    let bytes = match (half, is_private) {
        (Half::Private, true) => {
            let none = of("NoEncryption")?.call0()?;
            key.call_method1("private_bytes", (der, of("PrivateFormat")?.getattr("PKCS8")?, none))?
        }
        (Half::Private, false) => {
            return Err(refused(py, None, KeyError::PublicOnly));
        }
        (Half::Public, _) => {
            let public = if is_private { key.call_method0("public_key")? } else { key.clone() };
            public
                .call_method1("public_bytes", (der, of("PublicFormat")?.getattr("SubjectPublicKeyInfo")?))?
        }
    };
    Ok(Zeroizing::new(bytes.extract::<Vec<u8>>()?))
}

/// The signature algorithm with a name of RFC 7518.
pub fn algorithm(py: Python<'_>, name: &str) -> PyResult<Algorithm> {
    name.parse().map_err(|failure: zariz::rsa::UnknownAlgorithm| error(py, &failure.to_string()))
}

/// The padding with a name of RFC 7518, or RSA-OAEP-384, which is not in that.
pub fn padding(py: Python<'_>, name: &str, label: &[u8]) -> PyResult<Padding> {
    let hash = match name {
        "RSA1_5" if label.is_empty() => return Ok(Padding::Pkcs1v15),
        "RSA1_5" => return Err(error(py, "RSA1_5 has no label; leave it out, or choose RSA-OAEP-256")),
        "RSA-OAEP" => Hash::Sha1,
        "RSA-OAEP-256" => Hash::Sha256,
        "RSA-OAEP-384" => Hash::Sha384,
        "RSA-OAEP-512" => Hash::Sha512,
        _ => {
            let known = "RSA-OAEP-256, RSA-OAEP-384, RSA-OAEP-512, RSA-OAEP (with SHA-1), RSA1_5";
            return Err(error(py, &format!("there is no padding named {name:?}; choose one of {known}")));
        }
    };
    Ok(match Padding::oaep(hash) {
        Padding::Oaep { hash, mgf, .. } => Padding::Oaep { hash, mgf, label: label.to_vec() },
        other => other,
    })
}
