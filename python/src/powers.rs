//! Moduli and powers.

use std::ops::Range;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::error::{Failure, error};
use crate::moduli::{self, Moduli, count};
use crate::numbers::{Batch, Width, exponent_width};
use crate::output::{Errors, Outcome, many, one, out_buffer, with_failures};
use crate::work::{Options, cost, run};

/// An odd modulus, prepared for many powers.
///
/// `n` is an int, or bytes in big-endian order. The modulus may be secret: only its length shows in the time
/// that operations take. Python's ints are not wiped.
///
/// >>> from zariz import Modulus
/// >>> m = Modulus(35)
/// >>> m.pow(2, 10)
/// 9
/// >>> m.pow_batch([2, 3], 10)
/// [9, 4]
#[pyclass(frozen, module = "zariz")]
pub struct Modulus(pub zariz::Modulus);

/// The options that calls for batches share.
pub struct Call<'py> {
    pub options: Options,
    pub errors: Errors,
    pub out: Option<Bound<'py, PyAny>>,
}

impl<'py> Call<'py> {
    pub fn new(
        py: Python<'py>,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let (out, errors) = (out.filter(|out| !out.is_none()), Errors::read(py, errors)?);
        if out.is_some() && errors == Errors::Return {
            return Err(error(py, "out= cannot hold errors; leave out errors=\"return\", or out="));
        }
        Ok(Self { options: Options::new(py, threads, progress)?, errors, out })
    }

    /// Checks before the work that `out` can hold the results.
    pub fn check_out(&self, py: Python<'py>, count: usize, size: usize) -> PyResult<()> {
        self.out.as_ref().map_or(Ok(()), |out| out_buffer(py, out, count, size).map(drop))
    }

    /// For a call with one item.
    fn single(py: Python<'py>) -> PyResult<Self> {
        Self::new(py, Some(1), None, "raise", None)
    }
}

/// Reads the bases, and computes the powers.
fn compute(
    py: Python<'_>,
    count: usize,
    moduli: Arc<Moduli>,
    bases: Arc<Batch>,
    exponents: Arc<Batch>,
    vartime: bool,
    options: &Options,
) -> PyResult<Vec<Outcome<Vec<u8>>>> {
    let each = cost(8 * moduli.longest(), 8 * exponents.longest());
    let (of_moduli, of_bases, of_exponents) = (moduli.clone(), bases.clone(), exponents.clone());
    let piece = move |range: Range<usize>, _: &_| {
        let job = |i| zariz::PowJob {
            modulus: of_moduli.get(i),
            base: of_bases.get(i),
            exponent: of_exponents.get(i),
        };
        let jobs: Vec<_> = range.map(job).collect();
        if vartime { zariz::pow_many_vartime(&jobs) } else { zariz::pow_many(&jobs) }
    };
    let results = run(py, count, each, options, piece)?.into_iter().map(Ok).collect();
    Ok(moduli.with_failures(with_failures(results, &[&bases, &exponents])))
}

/// Many powers.
fn powers<'py>(
    moduli: Moduli,
    bases: &Bound<'py, PyAny>,
    exponents: &Bound<'py, PyAny>,
    exponent_bits: Option<usize>,
    vartime: bool,
    call: Call<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = bases.py();
    let (bases, one_base) = moduli.read_numbers(bases, "bases", Width::AtLeast)?;
    let width = exponent_width(py, exponent_bits, vartime)?;
    let (exponents, one_exponent) = moduli.read_numbers(exponents, "exponents", width)?;
    let parts = [
        ("bases", bases.len(), one_base),
        ("moduli", moduli.list.len(), moduli.one),
        ("exponents", exponents.len(), one_exponent),
    ];
    let (count, size, kind) = (count(py, &parts)?, moduli.longest(), bases.kind);
    call.check_out(py, count, size)?;
    let (moduli, bases, exponents) = (Arc::new(moduli), Arc::new(bases), Arc::new(exponents));
    let results = compute(py, count, moduli, bases, exponents, vartime, &call.options)?;
    many(py, kind, size, &results, call.errors, call.out)
}

impl Modulus {
    fn one<'py>(
        &self,
        base: &Bound<'py, PyAny>,
        exponent: &Bound<'py, PyAny>,
        exponent_bits: Option<usize>,
        vartime: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, size) = (base.py(), self.0.size());
        let base = Batch::read_good(base, "base", Width::AtLeast(size))?;
        let width = exponent_width(py, exponent_bits, vartime)?(size);
        let exponent = Batch::read_good(exponent, "exponent", width)?;
        let (kind, moduli) = (base.kind, Arc::new(Moduli::one(&self.0)));
        let options = Call::single(py)?.options;
        one(py, kind, compute(py, 1, moduli, Arc::new(base), Arc::new(exponent), vartime, &options)?)
    }
}

#[pymethods]
impl Modulus {
    #[new]
    fn new(n: &Bound<'_, PyAny>) -> PyResult<Self> {
        moduli::modulus(n, "n")?.map(Self).map_err(|failure: Failure| failure.exception(n.py(), None))
    }

    fn __repr__(&self) -> String {
        format!("<zariz.Modulus of {} bits>", self.0.bits())
    }

    /// The length in bits.
    #[getter]
    fn bits(&self) -> usize {
        self.0.bits()
    }

    /// The length of results in bytes.
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// `base ** exponent % n`, for a secret exponent: the time does not depend on its value.
    ///
    /// An exponent that is an int is padded to the modulus's length, or to `exponent_bits`, so that its
    /// length does not show. Bytes are taken with their leading zeros.
    #[pyo3(signature = (base, exponent, *, exponent_bits=None))]
    fn pow<'py>(
        &self,
        base: &Bound<'py, PyAny>,
        exponent: &Bound<'py, PyAny>,
        exponent_bits: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.one(base, exponent, exponent_bits, false)
    }

    /// Like `pow`, for a public exponent: faster, in time that depends on it.
    fn pow_vartime<'py>(
        &self,
        base: &Bound<'py, PyAny>,
        exponent: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.one(base, exponent, None, true)
    }

    /// `pow` of many bases with one secret exponent, or one for each; results in order.
    #[pyo3(signature = (bases, exponent, *, exponent_bits=None, threads=None, progress=None, errors="raise", out=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn pow_batch<'py>(
        &self,
        bases: &Bound<'py, PyAny>,
        exponent: &Bound<'py, PyAny>,
        exponent_bits: Option<usize>,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(bases.py(), threads, progress, errors, out)?;
        powers(Moduli::one(&self.0), bases, exponent, exponent_bits, false, call)
    }

    /// Like `pow_batch`, for public exponents: faster, in time that depends on them.
    #[pyo3(signature = (bases, exponent, *, threads=None, progress=None, errors="raise", out=None))]
    fn pow_batch_vartime<'py>(
        &self,
        bases: &Bound<'py, PyAny>,
        exponent: &Bound<'py, PyAny>,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(bases.py(), threads, progress, errors, out)?;
        powers(Moduli::one(&self.0), bases, exponent, None, true, call)
    }
}

/// Many powers, each with its own modulus, base and secret exponent.
///
/// Each argument is a list, or one number for all. The time does not depend on the numbers, only on their
/// lengths.
///
/// >>> import zariz
/// >>> zariz.pow_many([35, 11], [2, 3], [10, 2])
/// [9, 9]
#[pyfunction]
#[pyo3(signature = (moduli, bases, exponents, *, exponent_bits=None, threads=None, progress=None, errors="raise", out=None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn pow_many<'py>(
    moduli: &Bound<'py, PyAny>,
    bases: &Bound<'py, PyAny>,
    exponents: &Bound<'py, PyAny>,
    exponent_bits: Option<usize>,
    threads: Option<isize>,
    progress: Option<Bound<'py, PyAny>>,
    errors: &str,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(moduli.py(), threads, progress, errors, out)?;
    powers(Moduli::read(moduli, "moduli")?, bases, exponents, exponent_bits, false, call)
}

/// Like `pow_many`, for public exponents: faster, in time that depends on them.
#[pyfunction]
#[pyo3(signature = (moduli, bases, exponents, *, threads=None, progress=None, errors="raise", out=None))]
pub fn pow_many_vartime<'py>(
    moduli: &Bound<'py, PyAny>,
    bases: &Bound<'py, PyAny>,
    exponents: &Bound<'py, PyAny>,
    threads: Option<isize>,
    progress: Option<Bound<'py, PyAny>>,
    errors: &str,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(moduli.py(), threads, progress, errors, out)?;
    powers(Moduli::read(moduli, "moduli")?, bases, exponents, None, true, call)
}
