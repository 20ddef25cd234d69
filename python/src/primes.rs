//! The search for primes.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use zariz::primes::{PrimeError, Search};
use zeroize::Zeroizing;

use crate::error::Failure;
use crate::moduli::count;
use crate::numbers::{Batch, Kind, Width};
use crate::output::{Errors, Outcome, list, many};
use crate::work::{Options, check_made, cost, run};

/// From this cost on, in seconds, primes are searched for one by one, so that an interruption ends the search
/// soon.
const LONG: f64 = 0.5;

/// `count` random primes of exactly `bits` bits, as ints; many at once cost less than one by one.
///
/// `safe=True` makes safe primes: `(p - 1) / 2` is also prime. A result is composite with a probability below
/// `2**-128`. Python's ints are not wiped.
#[pyfunction]
#[pyo3(signature = (bits, count, *, safe=false, threads=None, progress=None))]
pub fn generate_primes<'py>(
    py: Python<'py>,
    bits: usize,
    count: usize,
    safe: bool,
    threads: Option<isize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options::new(py, threads, progress)?;
    check_made(py, count)?;
    let raised = |error: PrimeError| Failure::new(error.to_string()).exception(py, None);
    let search = Search::new(bits).map_err(raised)?;
    let search = if safe { search.safe().map_err(raised)? } else { search };
    // One of `bits` candidates is prime, or of `bits` squared for safe primes; most are sieved out.
    let each =
        cost(bits, bits) * if safe { (bits as f64).powi(2) / 100.0 } else { bits as f64 / 8.0 }.max(4.0);
    let piece =
        move |range: Range<usize>, stop: &AtomicBool| search_for(&search, range.len(), each > LONG, stop);
    let primes = run(py, count, each, &options, piece)?;
    many(py, Kind::Int, bits.div_ceil(8), &primes, Errors::Raise, None)
}

type Prime = Outcome<Zeroizing<Vec<u8>>>;

fn search_for(search: &Search, count: usize, alone: bool, stop: &AtomicBool) -> Vec<Prime> {
    let failure = |error: PrimeError| Failure::new(error.to_string());
    if alone {
        let one = |_| search.generate_while(|| !stop.load(Ordering::Relaxed)).map_err(failure);
        return (0..count).map(one).collect();
    }
    match search.generate_many(count) {
        Ok(primes) => primes.into_iter().map(Ok).collect(),
        Err(error) => (0..count).map(|_| Err(failure(error.clone()))).collect(),
    }
}

/// Whether each number is prime: sure to `2**-128` for every composite, even one made to deceive.
///
/// >>> import zariz.primes
/// >>> zariz.primes.is_prime_many([2**127 - 1, 2**127 + 1])
/// [True, False]
#[pyfunction]
#[pyo3(signature = (numbers, *, threads=None, progress=None, errors="raise"))]
pub fn is_prime_many<'py>(
    numbers: &Bound<'py, PyAny>,
    threads: Option<isize>,
    progress: Option<Bound<'py, PyAny>>,
    errors: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = numbers.py();
    let (options, errors) = (Options::new(py, threads, progress)?, Errors::read(py, errors)?);
    let numbers = std::sync::Arc::new(Batch::read(numbers, "numbers", |_| Width::AtLeast(0))?);
    let count = count(py, &[("numbers", numbers.len(), false)])?;
    let bits = 8 * numbers.longest();
    let of_pieces = numbers.clone();
    let piece = move |range: Range<usize>, _: &_| -> Vec<Outcome<bool>> {
        let failure = |error: PrimeError| Failure::new(error.to_string());
        let list: Vec<&[u8]> = range.map(|i| of_pieces.get(i)).collect();
        match zariz::primes::is_prime_many(&list) {
            Ok(results) => results.into_iter().map(Ok).collect(),
            // One number is too long: test them one by one, so that the others have results.
            Err(_) => list.iter().map(|number| zariz::primes::is_prime(number).map_err(failure)).collect(),
        }
    };
    let results = run(py, count, 8.0 * cost(bits, bits), &options, piece)?;
    let results = crate::output::with_failures(results, &[&numbers]);
    list(py, &results, errors, |prime| Ok(pyo3::types::PyBool::new(py, *prime).to_owned().into_any()))
}
