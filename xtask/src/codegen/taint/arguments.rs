//! What the arguments of each entry point are: which registers, and which memory behind them, are public.
//!
//! What an entry point loads through a pointer is secret, unless it is declared here. The exceptions are
//! lengths and pointers that lie in memory: those of slices in arrays, in options and in structures.
//!
//! Were a compiler to lay out a structure otherwise, so that secrets came to lie among the public bytes, then
//! pointers and lengths would no longer lie there, and the entry point would be refused: it uses all of them
//! as addresses or in branches.

use super::value::{ENTRY, Value};
use crate::codegen::{carry, rsaz};

/// An argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// A slice of digits: a pointer, whose memory is secret, and a length.
    Slice,
    /// A pointer to digits.
    Pointer,
    /// A number: a count, or a stride.
    Count,
    /// A number that is secret: an index into a table.
    Index,
    /// A pointer to a structure, of which these bytes are public.
    Record(&'static [(i64, i64)]),
    /// A slice whose memory is public: an array of slices.
    Slices,
}

use Argument::{Count, Index, Pointer, Record, Slice, Slices};

/// The words in which the arguments arrive, and the public bytes of the memory that words lead to
/// ([`Value::Record`] has the number of its argument).
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub words: Vec<Value<'static>>,
    pub records: Vec<&'static [(i64, i64)]>,
    /// Places of the function's frame, from the stack pointer, that have no address: see [`super::spills`].
    pub spills: Vec<i64>,
}

impl Entry {
    pub fn new(arguments: &[Argument]) -> Self {
        let mut entry = Self::default();
        for argument in arguments {
            let record = Value::Record(entry.records.len(), Some(0));
            entry.words.extend(match argument {
                Slice => vec![Value::Public; 2],
                Pointer | Count => vec![Value::Public],
                Index => vec![Value::Secret(ENTRY)],
                Record(_) => vec![record],
                Slices => vec![record, Value::Public],
            });
            match argument {
                Record(public) => entry.records.push(public),
                Slices => entry.records.push(&[(0, i64::MAX)]),
                _ => {}
            }
        }
        entry
    }
}

/// The arguments of a block on a machine; `None` for one that is not listed.
pub fn of(machine: &str, block: &str) -> Option<&'static [Argument]> {
    if machine == rsaz::MACHINE {
        return of_rsaz(block);
    }
    if machine == rsaz::MIXED {
        return match of_rsaz(block)? {
            [WORKSPACE, Slice, Slice] => Some(&[WORKSPACE, Slice, Slice, LIST]),
            [WORKSPACE, Slice, Count] => Some(&[WORKSPACE, Slice, Count, LIST]),
            _ => None,
        };
    }
    if machine == carry::MACHINE {
        return match block {
            // Of the modulus, the two slices; µ lies behind them, and is secret.
            "amm" => Some(&[Slice, Pointer, Slice, Slice, Record(&[(0, 32)])]),
            "select" => Some(&[Slice, Slice, Index]),
            _ => None,
        };
    }
    if machine.starts_with("pair") {
        return match block.split_once('_') {
            Some(("amm", tiles)) if tiles.starts_with("tiles") => Some(&[Slice, Slice, Slice, Slice]),
            Some(("ams", tiles)) if tiles.starts_with("tiles") => Some(&[Slice, Count, Slice, Slice]),
            Some(("amm" | "select", _)) => Some(&[Slice, Slice, Slice]),
            Some(("ams", _)) => Some(&[Slice, Count, Slice]),
            _ => None,
        };
    }
    Some(match block {
        "ams_registers" => &[Slice, Count, Slice, Slice],
        "karatsuba_two_terms" => &[Slice, Count, Slice, Slice, Slice, Slice],
        "mac_rows"
        | "amm_registers"
        | "karatsuba_terms_square"
        | "scale"
        | "square"
        | "low_triangle"
        | "high_triangle" => &[Slice, Slice, Slice],
        "square_onto" | "settle" | "splat" | "add_words" | "quotients" | "normalize" | "add_digits"
        | "scatter" => &[Slice, Slice],
        // Of the optional last row, the slice of the modulus; µ lies behind it, and is secret.
        "reduce_rows" => &[Slice, Slice, Slice, Record(&[(0, 16)])],
        // The array of the slices that are written.
        "select_tile" => &[Record(&[(0, 64)]), Slice, Count, Slice],
        "turn" => &[Slice, Slice, Count],
        "select_shared" | "lookup" => &[Slice, Slice, Count, Slice],
        "normalize_sum" | "reduce_once" | "karatsuba_terms_multiply" | "karatsuba_terms_reduce" => {
            &[Slice, Slice, Slice, Slice]
        }
        "difference" => &[Slice, Slice, Slice, Slice, Slice],
        "karatsuba" => &[Slice, Slice, Slice, Slice, Count],
        // The slices of all lanes.
        "gather" => &[Slice, Slices],
        "fe_mul" | "fe_add" | "fe_sub" => &[Pointer, Pointer],
        "fe_sqr" => &[Pointer, Count],
        "fe_enter" => &[Pointer, Slice],
        "fe_leave" => &[Slice, Pointer],
        "fe_mul_scalars" => &[Slice, Slice, Slice],
        "fe_sqr_scalars" => &[Slice, Slice],
        _ => return None,
    })
}

/// The arguments of the method of this name that calls a block: in `pair` it chooses the entry point by a
/// shape, which is two numbers.
pub fn of_method(machine: &str, block: &str, method: &str) -> Option<Vec<Argument>> {
    match (machine, method) {
        (rsaz::MIXED, "multiply") => return Some(vec![WORKSPACE, Slice, Slice, STEPS, Slice, Slice]),
        (rsaz::MIXED, "square") => return Some(vec![WORKSPACE, Slice, Count, STEPS, Slice]),
        _ => {}
    }
    if !machine.starts_with("pair") {
        return Some(of(machine, block)?.to_vec());
    }
    match method {
        "amm" => Some(vec![Count, Count, Slice, Slice, Slice, Slice]),
        "ams" => Some(vec![Count, Count, Slice, Count, Slice, Slice]),
        "select_entry" => Some(vec![Count, Count, Slice, Slice, Slice]),
        _ => None,
    }
}

fn of_rsaz(block: &str) -> Option<&'static [Argument]> {
    match block.split_once('_').map_or(block, |(operation, _)| operation) {
        "multiply" => Some(&[WORKSPACE, Slice, Slice]),
        "square" => Some(&[WORKSPACE, Slice, Count]),
        "select" => Some(&[Slice, Slice, Index]),
        _ => None,
    }
}

/// The steps of a product in limbs, and both products of a modulus with its numbers: all is pointers and
/// lengths.
const LIST: Argument = Record(&[(0, 32)]);
const STEPS: Argument = Record(&[(0, 96)]);

/// RSAZ's working space. Of the words, the pointer and length of their vector, and the part of it that is in
/// use; then the number of digits. The lowest digits of the modulus lie behind that, and are secret.
const WORKSPACE: Argument = Record(&[(8, 40), (48, 56)]);
