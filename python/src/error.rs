//! Exceptions: the classes are in `zariz/_errors.py`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

/// The kind of an item's exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Error,
    Modulus,
    Key,
    Signature,
    Decryption,
    NotInvertible,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Error => "Error",
            Self::Modulus => "InvalidModulus",
            Self::Key => "InvalidKey",
            Self::Signature => "InvalidSignature",
            Self::Decryption => "DecryptionFailed",
            Self::NotInvertible => "NotInvertible",
        }
    }
}

/// Why an item has no result.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its exception class.
    pub kind: Kind,
    /// The error, without the item's place.
    pub text: String,
}

impl Failure {
    /// A failure of the class `zariz.Error`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { kind: Kind::Error, text: text.into() }
    }

    /// A failure of another class.
    pub fn of(kind: Kind, text: impl ToString) -> Self {
        Self { kind, text: text.to_string() }
    }

    /// The exception, for the item at a place in its batch, or for a call with one item.
    pub fn exception(&self, py: Python<'_>, index: Option<usize>) -> PyErr {
        let text = match index {
            Some(index) => format!("item {index} (counted from 0): {}", self.text),
            None => self.text.clone(),
        };
        make(py, self.kind.class(), &text, index)
    }
}

impl From<zariz::rsa::Error> for Failure {
    fn from(error: zariz::rsa::Error) -> Self {
        use zariz::rsa::Error;
        let kind = match error {
            Error::Verification | Error::SaltLength { .. } => Kind::Signature,
            Error::Decryption => Kind::Decryption,
            Error::KeyTooShort | Error::InvalidKey | Error::PssOnly | Error::PssParameters(_) => Kind::Key,
            _ => Kind::Error,
        };
        Self::of(kind, error)
    }
}

impl From<zariz::rsa::KeyError> for Failure {
    fn from(error: zariz::rsa::KeyError) -> Self {
        Self::of(Kind::Key, error)
    }
}

impl From<zariz::ModulusError> for Failure {
    fn from(error: zariz::ModulusError) -> Self {
        Self::of(Kind::Modulus, error)
    }
}

/// A class of `zariz/_errors.py`.
pub fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("zariz._errors").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

fn make(py: Python<'_>, name: &str, text: &str, index: Option<usize>) -> PyErr {
    let made = class(py, name).and_then(|class| class.call1((text,))).and_then(|error| {
        if let Some(index) = index {
            error.setattr("index", index)?;
        }
        Ok(error)
    });
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The name of an object's class, for errors. (`Display` would check for signals, and drop the resulting
/// exception.)
pub fn class_name(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(object.get_type().name()?.to_str()?.to_owned())
}

/// A `zariz.Error` for a whole call.
pub fn error(py: Python<'_>, text: &str) -> PyErr {
    make(py, "Error", text, None)
}
