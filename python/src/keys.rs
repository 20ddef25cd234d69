//! What the two kinds of keys share: files, keys of `cryptography`, and the names of algorithms.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use zariz::rsa::{Algorithm, Hash, Padding};
use zeroize::Zeroizing;

use crate::error::{Failure, Kind, error};
use crate::numbers::{Batch, Width, is_one};

/// The longest file that is read as a key.
const MAX_FILE: u64 = 1 << 20;
/// The longest path that an exception shows.
const MAX_SHOWN: usize = 255;

/// Whether the private or the public key is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Private,
    Public,
}

/// The bytes of a key: from a path, from PEM or DER, or from a key of `cryptography`.
pub fn bytes(source: &Bound<'_, PyAny>, half: Half) -> PyResult<Zeroizing<Vec<u8>>> {
    if source.is_instance_of::<PyString>() {
        // An error of Python's would show the text.
        let text = source.extract::<String>().map(Zeroizing::new);
        let text = text.map_err(|_| error(source.py(), "the key is a str with characters that UTF-8 does not have"))?;
        if text.contains("-----BEGIN") || text.contains('\n') {
            return Ok(Zeroizing::new(text.as_bytes().to_vec()));
        }
        return file(source.py(), &PathBuf::from(&*text));
    }
    if is_one(source)? && !source.hasattr(intern!(source.py(), "__index__"))? {
        let batch = Batch::read_one(source, "the key", Width::NoInts)?;
        return Ok(Zeroizing::new(batch.get(0).to_vec()));
    }
    if source.hasattr(intern!(source.py(), "__fspath__"))? {
        return file(source.py(), &source.extract::<PathBuf>()?);
    }
    of_cryptography(source, half)
}

/// The exception that `open` raises, such as FileNotFoundError. What is too long for a path may be a key, and is not
/// shown.
fn unread(failure: &io::Error, path: &Path) -> PyErr {
    match failure.raw_os_error() {
        Some(number) if path.as_os_str().len() <= MAX_SHOWN => {
            PyOSError::new_err((number, failure.to_string(), path.to_owned()))
        }
        Some(number) => PyOSError::new_err((number, failure.to_string())),
        None => PyOSError::new_err(failure.to_string()),
    }
}

fn file(py: Python<'_>, path: &Path) -> PyResult<Zeroizing<Vec<u8>>> {
    let mut open = File::open(path).map_err(|failure| unread(&failure, path))?;
    let len = open.metadata().map_or(0, |metadata| metadata.len()).min(MAX_FILE);
    // With room for all, so that no copy is left where the list grew.
    let mut out = Zeroizing::new(Vec::with_capacity(usize::try_from(len).unwrap_or(0).max(1 << 14) + 1));
    (&mut open).take(MAX_FILE + 1).read_to_end(&mut out).map_err(|failure| unread(&failure, path))?;
    if out.len() as u64 > MAX_FILE {
        return Err(error(py, &format!("{} is longer than {MAX_FILE} bytes; it is no RSA key", path.display())));
    }
    Ok(out)
}

fn of_cryptography(key: &Bound<'_, PyAny>, half: Half) -> PyResult<Zeroizing<Vec<u8>>> {
    let py = key.py();
    let is_private = key.hasattr(intern!(py, "private_bytes"))?;
    if !is_private && !key.hasattr(intern!(py, "public_bytes"))? {
        let name = key.get_type().name()?.to_string();
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
            return Err(Failure::of(Kind::Key, "this is a public key; the private key is needed").exception(py, None));
        }
        (Half::Public, _) => {
            let public = if is_private { key.call_method0("public_key")? } else { key.clone() };
            public.call_method1("public_bytes", (der, of("PublicFormat")?.getattr("SubjectPublicKeyInfo")?))?
        }
    };
    Ok(Zeroizing::new(bytes.extract::<Vec<u8>>()?))
}

/// The signature algorithm of a name in RFC 7518.
pub fn algorithm(py: Python<'_>, name: &str) -> PyResult<Algorithm> {
    name.parse().map_err(|failure: zariz::rsa::UnknownAlgorithm| error(py, &failure.to_string()))
}

/// The padding of a name in RFC 7518, and RSA-OAEP-384, which that does not have.
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
