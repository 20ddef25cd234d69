//! Products, inverses, and products of powers.

use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::{Failure, Kind as Exception};
use crate::moduli::{Moduli, count};
use crate::numbers::{Batch, Kind, Width, exponent_width, is_one, iter};
use crate::output::{Outcome, many, with_failures};
use crate::powers::Call;
use crate::work::{cost, run};

/// Many products `a * b % n`, each with its own modulus; each argument is a list, or one number for all.
///
/// The time does not depend on the numbers, only on their lengths.
///
/// >>> import zariz
/// >>> zariz.mul_many(35, [6, 3], [7, 4])
/// [7, 12]
#[pyfunction]
#[pyo3(signature = (moduli, a, b, *, threads=None, progress=None, errors="raise", out=None))]
pub fn mul_many<'py>(
    moduli: &Bound<'py, PyAny>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    threads: Option<isize>,
    progress: Option<Bound<'py, PyAny>>,
    errors: &str,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let call = Call::new(py, threads, progress, errors, out)?;
    let moduli = Moduli::read(moduli, "moduli")?;
    let (a, one_a) = moduli.read_numbers(a, "a", Width::AtLeast)?;
    let (b, one_b) = moduli.read_numbers(b, "b", Width::AtLeast)?;
    let parts = [("a", a.len(), one_a), ("b", b.len(), one_b), ("moduli", moduli.list.len(), moduli.one)];
    let (count, size, kind, each) =
        (count(py, &parts)?, moduli.longest(), a.kind, cost(8 * moduli.longest(), 16));
    call.check_out(py, count, size)?;
    let owned = Arc::new((moduli, a, b));
    let numbers = owned.clone();
    let piece = move |range: Range<usize>, _: &_| {
        let (moduli, a, b) = &*numbers;
        let job = |i| zariz::MulJob { modulus: moduli.get(i), a: a.get(i), b: b.get(i) };
        zariz::mul_many(&range.map(job).collect::<Vec<_>>())
    };
    let results = run(py, count, each, &call.options, piece)?.into_iter().map(Ok).collect();
    let (moduli, a, b) = &*owned;
    many(py, kind, size, &moduli.with_failures(with_failures(results, &[a, b])), call.errors, call.out)
}

/// Many inverses, each with its own modulus, or with one for all.
///
/// A number without an inverse is an error, `NotInvertible`. Only that shows in the time, and lengths.
///
/// >>> import zariz
/// >>> zariz.invert_many(35, [2, 3])
/// [18, 12]
#[pyfunction]
#[pyo3(signature = (moduli, numbers, *, threads=None, progress=None, errors="raise", out=None))]
pub fn invert_many<'py>(
    moduli: &Bound<'py, PyAny>,
    numbers: &Bound<'py, PyAny>,
    threads: Option<isize>,
    progress: Option<Bound<'py, PyAny>>,
    errors: &str,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = numbers.py();
    let call = Call::new(py, threads, progress, errors, out)?;
    let moduli = Moduli::read(moduli, "moduli")?;
    let (numbers, one) = moduli.read_numbers(numbers, "numbers", Width::AtLeast)?;
    let parts = [("numbers", numbers.len(), one), ("moduli", moduli.list.len(), moduli.one)];
    // Several products for each item, and one inversion for each piece or modulus.
    let each = cost(8 * moduli.longest(), if moduli.one { 64 } else { 1024 });
    let (count, size, kind) = (count(py, &parts)?, moduli.longest(), numbers.kind);
    call.check_out(py, count, size)?;
    let owned = Arc::new((moduli, numbers));
    let of_pieces = owned.clone();
    let piece = move |range: Range<usize>, _: &_| {
        let (moduli, numbers) = &*of_pieces;
        let job = |i| zariz::InvertJob { modulus: moduli.get(i), number: numbers.get(i) };
        zariz::invert_many(&range.map(job).collect::<Vec<_>>())
    };
    let none = || {
        Failure::of(
            Exception::NotInvertible,
            "the number has no inverse: it shares a factor with the modulus",
        )
    };
    let results = run(py, count, each, &call.options, piece)?;
    let results = results.into_iter().map(|inverse| inverse.ok_or_else(none)).collect();
    let (moduli, numbers) = &*owned;
    many(py, kind, size, &moduli.with_failures(with_failures(results, &[numbers])), call.errors, call.out)
}

/// One item's bases and exponents.
struct Terms {
    bases: Batch,
    exponents: Batch,
}

impl Terms {
    fn new(bases: Batch, exponents: Batch) -> Outcome<Self> {
        if let Some((_, failure)) = bases.failures.first().or(exponents.failures.first()) {
            return Err(failure.clone());
        }
        let (least, most) = (zariz::MultiPowJob::MIN_BASES, zariz::MultiPowJob::MAX_BASES);
        let (of_bases, of_exponents) = (bases.len(), exponents.len());
        if !(least..=most).contains(&of_bases) {
            return Err(Failure::new(format!("there are {of_bases} bases; give {least} to {most}")));
        }
        if of_bases != of_exponents {
            let text =
                format!("there are {of_bases} bases and {of_exponents} exponents; give one for each base");
            return Err(Failure::new(text));
        }
        Ok(Self { bases, exponents })
    }
}

/// Many products of powers, `bases[i][0] ** exponents[i][0] * bases[i][1] ** exponents[i][1] * ...`.
///
/// Each item has two to eight bases and as many exponents, which are secret. The time does not depend on the
/// numbers, only on their lengths. `vartime=True` is for public exponents: faster, in time that depends on
/// them.
///
/// >>> import zariz
/// >>> zariz.multi_pow_many(35, [[2, 3]], [[5, 4]])
/// [2]
#[pyfunction]
#[pyo3(signature = (moduli, bases, exponents, *, exponent_bits=None, vartime=false, threads=None, progress=None, errors="raise", out=None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn multi_pow_many<'py>(
    moduli: &Bound<'py, PyAny>,
    bases: &Bound<'py, PyAny>,
    exponents: &Bound<'py, PyAny>,
    exponent_bits: Option<usize>,
    vartime: bool,
    threads: Option<isize>,
    progress: Option<Bound<'py, PyAny>>,
    errors: &str,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = bases.py();
    let call = Call::new(py, threads, progress, errors, out)?;
    let moduli = Moduli::read(moduli, "moduli")?;
    for (name, list) in [("bases", bases), ("exponents", exponents)] {
        if is_one(list)? {
            let text = format!("{name} is one number; give a list for each item");
            return Err(PyTypeError::new_err(text));
        }
    }
    let bases: Vec<_> = iter(bases, "bases")?.collect::<PyResult<_>>()?;
    let exponents: Vec<_> = iter(exponents, "exponents")?.collect::<PyResult<_>>()?;
    let parts = [
        ("bases", bases.len(), false),
        ("exponents", exponents.len(), false),
        ("moduli", moduli.list.len(), moduli.one),
    ];
    let (count, size) = (count(py, &parts)?, moduli.longest());
    call.check_out(py, count, size)?;
    let width = exponent_width(py, exponent_bits, vartime)?;
    let mut terms = Vec::with_capacity(count);
    let (mut kind, mut longest) = (None, 0);
    for (i, (bases, exponents)) in bases.iter().zip(&exponents).enumerate() {
        let size = moduli.size(i);
        let bases = Batch::read(bases, &format!("bases[{i}]"), |_| Width::AtLeast(size))?;
        let exponents = Batch::read(exponents, &format!("exponents[{i}]"), |_| width(size))?;
        // An empty list does not reveal its type.
        if bases.len() > 0 && *kind.get_or_insert(bases.kind) != bases.kind {
            let text =
                format!("bases[{i}] is of another kind than those before; give all as ints, or all as bytes");
            return Err(PyTypeError::new_err(text));
        }
        longest = longest.max(exponents.longest());
        terms.push(Terms::new(bases, exponents));
    }
    let kind = kind.unwrap_or(Kind::Int);
    let each = 1.5 * cost(8 * size, 8 * longest);
    let owned = Arc::new((moduli, terms));
    let of_pieces = owned.clone();
    let piece = move |range: Range<usize>, _: &_| products(&of_pieces.0, &of_pieces.1, range, vartime);
    let results = run(py, count, each, &call.options, piece)?;
    many(py, kind, size, &owned.0.with_failures(results), call.errors, call.out)
}

fn products(
    moduli: &Moduli,
    terms: &[Outcome<Terms>],
    range: Range<usize>,
    vartime: bool,
) -> Vec<Outcome<Vec<u8>>> {
    let mut out: Vec<Outcome<Vec<u8>>> = Vec::with_capacity(range.len());
    let mut good = Vec::new();
    for i in range {
        match &terms[i] {
            Ok(Terms { bases, exponents }) => {
                good.push((out.len(), i, slices(bases), slices(exponents)));
                out.push(Ok(Vec::new()));
            }
            Err(failure) => out.push(Err(failure.clone())),
        }
    }
    let jobs: Vec<_> = good
        .iter()
        .map(|(_, i, bases, exponents)| zariz::MultiPowJob { modulus: moduli.get(*i), bases, exponents })
        .collect();
    let results = if vartime { zariz::multi_pow_many_vartime(&jobs) } else { zariz::multi_pow_many(&jobs) };
    match results {
        Ok(results) => {
            for ((place, ..), result) in good.iter().zip(results) {
                out[*place] = Ok(result);
            }
        }
        // `Terms::new` has checked them all.
        Err(error) => {
            for (place, ..) in &good {
                out[*place] = Err(Failure::new(error.to_string()));
            }
        }
    }
    out
}

fn slices(batch: &Batch) -> Vec<&[u8]> {
    (0..batch.len()).map(|i| batch.get(i)).collect()
}
