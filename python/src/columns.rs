//! Reads Arrow columns through the PyCapsule interface. Rows are copied before the work begins.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType,
    Utf8Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;
use zeroize::Zeroizing;

use crate::error::{class_name, error};
use crate::moduli::count;
use crate::numbers::Batch;

/// The most rows of a column.
const MAX_ROWS: usize = 1 << 30;
/// The longest row that is inside its view.
const INLINE: usize = 12;
/// The length of a view in bytes.
const VIEW: usize = 16;

/// The arrays of an object with `__arrow_c_array__` or `__arrow_c_stream__`. Another thread may have to make
/// the arrays of a stream, so the interpreter is released meanwhile. A stream may be endless.
fn arrays(column: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<ArrayRef>> {
    let py = column.py();
    let reads = ["__arrow_c_array__", "__arrow_c_stream__"];
    if !reads.iter().map(|name| column.hasattr(*name)).collect::<PyResult<Vec<_>>>()?.contains(&true) {
        let class = class_name(column)?;
        let text =
            format!("{what} is {class}; give a column that has __arrow_c_array__ or __arrow_c_stream__");
        return Err(PyTypeError::new_err(text));
    }
    let mut reader = unless_damaged(py, what, || column.extract::<AnyArray>()?.into_reader())??;
    let arrays = read(py, &mut *reader, what);
    py.detach(move || drop(reader));
    arrays
}

/// All arrays of a reader.
fn read(py: Python<'_>, reader: &mut (dyn ArrayReader + Send), what: &str) -> PyResult<Vec<ArrayRef>> {
    let (mut arrays, mut rows) = (Vec::new(), 0_usize);
    loop {
        py.check_signals()?;
        match py.detach(|| unless_damaged_outside(|| reader.next())).ok_or_else(|| damaged(py, what))? {
            Some(Ok(array)) => {
                rows = rows.saturating_add(array.len());
                // Rows without bytes need no memory, so a column may claim any number of them.
                if rows > MAX_ROWS {
                    return Err(error(
                        py,
                        &format!("{what} has more than {MAX_ROWS} rows; give fewer at a time"),
                    ));
                }
                arrays.push(array);
            }
            Some(Err(failure)) => return Err(error(py, &format!("{what} cannot be read: {failure}"))),
            None => return Ok(arrays),
        }
    }
}

/// Calls a function of the crates that read and write capsules: they panic at some damaged ones.
pub fn unless_damaged<R>(py: Python<'_>, what: &str, work: impl FnOnce() -> R) -> PyResult<R> {
    unless_damaged_outside(work).ok_or_else(|| damaged(py, what))
}

fn unless_damaged_outside<R>(work: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn damaged(py: Python<'_>, what: &str) -> PyErr {
    error(py, &format!("{what} is damaged, or was read before"))
}

/// Each row, or `None` for a null. The first of them is row `first` of the column. Offsets and views are
/// copied before they are checked, since another thread may change them. The last offset is trusted: Arrow's
/// C interface gives no other length of the data.
fn rows<'a>(
    py: Python<'_>,
    array: &'a ArrayRef,
    first: usize,
    what: &str,
) -> PyResult<Vec<Option<&'a [u8]>>> {
    let rows = match array.data_type() {
        DataType::Binary => by_offsets::<BinaryType>(array),
        DataType::LargeBinary => by_offsets::<LargeBinaryType>(array),
        DataType::Utf8 => by_offsets::<Utf8Type>(array),
        DataType::LargeUtf8 => by_offsets::<LargeUtf8Type>(array),
        DataType::BinaryView => by_views::<BinaryViewType>(array),
        DataType::Utf8View => by_views::<StringViewType>(array),
        DataType::FixedSizeBinary(_) => of_one_length(array),
        DataType::Null => return Ok(vec![None; array.len()]),
        other => {
            let text =
                format!("{what} has the type {other}; give binary, fixed-size binary or string (or a view)");
            return Err(error(py, &text));
        }
    };
    let nulls = array.nulls();
    let checked = |(i, row): (usize, Option<&'a [u8]>)| {
        if nulls.is_some_and(|nulls| nulls.is_null(i)) {
            return Ok(None);
        }
        let text = || format!("{what} is damaged: row {} lies outside its buffers", first + i);
        row.map(Some).ok_or_else(|| error(py, &text()))
    };
    rows.into_iter().enumerate().map(checked).collect()
}

/// Rows between two offsets; `None` for one outside of the array.
fn by_offsets<T: ByteArrayType>(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    let array = array.as_bytes::<T>();
    // If the last offset is negative, the buffer claims an impossible length.
    let data = if isize::try_from(array.values().len()).is_ok() { array.value_data() } else { &[] };
    let offsets: Vec<Option<usize>> = array.value_offsets().iter().map(|offset| offset.to_usize()).collect();
    offsets.windows(2).map(|two| data.get(two[0]?..two[1]?)).take(array.len()).collect()
}

/// Rows by their views: the length, then the row itself or its place in one of the buffers.
fn by_views<T: ByteViewType>(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    let array = array.as_byte_view::<T>();
    let (inside, buffers) = (array.views().inner().as_slice(), array.data_buffers());
    let views = Zeroizing::new(array.views().to_vec());
    let word = |view: u128, i: u32| (view >> (32 * i)) as u32 as usize;
    let row = |(i, &view): (usize, &u128)| match word(view, 0) {
        length @ ..=INLINE => inside.get(VIEW * i + 4..)?.get(..length),
        length => buffers.get(word(view, 2))?.as_slice().get(word(view, 3)..)?.get(..length),
    };
    views.iter().enumerate().map(row).collect()
}

fn of_one_length(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    let array = array.as_fixed_size_binary();
    let (size, data) = (array.value_length().as_usize(), array.value_data());
    (0..array.len()).map(|i| data.get(size * i..size * (i + 1))).collect()
}

/// The rows of several columns of equal length that are null in none of them.
pub struct Rows {
    pub columns: Vec<Batch>,
    /// The numbers of these rows.
    pub places: Vec<usize>,
    pub count: usize,
}

impl Rows {
    /// Reads columns, each with its name for errors.
    pub fn read(py: Python<'_>, columns: &[(&str, &Bound<'_, PyAny>)]) -> PyResult<Self> {
        let read: Vec<(&str, Vec<ArrayRef>)> = columns
            .iter()
            .map(|(what, column)| Ok((*what, arrays(column, what)?)))
            .collect::<PyResult<_>>()?;
        let mut all: Vec<(&str, Vec<Option<&[u8]>>)> = Vec::with_capacity(read.len());
        for (what, arrays) in &read {
            let mut column = Vec::new();
            for array in arrays {
                py.check_signals()?;
                column.extend(rows(py, array, column.len(), what)?);
            }
            all.push((*what, column));
        }
        let lengths: Vec<_> = all.iter().map(|(what, column)| (*what, column.len(), false)).collect();
        let count = count(py, &lengths)?;
        let places: Vec<usize> =
            (0..count).filter(|&i| all.iter().all(|(_, column)| column[i].is_some())).collect();
        let batch = |(_, column): &(&str, Vec<Option<&[u8]>>)| {
            Batch::of_rows(py, places.iter().filter_map(|&i| column[i]))
        };
        Ok(Self { columns: all.iter().map(batch).collect::<PyResult<_>>()?, places, count })
    }
}
