//! What is known of a value: whether it depends on secret data, and where an address leads.

/// What a register, or a place on the stack, holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number, or the address of data: an argument, or a number computed from such. What is loaded from
    /// there is secret.
    Public,
    /// It depends on what was loaded: since the instruction of this number; [`ENTRY`] if from the beginning.
    Secret(usize),
    /// An address in the frame, or anywhere in it.
    Frame(Base, Option<i64>),
    /// An address in the public memory that an argument leads to (its number, and the offset).
    Record(usize, Option<i64>),
    /// An address among the constants of the program.
    Constant,
    /// The address of a function elsewhere, loaded from the table of such addresses.
    Function(&'a str),
    /// The address of a table of jumps.
    Table(&'a str),
    /// An entry of that table: the distance of a target.
    Distance(&'a str),
    /// One of the targets of that table.
    Target(&'a str),
    /// Public, computed from addresses in a way that is not followed: it may lead anywhere.
    Mixed,
}

/// The place of [`Value::Secret`] for what was in a register at the beginning.
pub const ENTRY: usize = usize::MAX;

/// What offsets in the frame count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// The stack pointer at the beginning: the return address is at 0.
    Caller,
    /// The stack pointer after it was aligned.
    Aligned,
}

use Value::{Constant, Distance, Frame, Function, Mixed, Public, Record, Secret, Table, Target};

impl<'a> Value<'a> {
    pub fn is_secret(self) -> bool {
        matches!(self, Secret(_))
    }

    /// Where two paths meet.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Secret(a), Secret(b)) => Secret(a.min(b)),
            (Secret(a), _) | (_, Secret(a)) => Secret(a),
            (a, b) if a == b => a,
            (Frame(a, _), Frame(b, _)) if a == b => Frame(a, None),
            (Record(a, _), Record(b, _)) if a == b => Record(a, None),
            _ => Mixed,
        }
    }

    /// Of any operation on both: an address does not remain one that can be followed.
    pub fn mix(self, other: Self) -> Self {
        match (self, other) {
            (Secret(a), Secret(b)) => Secret(a.min(b)),
            (Secret(a), _) | (_, Secret(a)) => Secret(a),
            (Public, Public) => Public,
            _ => Mixed,
        }
    }

    /// The sum. An address stays one only with a number added that was computed from no such address: then
    /// the difference of two, added to the second, cannot pass for the second.
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Frame(base, _), Public) | (Public, Frame(base, _)) => Frame(base, None),
            (Record(at, _), Public) | (Public, Record(at, _)) => Record(at, None),
            (Constant, Public) | (Public, Constant) => Constant,
            (Table(table), Public) | (Public, Table(table)) => Table(table),
            (Table(a), Distance(b)) | (Distance(b), Table(a)) if a == b => Target(a),
            _ => self.mix(other),
        }
    }

    /// The sum with a number in the code.
    pub fn moved(self, by: i64) -> Self {
        match self {
            Frame(base, at) => Frame(base, at.and_then(|at| at.checked_add(by))),
            Record(number, at) => Record(number, at.and_then(|at| at.checked_add(by))),
            Function(_) | Table(_) | Distance(_) | Target(_) if by != 0 => Mixed,
            other => other,
        }
    }

    /// A part of it, or it beside others in a vector.
    pub fn piece(self) -> Self {
        self.mix(Public)
    }
}
