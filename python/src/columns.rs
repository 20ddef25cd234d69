//! Columns of Arrow, read through its PyCapsule interface. Rows are copied before the work begins.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;

use crate::error::error;
use crate::moduli::count;
use crate::numbers::Batch;

/// The longest row that is in its view.
const INLINE: usize = 12;
/// The bytes of a view.
const VIEW: usize = 16;

/// The arrays of an object with `__arrow_c_array__` or `__arrow_c_stream__`. Another thread may have to make those of a
/// stream, so the interpreter is released meanwhile; and a stream may be endless.
fn arrays(column: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<ArrayRef>> {
    let py = column.py();
    let reads = ["__arrow_c_array__", "__arrow_c_stream__"];
    if !reads.iter().map(|name| column.hasattr(*name)).collect::<PyResult<Vec<_>>>()?.contains(&true) {
        let class = column.get_type().name()?.to_string();
        let text = format!("{what} is {class}; give a column that has __arrow_c_array__ or __arrow_c_stream__");
        return Err(PyTypeError::new_err(text));
    }
    // The crates that read capsules panic at some that are damaged.
    let damaged = |_| error(py, &format!("{what} is damaged, or was read before"));
    let open = || column.extract::<AnyArray>()?.into_reader();
    let mut reader = catch_unwind(AssertUnwindSafe(open)).map_err(damaged)??;
    let mut arrays = Vec::new();
    loop {
        py.check_signals()?;
        let next = py.detach(|| catch_unwind(AssertUnwindSafe(|| reader.next())));
        match next.map_err(damaged)? {
            Some(Ok(array)) => arrays.push(array),
            Some(Err(failure)) => return Err(error(py, &format!("{what} cannot be read: {failure}"))),
            None => return Ok(arrays),
        }
    }
}

/// Each row, or `None` for a null. The first of them is row `first` of the column. Offsets and views are copied before
/// they are checked, since another thread may change them. The last offset is trusted: it is all that Arrow's C interface
/// says of the data's length.
fn rows<'a>(py: Python<'_>, array: &'a ArrayRef, first: usize, what: &str) -> PyResult<Vec<Option<&'a [u8]>>> {
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
            let text = format!("{what} has the type {other}; give binary, fixed-size binary or string (or a view)");
            return Err(error(py, &text));
        }
    };
    let is_text = matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let nulls = array.nulls();
    let checked = |(i, row): (usize, Option<&'a [u8]>)| {
        if nulls.is_some_and(|nulls| nulls.is_null(i)) {
            return Ok(None);
        }
        let good = row.filter(|row| !is_text || std::str::from_utf8(row).is_ok());
        let row = first + i;
        let text = || format!("{what} is damaged: row {row} lies outside its buffers, or is not UTF-8");
        good.map(Some).ok_or_else(|| error(py, &text()))
    };
    rows.into_iter().enumerate().map(checked).collect()
}

/// Rows between two offsets each; `None` for one that is not in the array.
fn by_offsets<T: ByteArrayType>(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    let array = array.as_bytes::<T>();
    let offsets: Vec<usize> = array.value_offsets().iter().map(|offset| offset.as_usize()).collect();
    offsets.windows(2).map(|two| array.value_data().get(two[0]..two[1])).take(array.len()).collect()
}

/// Rows by their views: the length, and the row itself or its place in one of the buffers.
fn by_views<T: ByteViewType>(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    let array = array.as_byte_view::<T>();
    let (inside, buffers) = (array.views().inner().as_slice(), array.data_buffers());
    let views: Vec<u128> = array.views().to_vec();
    let word = |view: u128, i: u32| (view >> (32 * i)) as u32 as usize;
    let row = |(i, view): (usize, u128)| match word(view, 0) {
        length @ ..=INLINE => inside.get(VIEW * i + 4..)?.get(..length),
        length => buffers.get(word(view, 2))?.as_slice().get(word(view, 3)..)?.get(..length),
    };
    views.into_iter().enumerate().map(row).collect()
}

fn of_one_length(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    let array = array.as_fixed_size_binary();
    let (size, data) = (array.value_length().as_usize(), array.value_data());
    (0..array.len()).map(|i| data.get(size * i..size * (i + 1))).collect()
}

/// The rows of several columns of one length that are null in none of them.
pub struct Rows {
    pub columns: Vec<Batch>,
    /// Which rows they are.
    pub places: Vec<usize>,
    pub count: usize,
}

impl Rows {
    /// Reads columns, each with its name in errors.
    pub fn read(py: Python<'_>, columns: &[(&str, &Bound<'_, PyAny>)]) -> PyResult<Self> {
        let read: Vec<(&str, Vec<ArrayRef>)> =
            columns.iter().map(|(what, column)| Ok((*what, arrays(column, what)?))).collect::<PyResult<_>>()?;
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
        let places: Vec<usize> = (0..count).filter(|&i| all.iter().all(|(_, column)| column[i].is_some())).collect();
        let batch =
            |(_, column): &(&str, Vec<Option<&[u8]>>)| Batch::of_rows(py, places.iter().filter_map(|&i| column[i]));
        Ok(Self { columns: all.iter().map(batch).collect::<PyResult<_>>()?, places, count })
    }
}
