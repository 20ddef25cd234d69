//! Operations on columns of Arrow, and columns of results.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder};
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray};
use arrow_schema::{ArrowError, Field, FieldRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule};

use crate::columns::{Rows, unless_damaged};
use crate::error::{Failure, error};
use crate::keys;
use crate::numbers::{Batch, exponent_width};
use crate::output::Outcome;
use crate::powers::Modulus;
use crate::private_key::{Operation, PrivateKey, apply};
use crate::public_key::{PublicKey, verify, warn_if_swapped};
use crate::work::{Options, cost, run};

/// A column of results, for anything that reads Arrow: `pyarrow.array(column)`, `polars.Series(column)`.
#[pyclass(frozen, module = "zariz.arrow")]
pub struct Column {
    array: ArrayRef,
    field: FieldRef,
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __repr__(&self) -> String {
        let (rows, nulls) = (self.array.len(), self.array.null_count());
        format!("<zariz.arrow.Column of {}, {rows} rows, {nulls} null>", self.field.data_type())
    }

    /// The number of nulls.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, &*self.field)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let give = || to_array_pycapsules(py, self.field.clone(), &self.array, requested_schema);
        Ok(unless_damaged(py, "requested_schema", give)??)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let arrays = std::iter::once(Ok::<_, ArrowError>(self.array.clone()));
        let reader = Box::new(ArrayIterator::new(arrays, self.field.clone()));
        Ok(unless_damaged(py, "requested_schema", || to_stream_pycapsule(py, reader, requested_schema))??)
    }
}

impl Column {
    fn new(array: ArrayRef) -> Self {
        let field = Arc::new(Field::new("", array.data_type().clone(), true));
        Self { array, field }
    }
}

/// Puts results at their places, nulls elsewhere.
fn spread<B>(places: &[usize], count: usize, results: Vec<Outcome<B>>) -> Vec<Option<Outcome<B>>> {
    let mut out: Vec<Option<Outcome<B>>> = (0..count).map(|_| None).collect();
    for (&place, result) in places.iter().zip(results) {
        out[place] = Some(result);
    }
    out
}

/// The column of results, and one of error reasons if asked for.
fn give<'a, B>(
    py: Python<'_>,
    results: &'a [Option<Outcome<B>>],
    reasons: bool,
    build: impl FnOnce(&mut dyn Iterator<Item = Option<&B>>) -> Result<ArrayRef, ArrowError>,
) -> PyResult<Py<PyAny>> {
    let mut good = results.iter().map(|result| result.as_ref().and_then(|result| result.as_ref().ok()));
    let array = build(&mut good).map_err(|failure| error(py, &failure.to_string()))?;
    let column = Bound::new(py, Column::new(array))?;
    if !reasons {
        return Ok(column.into_any().unbind());
    }
    let failed = |result: &'a Option<Outcome<B>>| Some(&result.as_ref()?.as_ref().err()?.text);
    let reasons = Bound::new(py, Column::new(texts(results.iter().map(failed))))?;
    Ok(PyTuple::new(py, [column, reasons])?.into_any().unbind())
}

/// Texts, with the shorter offsets if these are large enough.
fn texts<'a>(rows: impl Iterator<Item = Option<&'a String>> + Clone) -> ArrayRef {
    let total: usize = rows.clone().flatten().map(String::len).sum();
    if i32::try_from(total).is_ok() {
        Arc::new(rows.collect::<StringArray>())
    } else {
        Arc::new(rows.collect::<LargeStringArray>())
    }
}

fn fixed<'a, B: AsRef<[u8]> + 'a>(
    size: usize,
    rows: &mut dyn Iterator<Item = Option<&'a B>>,
) -> Result<ArrayRef, ArrowError> {
    let width = i32::try_from(size).map_err(|error| ArrowError::InvalidArgumentError(error.to_string()))?;
    let mut out = FixedSizeBinaryBuilder::new(width);
    for row in rows {
        match row {
            Some(bytes) => out.append_value(bytes)?,
            None => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}

/// `sign`, `sign_digest`, `decrypt` or `raw` of each row of a column.
#[pyfunction]
#[pyo3(signature = (column, key, operation, algorithm, label, reasons, threads, progress))]
#[allow(clippy::too_many_arguments, reason = "called by zariz/arrow.py alone")]
pub fn arrow_private(
    column: &Bound<'_, PyAny>,
    key: &Bound<'_, PrivateKey>,
    operation: &str,
    algorithm: &str,
    label: &[u8],
    reasons: bool,
    threads: Option<isize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (py, key) = (column.py(), &key.get().0);
    let options = Options::new(py, threads, progress)?;
    let decrypts = operation == "decrypt";
    let operation = match operation {
        "sign" => Operation::Sign(keys::algorithm(py, algorithm)?),
        "sign_digest" => Operation::SignDigest(keys::algorithm(py, algorithm)?),
        "decrypt" => Operation::Decrypt(keys::padding(py, algorithm, label)?),
        _ => Operation::Raw,
    };
    let Rows { mut columns, places, count } = Rows::read(py, &[("column", column)])?;
    let results = spread(&places, count, apply(py, key, operation, columns.swap_remove(0), &options)?);
    if !decrypts {
        return give(py, &results, reasons, |rows| fixed(key.size(), rows));
    }
    let total: usize = results.iter().flatten().flatten().map(|bytes| bytes.len()).sum();
    give(py, &results, reasons, |rows| {
        Ok(if i32::try_from(total).is_ok() {
            let mut out = BinaryBuilder::with_capacity(count, total);
            rows.for_each(|row| out.append_option(row));
            Arc::new(out.finish()) as ArrayRef
        } else {
            let mut out = LargeBinaryBuilder::with_capacity(count, total);
            rows.for_each(|row| out.append_option(row));
            Arc::new(out.finish())
        })
    })
}

/// Raises each row of a column to one power.
#[pyfunction]
#[pyo3(signature = (column, modulus, exponent, exponent_bits, vartime, reasons, threads, progress))]
#[allow(clippy::too_many_arguments, reason = "called by zariz/arrow.py alone")]
pub fn arrow_pow(
    column: &Bound<'_, PyAny>,
    modulus: &Bound<'_, Modulus>,
    exponent: &Bound<'_, PyAny>,
    exponent_bits: Option<usize>,
    vartime: bool,
    reasons: bool,
    threads: Option<isize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (py, modulus) = (column.py(), modulus.get().0.clone());
    let options = Options::new(py, threads, progress)?;
    let size = modulus.size();
    let exponent = Batch::read_good(exponent, "exponent", exponent_width(py, exponent_bits, vartime)?(size))?;
    let Rows { mut columns, places, count } = Rows::read(py, &[("column", column)])?;
    let (bases, each) = (columns.swap_remove(0), cost(8 * size, 8 * exponent.longest()));
    let piece = move |range: Range<usize>, _: &_| {
        let bases: Vec<&[u8]> = range.map(|i| bases.get(i)).collect();
        let exponent = exponent.get(0);
        let powers = if vartime {
            modulus.pow_batch_vartime(&bases, exponent)
        } else {
            modulus.pow_batch(&bases, exponent)
        };
        powers.into_iter().map(Ok::<_, Failure>).collect::<Vec<_>>()
    };
    let results = spread(&places, count, run(py, places.len(), each, &options, piece)?);
    give(py, &results, reasons, |rows| fixed(size, rows))
}

/// Whether each signature in a column is one of the message in another column.
#[pyfunction]
#[pyo3(signature = (messages, signatures, key, algorithm, prehashed, reasons, threads, progress))]
#[allow(clippy::too_many_arguments, reason = "called by zariz/arrow.py alone")]
pub fn arrow_verify(
    messages: &Bound<'_, PyAny>,
    signatures: &Bound<'_, PyAny>,
    key: &Bound<'_, PublicKey>,
    algorithm: &str,
    prehashed: bool,
    reasons: bool,
    threads: Option<isize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (py, key) = (messages.py(), &key.get().0);
    let (options, algorithm) = (Options::new(py, threads, progress)?, keys::algorithm(py, algorithm)?);
    let Rows { mut columns, places, count } =
        Rows::read(py, &[("messages", messages), ("signatures", signatures)])?;
    let (signatures, messages) = (Arc::new(columns.swap_remove(1)), Arc::new(columns.swap_remove(0)));
    warn_if_swapped(py, key, &messages, &signatures, 2)?;
    let results = verify(py, key, algorithm, prehashed, messages, signatures, &options)?;
    give(py, &spread(&places, count, results), reasons, |rows| {
        let mut out = BooleanBuilder::with_capacity(count);
        rows.for_each(|row| out.append_option(row.map(Result::is_ok)));
        Ok(Arc::new(out.finish()))
    })
}
