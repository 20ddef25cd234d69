//! Makes results of the type that came in.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyInt, PyList};
use zeroize::Zeroizing;

use crate::error::{Failure, class, error};
use crate::numbers::{Batch, Kind, unless_refused};
use crate::work::check_signals;

/// How failed items are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// By one exception for all of them, with the results of the others.
    Raise,
    /// In the list, as errors in place of results.
    Return,
}

impl Errors {
    /// Reads the argument `errors`.
    pub fn read(py: Python<'_>, name: &str) -> PyResult<Self> {
        match name {
            "raise" => Ok(Self::Raise),
            "return" => Ok(Self::Return),
            _ => Err(error(py, &format!("errors is {name:?}; choose \"raise\" or \"return\""))),
        }
    }
}

/// A result, or why there is none.
pub type Outcome<B> = Result<B, Failure>;

/// An int from big-endian bytes.
pub fn int<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyBytes::new(py, bytes);
    py.get_type::<PyInt>().call_method1(intern!(py, "from_bytes"), (bytes, intern!(py, "big")))
}

fn item<'py>(py: Python<'py>, kind: Kind, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::Int => int(py, bytes),
        Kind::Bytes | Kind::Rows { .. } => Ok(PyBytes::new(py, bytes).into_any()),
    }
}

/// The result of a call for one item.
pub fn one<'py, B: AsRef<[u8]>>(
    py: Python<'py>,
    kind: Kind,
    mut results: Vec<Outcome<B>>,
) -> PyResult<Bound<'py, PyAny>> {
    match results.pop() {
        Some(Ok(bytes)) => item(py, kind, bytes.as_ref()),
        Some(Err(failure)) => Err(failure.exception(py, None)),
        None => Err(error(py, "there is no result: this is a bug; please report it")),
    }
}

/// Replaces results by the failures of reading.
pub fn with_failures<B>(mut results: Vec<Outcome<B>>, batches: &[&Batch]) -> Vec<Outcome<B>> {
    for batch in batches {
        for (i, failure) in &batch.failures {
            results[*i] = Err(failure.clone());
        }
    }
    results
}

/// The results of a batch. Rows have `size` bytes each. `out` is a buffer of that shape to fill.
pub fn many<'py, B: AsRef<[u8]>>(
    py: Python<'py>,
    kind: Kind,
    size: usize,
    results: &[Outcome<B>],
    errors: Errors,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if results.iter().any(Result::is_err) {
        return list(py, results, errors, |bytes| item(py, kind, bytes.as_ref()));
    }
    match (out, kind) {
        (Some(out), _) => {
            // Another thread may have changed it meanwhile.
            out_buffer(py, &out, results.len(), size)?.copy_from_slice(py, &flat(size, results))?;
            Ok(out)
        }
        (None, Kind::Rows { numpy }) => rows(py, numpy, size, results),
        (None, _) => list(py, results, errors, |bytes| item(py, kind, bytes.as_ref())),
    }
}

/// The results as a list, each made by `give`; failures as the caller asked.
pub fn list<'py, B>(
    py: Python<'py>,
    results: &[Outcome<B>],
    errors: Errors,
    give: impl Fn(&B) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(py);
    let failures = PyDict::new(py);
    for (i, result) in results.iter().enumerate() {
        check_signals(py, i)?;
        match result {
            Ok(result) => list.append(give(result)?)?,
            Err(failure) => {
                let exception = failure.exception(py, Some(i)).into_value(py);
                failures.set_item(i, &exception)?;
                if errors == Errors::Return { list.append(exception)? } else { list.append(py.None())? }
            }
        }
    }
    if failures.is_empty() || errors == Errors::Return {
        return Ok(list.into_any());
    }
    Err(batch_error(py, list, failures)?)
}

fn batch_error<'py>(
    py: Python<'py>,
    list: Bound<'py, PyList>,
    failures: Bound<'py, PyDict>,
) -> PyResult<PyErr> {
    let (count, first) = (failures.len(), failures.iter().next());
    let Some((index, first)) = first else { return Ok(error(py, "no item failed")) };
    let others = match count {
        1 => String::new(),
        count => format!(" ({} of {} items failed)", count, list.len()),
    };
    let text = first.str()?.to_str()?.to_owned() + &others;
    let exception = class(py, "BatchError")?.call1((text,))?;
    exception.setattr("results", list)?;
    exception.setattr("errors", failures)?;
    exception.setattr("index", index)?;
    Ok(PyErr::from_value(exception))
}

/// All results one after the other, each left-padded to `size` bytes.
fn flat<B: AsRef<[u8]>>(size: usize, results: &[Outcome<B>]) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(vec![0; size * results.len()]);
    copy(&mut out, size, results);
    out
}

fn copy<B: AsRef<[u8]>>(out: &mut [u8], size: usize, results: &[Outcome<B>]) {
    if size == 0 {
        return;
    }
    for (row, bytes) in out.chunks_exact_mut(size).zip(results.iter().flatten()) {
        let bytes = bytes.as_ref();
        row[size - bytes.len()..].copy_from_slice(bytes);
    }
}

fn rows<'py, B: AsRef<[u8]>>(
    py: Python<'py>,
    numpy: bool,
    size: usize,
    results: &[Outcome<B>],
) -> PyResult<Bound<'py, PyAny>> {
    let count = results.len();
    let bytes = PyByteArray::new_with(py, size * count, |out| {
        copy(out, size, results);
        Ok(())
    })?;
    if numpy {
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("frombuffer", (bytes, "uint8"))?;
        return array.call_method1("reshape", (count, size));
    }
    let view = py.import("builtins")?.getattr("memoryview")?.call1((bytes,))?;
    // A memoryview cannot have a zero in its shape.
    if count == 0 || size == 0 { Ok(view) } else { view.call_method1("cast", ("B", (count, size))) }
}

/// The buffer of `out=`, if it can hold `count` results of `size` bytes each.
pub fn out_buffer(
    py: Python<'_>,
    out: &Bound<'_, PyAny>,
    count: usize,
    size: usize,
) -> PyResult<PyBuffer<u8>> {
    let buffer = unless_refused(py, PyBuffer::<u8>::get(out))?.ok_or_else(|| {
        PyTypeError::new_err(format!("out= is no buffer of uint8; give one of shape ({count}, {size})"))
    })?;
    if buffer.readonly() || !buffer.is_c_contiguous() || buffer.shape() != [count, size] {
        let text = format!(
            "out= has shape {:?}; give a writable, contiguous buffer of uint8 with shape ({count}, {size})",
            buffer.shape()
        );
        return Err(error(py, &text));
    }
    Ok(buffer)
}
