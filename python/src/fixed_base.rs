//! Many powers of one base.

use std::ops::Range;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::error::Failure;
use crate::moduli::{count, prepared_or_read};
use crate::numbers::{Batch, Width, check_exponent_bits};
use crate::output::{Outcome, many, one, with_failures};
use crate::powers::Call;
use crate::work::{cost, once, run};

/// A base, prepared for many powers: they cost a quarter to a fifth of `Modulus.pow_batch`.
///
/// `exponent_bits` is the length of the longest exponent. `memory` is how many bytes the table takes at most.
///
/// >>> from zariz import FixedBase
/// >>> g = FixedBase(35, 2, exponent_bits=16)
/// >>> g.pow_batch([10, 3])
/// [9, 8]
#[pyclass(frozen, module = "zariz")]
pub struct FixedBase(Arc<zariz::FixedBase>);

impl FixedBase {
    fn run<'py>(
        &self,
        exponents: &Bound<'py, PyAny>,
        single: bool,
        vartime: bool,
        call: Call<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = exponents.py();
        let width = Width::Bits(self.0.max_exponent_bits());
        let (exponents, name) = match single {
            true => (Batch::read_one(exponents, "exponent", width)?, "exponent"),
            false => (Batch::read(exponents, "exponents", |_| width)?, "exponents"),
        };
        let count = if single { 1 } else { count(py, &[(name, exponents.len(), false)])? };
        let (size, kind) = (self.0.modulus().size(), exponents.kind);
        call.check_out(py, count, size)?;
        let each = cost(8 * size, self.0.max_exponent_bits()) / 4.0;
        let (table, exponents) = (self.0.clone(), Arc::new(exponents));
        let of_pieces = exponents.clone();
        let piece = move |range: Range<usize>, _: &_| -> Vec<Outcome<Vec<u8>>> {
            let numbers: Vec<&[u8]> = range.map(|i| of_pieces.get(i)).collect();
            let powers = if vartime { table.pow_batch_vartime(&numbers) } else { table.pow_batch(&numbers) };
            match powers {
                Ok(powers) => powers.into_iter().map(Ok).collect(),
                // Their lengths have been checked, and failed items are empty.
                Err(error) => numbers.iter().map(|_| Err(Failure::new(error.to_string()))).collect(),
            }
        };
        let results = with_failures(run(py, count, each, &call.options, piece)?, &[&exponents]);
        if single { one(py, kind, results) } else { many(py, kind, size, &results, call.errors, call.out) }
    }
}

#[pymethods]
impl FixedBase {
    #[new]
    #[pyo3(signature = (n, base, *, exponent_bits, memory=None))]
    fn new(
        n: &Bound<'_, PyAny>,
        base: &Bound<'_, PyAny>,
        exponent_bits: usize,
        memory: Option<usize>,
    ) -> PyResult<Self> {
        let py = base.py();
        check_exponent_bits(py, exponent_bits)?;
        let modulus = prepared_or_read(n, "n")?;
        let base = Batch::read_good(base, "base", Width::AtLeast(modulus.size()))?;
        let memory = memory.unwrap_or(zariz::FixedBase::MEMORY);
        let each = 4.0 * cost(8 * modulus.size(), exponent_bits);
        let made = once(py, each, move || {
            zariz::FixedBase::new_within(&modulus, base.get(0), exponent_bits, memory)
        })?;
        made.map(|table| Self(Arc::new(table)))
            .map_err(|error| Failure::new(error.to_string()).exception(py, None))
    }

    fn __repr__(&self) -> String {
        let (bits, exponent) = (self.0.modulus().bits(), self.0.max_exponent_bits());
        format!("<zariz.FixedBase of {bits} bits, for exponents of {exponent} bits>")
    }

    /// The length of the longest exponent in bits.
    #[getter]
    fn exponent_bits(&self) -> usize {
        self.0.max_exponent_bits()
    }

    /// The bytes of its tables.
    #[getter]
    fn memory(&self) -> usize {
        self.0.memory()
    }

    /// `base ** exponent % n`, for a secret exponent. The result has the exponent's type.
    fn pow<'py>(&self, exponent: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(exponent.py(), Some(1), None, "raise", None)?;
        self.run(exponent, true, false, call)
    }

    /// `pow` for many exponents; results in order.
    #[pyo3(signature = (exponents, *, threads=None, progress=None, errors="raise", out=None))]
    fn pow_batch<'py>(
        &self,
        exponents: &Bound<'py, PyAny>,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(exponents.py(), threads, progress, errors, out)?;
        self.run(exponents, false, false, call)
    }

    /// Like `pow_batch`, for public exponents: faster, in time that depends on them.
    #[pyo3(signature = (exponents, *, threads=None, progress=None, errors="raise", out=None))]
    fn pow_batch_vartime<'py>(
        &self,
        exponents: &Bound<'py, PyAny>,
        threads: Option<isize>,
        progress: Option<Bound<'py, PyAny>>,
        errors: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(exponents.py(), threads, progress, errors, out)?;
        self.run(exponents, false, true, call)
    }
}
