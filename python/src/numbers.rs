//! Numbers and messages as Python has them: ints, bytes and buffers. Everything is copied before the interpreter
//! is released, so that no other thread can change it meanwhile.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};
use zeroize::Zeroizing;

use crate::error::{Failure, error};

/// What the caller gave, and so gets back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Bytes,
    /// Rows of a matrix of bytes; of numpy's, or any.
    Rows {
        numpy: bool,
    },
}

/// How an int becomes bytes. Bytes and rows are taken as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Padded to this many bytes, or as long as it is if it is longer.
    AtLeast(usize),
    /// Padded to this many bits, and no longer: for every kind.
    Bits(usize),
    /// Ints are not taken: the items are messages.
    NoInts,
}

/// Items in order, big-endian, in one allocation that is wiped when it is dropped.
#[derive(Debug)]
pub struct Batch {
    data: Zeroizing<Vec<u8>>,
    /// Where each item ends.
    ends: Vec<usize>,
    /// Items that cannot be taken. Their bytes are empty.
    pub failures: Vec<(usize, Failure)>,
    pub kind: Kind,
}

impl Batch {
    fn new(kind: Kind) -> Self {
        Self { data: Zeroizing::default(), ends: Vec::new(), failures: Vec::new(), kind }
    }

    /// Of rows of a column.
    pub fn of_rows<'a>(rows: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut out = Self::new(Kind::Bytes);
        rows.for_each(|row| out.push(row));
        out
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The item at a place; with one item alone, that one for every place.
    pub fn get(&self, i: usize) -> &[u8] {
        let i = if self.ends.len() == 1 { 0 } else { i };
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.data[start..self.ends[i]]
    }

    /// The length of the longest item in bytes.
    pub fn longest(&self) -> usize {
        (0..self.len()).map(|i| self.get(i).len()).max().unwrap_or(0)
    }

    fn push(&mut self, item: &[u8]) {
        let needed = self.data.len() + item.len();
        if needed > self.data.capacity() {
            // `Vec` would leave unwiped copies behind when it grows.
            let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(2 * self.data.capacity()).max(1024)));
            larger.extend_from_slice(&self.data);
            self.data = larger;
        }
        self.data.extend_from_slice(item);
        self.ends.push(self.data.len());
    }

    fn push_failure(&mut self, failure: Failure) {
        self.failures.push((self.len(), failure));
        self.ends.push(self.data.len());
    }

    /// Reads many: a buffer of shape (N, k), or any iterable. `what` names it in errors.
    /// `width` says how long the item at a place is.
    pub fn read(object: &Bound<'_, PyAny>, what: &str, width: impl Fn(usize) -> Width) -> PyResult<Self> {
        if !object.is_instance_of::<PyList>()
            && !object.is_instance_of::<PyTuple>()
            && let Ok(buffer) = PyUntypedBuffer::get(object)
        {
            return Self::rows(object, buffer, what, width(0));
        }
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!("{what} is a str; give a list, or a buffer of shape (N, k)")));
        }
        let mut out: Option<Self> = None;
        for (i, item) in object.try_iter().map_err(|_| not_many(object, what))?.enumerate() {
            let item = item?;
            let read = Item::read(&item, || format!("{what}[{i}]"), width(i))?;
            let batch = out.get_or_insert_with(|| Self::new(read.kind));
            if batch.kind != read.kind {
                let text = format!("{what}[{i}] is of another kind than {what}[0]; give all as ints, or all as bytes");
                return Err(PyTypeError::new_err(text));
            }
            batch.take(read);
        }
        Ok(out.unwrap_or_else(|| Self::new(if width(0) == Width::NoInts { Kind::Bytes } else { Kind::Int })))
    }

    /// Reads a buffer of shape (N, k), and nothing else.
    pub fn read_rows(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        Self::rows(object, PyUntypedBuffer::get(object)?, what, Width::AtLeast(0))
    }

    /// Reads one item: an int, bytes, or another buffer of one dimension.
    pub fn read_one(object: &Bound<'_, PyAny>, what: &str, width: Width) -> PyResult<Self> {
        let read = Item::read(object, || what.to_owned(), width)?;
        let mut out = Self::new(read.kind);
        out.take(read);
        Ok(out)
    }

    /// Reads one item, or many; says whether it was one.
    pub fn read_any(object: &Bound<'_, PyAny>, what: &str, width: impl Fn(usize) -> Width) -> PyResult<(Self, bool)> {
        let one = is_one(object);
        Ok((if one { Self::read_one(object, what, width(0)) } else { Self::read(object, what, width) }?, one))
    }

    fn take(&mut self, item: Item) {
        match item.bytes {
            Ok(bytes) => self.push(&bytes),
            Err(failure) => self.push_failure(failure),
        }
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
            return Err(error(py, &format!("{what} is not contiguous; copy it first (numpy.ascontiguousarray)")));
        }
        let mut data = Zeroizing::new(vec![0; bytes.item_count()]);
        bytes.copy_to_slice(py, &mut data)?;
        let ends = (1..=shape[0]).map(|i| i * shape[1]).collect();
        let numpy = is_numpy(object)?;
        let mut out = Self { data, ends, failures: Vec::new(), kind: Kind::Rows { numpy } };
        if let Width::Bits(bits) = width {
            for i in 0..out.len() {
                if let Err(failure) = at_most(out.get(i), bits) {
                    out.failures.push((i, failure));
                }
            }
        }
        Ok(out)
    }
}

/// Whether an object is an array of numpy's. numpy is never imported for that.
fn is_numpy(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    Ok(class.name()? == "ndarray" && class.module()? == "numpy")
}

/// Whether an object is one number or message, and not many.
pub fn is_one(object: &Bound<'_, PyAny>) -> bool {
    if object.is_instance_of::<PyInt>() || object.is_instance_of::<PyBytes>() {
        return true;
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return false;
    }
    match PyUntypedBuffer::get(object) {
        Ok(buffer) => buffer.dimensions() < 2,
        Err(_) => object.hasattr(intern!(object.py(), "__index__")).unwrap_or(false),
    }
}

fn not_many(object: &Bound<'_, PyAny>, what: &str) -> PyErr {
    let class = object.get_type();
    let name = class.name().map(|name| name.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{what} is {name}; give a list of ints or of bytes, or a buffer of shape (N, k)"))
}

/// One item.
struct Item {
    kind: Kind,
    bytes: Result<Zeroizing<Vec<u8>>, Failure>,
}

impl Item {
    fn read(object: &Bound<'_, PyAny>, name: impl Fn() -> String, width: Width) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self { kind: Kind::Bytes, bytes: checked(bytes.as_bytes(), width) });
        }
        if let Ok(int) = object.cast::<PyInt>() {
            return Self::int(int, &name, width);
        }
        if let Ok(buffer) = PyUntypedBuffer::get(object) {
            let shape = buffer.shape().to_vec();
            let bytes = buffer.as_typed::<u8>().ok();
            let Some(bytes) = bytes.filter(|_| shape.len() == 1 && buffer.is_c_contiguous()) else {
                let text = format!("{} is a buffer of shape {shape:?}; give bytes in one contiguous row", name());
                return Err(error(object.py(), &text));
            };
            let mut copy = Zeroizing::new(vec![0; bytes.item_count()]);
            bytes.copy_to_slice(object.py(), &mut copy)?;
            return Ok(Self { kind: Kind::Bytes, bytes: checked(&copy, width) });
        }
        // Integers of other libraries.
        if let Ok(int) = object.call_method0(intern!(object.py(), "__index__"))
            && let Ok(int) = int.cast::<PyInt>()
        {
            return Self::int(int, &name, width);
        }
        let (class, wanted) = (object.get_type(), if width == Width::NoInts { "bytes" } else { "an int or bytes" });
        Err(PyTypeError::new_err(format!("{} is {}; give {wanted}", name(), class.name()?)))
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
                    Err(Failure::new("the number is negative; give one that is 0 or more"))
                } else if most.is_some() {
                    Err(too_long(least * 8))
                } else {
                    let bits: usize = int.call_method0(intern!(py, "bit_length"))?.extract()?;
                    Ok(to_bytes(int, bits.div_ceil(8))?)
                }
            }
            result => Ok(result?),
        };
        let bytes = bytes.and_then(|bytes| checked(bytes.as_bytes(), width));
        Ok(Self { kind: Kind::Int, bytes })
    }
}

fn to_bytes<'py>(int: &Bound<'py, PyInt>, len: usize) -> PyResult<Bound<'py, PyBytes>> {
    let py = int.py();
    let bytes = int.call_method1(intern!(py, "to_bytes"), (len, intern!(py, "big")))?;
    Ok(bytes.cast_into::<PyBytes>()?)
}

fn checked(bytes: &[u8], width: Width) -> Result<Zeroizing<Vec<u8>>, Failure> {
    if let Width::Bits(bits) = width {
        at_most(bytes, bits)?;
    }
    Ok(Zeroizing::new(bytes.to_vec()))
}

fn too_long(bits: usize) -> Failure {
    Failure::new(format!("the exponent has more than the {bits} bits that exponent_bits allows"))
}

/// Checks that a number has at most so many bits. Only whether it has shows in the time.
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
