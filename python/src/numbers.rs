//! Reads Python's numbers and messages: ints, bytes and buffers. Everything is copied before the interpreter
//! is released, so that no other thread can change it meanwhile.

use std::ops::Range;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyList, PyMemoryView, PyString, PyTuple, PyType};
use zeroize::Zeroizing;

use crate::error::{Failure, class_name, error};
use crate::work::check_signals;

/// The longest `exponent_bits`. The longest modulus has 16384 bits.
const MAX_EXPONENT_BITS: usize = 1 << 26;

/// Checks an argument `exponent_bits`.
pub fn check_exponent_bits(py: Python<'_>, bits: usize) -> PyResult<()> {
    match bits {
        ..=MAX_EXPONENT_BITS => Ok(()),
        _ => Err(error(py, &format!("exponent_bits is {bits}; give at most {MAX_EXPONENT_BITS}"))),
    }
}

/// The width of an exponent, by the length of its modulus in bytes.
pub fn exponent_width(
    py: Python<'_>,
    bits: Option<usize>,
    vartime: bool,
) -> PyResult<impl Fn(usize) -> Width> {
    if let Some(bits) = bits {
        check_exponent_bits(py, bits)?;
    }
    Ok(move |size| match bits {
        Some(bits) => Width::Bits(bits),
        None => Width::AtLeast(if vartime { 0 } else { size }),
    })
}

/// The type that the caller gave, and so gets back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Bytes,
    /// Rows of a matrix of bytes, of numpy or another.
    Rows {
        numpy: bool,
    },
}

/// The width of an int as bytes. Bytes and rows are taken unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Padded to this many bytes; longer ints keep their length.
    AtLeast(usize),
    /// Padded to this many bits, and at most that, for every type.
    Bits(usize),
    /// Ints are refused: the items are messages.
    NoInts,
}

/// Items in order, big-endian, in one allocation that is wiped when dropped.
#[derive(Debug)]
pub struct Batch {
    data: Zeroizing<Vec<u8>>,
    /// The range of each item in `data`.
    places: Vec<Range<usize>>,
    /// Items that were refused. Their bytes are empty.
    pub failures: Vec<(usize, Failure)>,
    pub kind: Kind,
}

impl Batch {
    fn new(kind: Kind) -> Self {
        Self { data: Zeroizing::default(), places: Vec::new(), failures: Vec::new(), kind }
    }

    /// From the rows of a column.
    pub fn of_rows<'a>(py: Python<'_>, rows: impl Iterator<Item = &'a [u8]>) -> PyResult<Self> {
        let mut out = Self::new(Kind::Bytes);
        for (i, row) in rows.enumerate() {
            check_signals(py, i)?;
            out.push(row)?;
        }
        Ok(out)
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The item at a place. If there is only one item, it is for every place.
    pub fn get(&self, i: usize) -> &[u8] {
        &self.data[self.places[if self.len() == 1 { 0 } else { i }].clone()]
    }

    /// The length of the longest item in bytes.
    pub fn longest(&self) -> usize {
        (0..self.len()).map(|i| self.get(i).len()).max().unwrap_or(0)
    }

    fn push(&mut self, item: &[u8]) -> PyResult<()> {
        let (start, end) = (self.data.len(), self.data.len() + item.len());
        if end > self.data.capacity() {
            // `Vec` would leave unwiped copies behind when it grows.
            let mut larger = with_capacity(end.max(2 * self.data.capacity()).max(1024))?;
            larger.extend_from_slice(&self.data);
            self.data = Zeroizing::new(larger);
        }
        self.data.extend_from_slice(item);
        self.places.push(start..end);
        Ok(())
    }

    /// Reads many items: a buffer of shape (N, k), or any iterable. `what` names it in errors. `width` gives
    /// the width of the item at a place.
    pub fn read(object: &Bound<'_, PyAny>, what: &str, width: impl Fn(usize) -> Width) -> PyResult<Self> {
        if let Some(rows) = Self::read_rows(object, what, width(0))? {
            return Ok(rows);
        }
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "{what} is a str; give a list, or a buffer of shape (N, k)"
            )));
        }
        let mut out: Option<Self> = None;
        for (i, item) in iter(object, what)?.enumerate() {
            let item = item?;
            let read = Item::read(&item, || format!("{what}[{i}]"), width(i))?;
            let batch = out.get_or_insert_with(|| Self::new(read.kind));
            if batch.kind != read.kind {
                let text = format!(
                    "{what}[{i}] is of another kind than {what}[0]; give all as ints, or all as bytes"
                );
                return Err(PyTypeError::new_err(text));
            }
            batch.take(read)?;
        }
        Ok(out.unwrap_or_else(|| Self::new(if width(0) == Width::NoInts { Kind::Bytes } else { Kind::Int })))
    }

    /// Reads a buffer of shape (N, k); `None` if the object is not a buffer.
    pub fn read_rows(object: &Bound<'_, PyAny>, what: &str, width: Width) -> PyResult<Option<Self>> {
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return Ok(None);
        }
        buffer(object)?.map(|buffer| Self::rows(object, buffer, what, width)).transpose()
    }

    /// Reads one item: an int, bytes, or another buffer of one dimension.
    pub fn read_one(object: &Bound<'_, PyAny>, what: &str, width: Width) -> PyResult<Self> {
        let read = Item::read(object, || what.to_owned(), width)?;
        let mut out = Self::new(read.kind);
        out.take(read)?;
        Ok(out)
    }

    /// Like [`read_one`](Self::read_one), but a refused item is an immediate error.
    pub fn read_good(object: &Bound<'_, PyAny>, what: &str, width: Width) -> PyResult<Self> {
        let out = Self::read_one(object, what, width)?;
        match out.failures.first() {
            Some((_, failure)) => Err(failure.exception(object.py(), None)),
            None => Ok(out),
        }
    }

    fn take(&mut self, item: Item) -> PyResult<()> {
        let bytes = item.bytes.unwrap_or_else(|failure| {
            self.failures.push((self.len(), failure));
            Zeroizing::default()
        });
        self.push(&bytes)
    }

    fn rows(object: &Bound<'_, PyAny>, buffer: PyUntypedBuffer, what: &str, width: Width) -> PyResult<Self> {
        let py = object.py();
        let shape = buffer.shape().to_vec();
        let bytes = buffer.as_typed::<u8>().ok().filter(|_| shape.len() == 2 && buffer.item_size() == 1);
        let Some(bytes) = bytes else {
            let text = format!(
                "{what} is a buffer with shape {shape:?} and format {:?}; give a list, or a buffer of uint8 with shape \
                 (N, k): N numbers of k bytes, big-endian",
                buffer.format().to_string_lossy()
            );
            return Err(error(py, &text));
        };
        if !buffer.is_c_contiguous() {
            return Err(error(
                py,
                &format!("{what} is not contiguous; copy it first (numpy.ascontiguousarray)"),
            ));
        }
        let (count, size) = (shape[0], shape[1]);
        if size == 0 && count > 0 {
            return Err(error(py, &format!("{what} has shape {shape:?}; its rows need at least one byte")));
        }
        let mut data = Zeroizing::new(with_capacity(bytes.item_count())?);
        data.resize(bytes.item_count(), 0);
        bytes.copy_to_slice(py, &mut data)?;
        let mut out = Self::new(Kind::Rows { numpy: is_numpy(object)? });
        out.places = with_capacity(count)?;
        for i in 0..count {
            let place = i * size..(i + 1) * size;
            match checked(&data[place.clone()], width) {
                Ok(()) => out.places.push(place),
                Err(failure) => {
                    out.failures.push((i, failure));
                    out.places.push(0..0);
                }
            }
        }
        out.data = data;
        Ok(out)
    }
}

/// An empty list with this capacity, or `MemoryError`.
fn with_capacity<T>(items: usize) -> PyResult<Vec<T>> {
    let mut out = Vec::new();
    match out.try_reserve_exact(items) {
        Ok(()) => Ok(out),
        Err(_) => Err(PyMemoryError::new_err(format!("there is no memory for {items} items"))),
    }
}

/// `None` if an object says that it cannot do something. Its other exceptions, such as `KeyboardInterrupt`,
/// are passed on.
pub fn unless_refused<T>(py: Python<'_>, result: PyResult<T>) -> PyResult<Option<T>> {
    match result {
        Err(error)
            if error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyBufferError>(py) =>
        {
            Ok(None)
        }
        result => result.map(Some),
    }
}

fn buffer(object: &Bound<'_, PyAny>) -> PyResult<Option<PyUntypedBuffer>> {
    unless_refused(object.py(), PyUntypedBuffer::get(object))
}

/// The items of an object, with regular checks for signals, since a list may be long. `what` names it in
/// errors.
pub fn iter<'py>(
    object: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>> + use<'py>> {
    let py = object.py();
    let Some(items) = unless_refused(py, object.try_iter())? else {
        let class = class_name(object)?;
        let text = format!("{what} is {class}; give a list of ints or of bytes, or a buffer of shape (N, k)");
        return Err(PyTypeError::new_err(text));
    };
    Ok(items.enumerate().map(move |(i, item)| check_signals(py, i).and(item)))
}

/// Whether an object is a numpy array, or of a subclass such as memmap. Never imports numpy.
fn is_numpy(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    for class in object.get_type().mro().iter() {
        let class = class.cast_into::<PyType>()?;
        if class.name()? == "ndarray" && class.module()? == "numpy" {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an object is one number or message, rather than many.
pub fn is_one(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_instance_of::<PyInt>() || object.is_instance_of::<PyBytes>() {
        return Ok(true);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return Ok(false);
    }
    match buffer(object)? {
        Some(buffer) => Ok(buffer.dimensions() < 2),
        None => object.hasattr(intern!(object.py(), "__index__")),
    }
}

/// Like [`is_one`], if many are also allowed. An array of one dimension may mean either, and is an error.
pub fn is_clearly_one(object: &Bound<'_, PyAny>, what: &str) -> PyResult<bool> {
    let one = is_one(object)?;
    let plain = object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>();
    if one
        && !plain
        && let Some(buffer) = buffer(object)?
        && buffer.dimensions() == 1
    {
        let text = format!(
            "{what} is a buffer with shape {:?}; give a buffer of uint8 with shape (N, k): N numbers of k bytes, \
             big-endian; or bytes for one number",
            buffer.shape()
        );
        return Err(error(object.py(), &text));
    }
    Ok(one)
}

/// One item.
struct Item {
    kind: Kind,
    bytes: Result<Zeroizing<Vec<u8>>, Failure>,
}

impl Item {
    fn read(object: &Bound<'_, PyAny>, name: impl Fn() -> String, width: Width) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self { kind: Kind::Bytes, bytes: copied(bytes.as_bytes(), width) });
        }
        if let Ok(int) = object.cast::<PyInt>() {
            return Self::int(int, &name, width);
        }
        if let Some(buffer) = buffer(object)? {
            let shape = buffer.shape().to_vec();
            let bytes = buffer.as_typed::<u8>().ok();
            let Some(bytes) = bytes.filter(|_| shape.len() == 1 && buffer.is_c_contiguous()) else {
                let text =
                    format!("{} is a buffer of shape {shape:?}; give bytes in one contiguous row", name());
                return Err(error(object.py(), &text));
            };
            let mut copy = Zeroizing::new(vec![0; bytes.item_count()]);
            bytes.copy_to_slice(object.py(), &mut copy)?;
            return Ok(Self { kind: Kind::Bytes, bytes: checked(&copy, width).map(|()| copy) });
        }
        // Integers of other libraries.
        let index = intern!(object.py(), "__index__");
        if object.hasattr(index)?
            && let Some(int) = unless_refused(object.py(), object.call_method0(index))?
            && let Ok(int) = int.cast::<PyInt>()
        {
            return Self::int(int, &name, width);
        }
        let wanted = if width == Width::NoInts { "bytes" } else { "an int or bytes" };
        Err(PyTypeError::new_err(format!("{} is {}; give {wanted}", name(), class_name(object)?)))
    }

    fn int(int: &Bound<'_, PyInt>, name: &impl Fn() -> String, width: Width) -> PyResult<Self> {
        let py = int.py();
        let (least, most) = match width {
            Width::AtLeast(bytes) => (bytes, None),
            Width::Bits(bits) => (bits.div_ceil(8), Some(bits)),
            Width::NoInts => return Err(PyTypeError::new_err(format!("{} is an int; give bytes", name()))),
        };
        let least = match least {
            0 => usize::div_ceil(int.call_method0(intern!(py, "bit_length"))?.extract()?, 8),
            least => least,
        };
        let bytes = match to_bytes(int, least) {
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                if int.lt(0)? {
                    Err(Failure::new(format!("{} is negative; give a number that is 0 or more", name())))
                } else if let Some(most) = most {
                    Err(too_long(most))
                } else {
                    let bits: usize = int.call_method0(intern!(py, "bit_length"))?.extract()?;
                    Ok(to_bytes(int, bits.div_ceil(8))?)
                }
            }
            result => Ok(result?),
        };
        let bytes = bytes.and_then(|bytes| copied(bytes.as_bytes(), width));
        Ok(Self { kind: Kind::Int, bytes })
    }
}

fn to_bytes<'py>(int: &Bound<'py, PyInt>, len: usize) -> PyResult<Bound<'py, PyBytes>> {
    let py = int.py();
    let bytes = int.call_method1(intern!(py, "to_bytes"), (len, intern!(py, "big")))?;
    Ok(bytes.cast_into::<PyBytes>()?)
}

fn copied(bytes: &[u8], width: Width) -> Result<Zeroizing<Vec<u8>>, Failure> {
    checked(bytes, width).map(|()| Zeroizing::new(bytes.to_vec()))
}

fn checked(bytes: &[u8], width: Width) -> Result<(), Failure> {
    match width {
        Width::Bits(bits) => at_most(bytes, bits),
        _ => Ok(()),
    }
}

fn too_long(bits: usize) -> Failure {
    Failure::new(format!("the exponent has more than the {bits} bits that exponent_bits allows"))
}

/// Checks that a number has at most this many bits. The time reveals only the outcome.
fn at_most(number: &[u8], bits: usize) -> Result<(), Failure> {
    let above = |(i, byte): (usize, &u8)| match bits.saturating_sub(8 * i) {
        8.. => 0,
        below => byte >> below,
    };
    if number.iter().rev().enumerate().map(above).fold(0, |acc, bits| acc | bits) == 0 {
        Ok(())
    } else {
        Err(too_long(bits))
    }
}
