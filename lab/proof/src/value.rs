//! What registers, flags and memory hold in a run.

use crate::form::Id;

/// A place of memory that the code is given; no two overlap, and nothing is known of their addresses.
pub type Region = usize;

/// What a register or eight bytes of memory hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A public number: the same in every run.
    Constant(u64),
    /// An address: bytes behind the beginning of a region.
    Pointer(Region, i64),
    /// A word, or a carry as a word.
    Word(Id),
    /// All ones where the carry is 1, else 0.
    Mask(Id),
    /// A carry in the lowest byte; the others hold something.
    Byte(Flag),
    /// The first carry, and twice the second.
    Two(Flag, Flag),
    /// What a register held when the function was called, and must hold again when it returns.
    Saved(usize),
    /// Where a call returns to; 0 for the run's own caller.
    Return(u64),
    /// Nothing certain: an error where anything depends on it.
    Unknown,
}

/// What a flag holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flag {
    /// The same in every run.
    Known(bool),
    /// What was carried or borrowed.
    Carry(Id),
    /// Nothing certain.
    Unknown,
}

impl From<Flag> for Value {
    fn from(flag: Flag) -> Self {
        match flag {
            Flag::Known(flag) => Self::Constant(flag.into()),
            Flag::Carry(id) => Self::Word(id),
            Flag::Unknown => Self::Unknown,
        }
    }
}
