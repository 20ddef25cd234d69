//! Moduli: one for all items, or one for each.

use std::borrow::Borrow;
use std::collections::HashMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use zeroize::Zeroize;

use crate::error::Failure;
use crate::numbers::{Batch, Width, is_clearly_one, iter};
use crate::output::Outcome;
use crate::powers::Modulus;

/// Moduli in order. A single one is for all items.
pub struct Moduli {
    pub list: Vec<zariz::Modulus>,
    /// The places of numbers that are not moduli. A placeholder takes their place.
    failures: Vec<(usize, Failure)>,
    /// Whether there is one for all items, rather than a list.
    pub one: bool,
}

impl Moduli {
    pub fn one(modulus: &zariz::Modulus) -> Self {
        Self { list: vec![modulus.clone()], failures: Vec::new(), one: true }
    }

    /// Reads a `Modulus`, a number, or a list of them.
    pub fn read(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        if object.is_instance_of::<Modulus>() || is_clearly_one(object, what)? {
            return Ok(Self::one(&prepared_or_read(object, what)?));
        }
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "{what} is a str; give an int, bytes, a Modulus, or a list"
            )));
        }
        let mut out = Self { list: Vec::new(), failures: Vec::new(), one: false };
        let mut known = Known::new();
        if let Some(batch) = Batch::read_rows(object, what, Width::AtLeast(0))? {
            for i in 0..batch.len() {
                out.push(i, prepared(&mut known, batch.get(i)))?;
            }
            return Ok(out);
        }
        for (i, item) in iter(object, what)?.enumerate() {
            let item = item?;
            let result = match item.cast::<Modulus>() {
                Ok(modulus) => Ok(modulus.get().0.clone()),
                Err(_) => {
                    let batch = Batch::read_one(&item, &format!("{what}[{i}]"), Width::AtLeast(0))?;
                    match batch.failures.first() {
                        Some((_, failure)) => Err(failure.clone()),
                        None => prepared(&mut known, batch.get(0)),
                    }
                }
            };
            out.push(i, result)?;
        }
        Ok(out)
    }

    fn push(&mut self, i: usize, result: Outcome<zariz::Modulus>) -> PyResult<()> {
        let modulus = match result {
            Ok(modulus) => modulus,
            Err(failure) => {
                self.failures.push((i, failure));
                // Any modulus: its result is not used.
                zariz::Modulus::new(&[3]).map_err(|error| PyTypeError::new_err(error.to_string()))?
            }
        };
        self.list.push(modulus);
        Ok(())
    }

    pub fn get(&self, i: usize) -> &zariz::Modulus {
        &self.list[if self.list.len() == 1 { 0 } else { i }]
    }

    /// The length in bytes of the modulus for an item, or 0 if there is no such item.
    pub fn size(&self, i: usize) -> usize {
        self.list.get(if self.one { 0 } else { i }).map_or(0, zariz::Modulus::size)
    }

    /// Reads one number for all moduli, or a list. Returns whether it was one. `width` gives the width for a
    /// modulus of a length in bytes. One number gets the width for the longest modulus, so that its own
    /// length is not revealed.
    pub fn read_numbers(
        &self,
        object: &Bound<'_, PyAny>,
        what: &str,
        width: impl Fn(usize) -> Width,
    ) -> PyResult<(Batch, bool)> {
        if is_clearly_one(object, what)? {
            let name = what.strip_suffix('s').unwrap_or(what);
            return Ok((Batch::read_good(object, name, width(self.longest()))?, true));
        }
        Ok((Batch::read(object, what, |i| width(self.size(i)))?, false))
    }

    /// The length of the longest modulus in bytes.
    pub fn longest(&self) -> usize {
        self.list.iter().map(zariz::Modulus::size).max().unwrap_or(0)
    }

    /// Puts the failures in place of results.
    pub fn with_failures<B>(&self, mut results: Vec<Outcome<B>>) -> Vec<Outcome<B>> {
        for (i, failure) in &self.failures {
            results[*i] = Err(failure.clone());
        }
        results
    }
}

/// Makes one modulus from a number.
pub fn modulus(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Outcome<zariz::Modulus>> {
    let batch = Batch::read_one(object, what, Width::AtLeast(0))?;
    if let Some((_, failure)) = batch.failures.first() {
        return Ok(Err(failure.clone()));
    }
    Ok(zariz::Modulus::new(batch.get(0)).map_err(Failure::from))
}

/// Takes a `Modulus`, or makes one from a number.
pub fn prepared_or_read(object: &Bound<'_, PyAny>, what: &str) -> PyResult<zariz::Modulus> {
    match object.cast::<Modulus>() {
        Ok(modulus) => Ok(modulus.get().0.clone()),
        Err(_) => modulus(object, what)?.map_err(|failure| failure.exception(object.py(), None)),
    }
}

/// Moduli that are already prepared.
type Known = HashMap<Wiped, zariz::Modulus>;

/// A modulus as a key of a map, wiped because it may be secret.
#[derive(PartialEq, Eq, Hash)]
struct Wiped(Vec<u8>);

impl Borrow<[u8]> for Wiped {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

fn prepared(known: &mut Known, bytes: &[u8]) -> Outcome<zariz::Modulus> {
    if let Some(modulus) = known.get(bytes) {
        return Ok(modulus.clone());
    }
    let modulus = zariz::Modulus::new(bytes)?;
    known.insert(Wiped(bytes.to_vec()), modulus.clone());
    Ok(modulus)
}

/// The number of items; all lists must agree. `parts` has name, length, and whether it is one for all.
pub fn count(py: Python<'_>, parts: &[(&str, usize, bool)]) -> PyResult<usize> {
    let mut lists = parts.iter().filter(|(_, _, one)| !one);
    let Some((first, count, _)) = lists.next() else {
        let names: Vec<_> = parts.iter().map(|(name, ..)| *name).collect();
        return Err(crate::error::error(py, &format!("at least one of {} must be a list", names.join(", "))));
    };
    match lists.find(|(_, len, _)| len != count) {
        Some((name, len, _)) => {
            let text = format!("there are {count} {first} and {len} {name}; give as many, or one for all");
            Err(crate::error::error(py, &text))
        }
        None => Ok(*count),
    }
}
