//! What is claimed of each function: what its banner says.

pub mod a64;
pub mod blocks;
pub mod bls12_381;
pub mod link;
pub mod others;
pub mod rows;
pub mod scalar;
pub mod steps;

use num_bigint::BigInt;

use crate::Proof;
use crate::code::Code;
use crate::form::{Form, Id, radix};
use crate::machine::Stop;
use crate::value::Value;

/// The functions that claims are about.
pub const PREFIXES: &[&str] = &["zariz_machines::scalar::adx::", "zariz_machines::bls12_381::"];

/// The functions in assembly that have a claim.
pub fn proved() -> Vec<&'static str> {
    let functions = scalar::CLAIMS.iter().map(|(function, _)| *function);
    let field = bls12_381::OPERATIONS.iter().map(|(_, function, _)| *function);
    let arm = a64::CLAIMS.iter().map(|(function, _)| *function);
    [rows::ROWS, a64::ROWS]
        .into_iter()
        .chain(functions)
        .chain(field)
        .chain(steps::FUNCTIONS)
        .chain(arm)
        .collect()
}

/// What was found about one function, at one size.
pub struct Outcome {
    /// Its path.
    pub function: String,
    /// Its length, or what else tells its claims apart.
    pub size: String,
    /// The proof, or the first thing that could not be shown.
    pub result: Result<Proof, String>,
}

/// Every claim about code for x86-64 and about the kernels, shortest first; `each` gets its outcome.
pub fn all(code: &Code, mut each: impl FnMut(Outcome)) {
    rows::all(code, &mut each);
    bls12_381::all(code, &mut each);
    blocks::all(&mut each);
    steps::all(code, &mut each);
    scalar::all(code, &mut each);
}

/// Words in memory.
fn words(ids: &[Id]) -> Vec<Value> {
    ids.iter().map(|id| Value::Word(*id)).collect()
}

/// Adds `factor · Σ values[i]·2^(64i)`.
fn add_number(form: &mut Form, values: &[Value], factor: &BigInt) -> Result<(), Stop> {
    for (i, value) in values.iter().enumerate() {
        match value {
            Value::Word(id) => form.add((0, *id), factor * radix(i)),
            Value::Constant(value) => form.add((0, 0), factor * radix(i) * value),
            other => return Err(format!("limb {i} of a result is no word, but {other:?}").into()),
        }
    }
    Ok(())
}

/// Adds `factor · (Σ a[i]·2^(64i)) · (Σ b[j]·2^(64j))`.
fn add_product(form: &mut Form, a: &[Value], b: &[Value], factor: &BigInt) -> Result<(), Stop> {
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            match (x, y) {
                (Value::Word(x), Value::Word(y)) => form.add((*x.min(y), *x.max(y)), factor * radix(i + j)),
                _ => return Err("a factor is no word".into()),
            }
        }
    }
    Ok(())
}

fn one() -> BigInt {
    BigInt::from(1)
}
