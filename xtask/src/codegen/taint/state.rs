//! What is known at a place of a function: of every register, of the flags and of the stack.

use anyhow::{Result, bail};
use std::collections::BTreeMap;

use super::arguments::Entry;
use super::operand::{self, ARGUMENTS, Address, RSP};
use super::value::{Base, ENTRY, Value};

/// What is known.
#[derive(Clone, Debug, PartialEq)]
pub struct State<'a> {
    pub general: [Value<'a>; 16],
    /// The lowest byte of each general register: the rest may be older.
    pub lowest: [Value<'a>; 16],
    pub vectors: [Value<'a>; 32],
    pub masks: [Value<'a>; 8],
    /// The lowest byte of each mask: all of it, for up to eight lanes.
    pub masks_lowest: [Value<'a>; 8],
    pub flags: Value<'a>,
    /// Places of the stack that were written: where they begin, how many bytes, and what is there. They do
    /// not overlap.
    stack: BTreeMap<(Base, i64), (i64, Value<'a>)>,
}

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place<'a> {
    Frame(Base, i64),
    /// Somewhere in the frame.
    AnyFrame,
    /// Anywhere.
    Anywhere,
    Data,
    Record(usize, Option<i64>),
    Constant,
    Table(&'a str),
    /// Where the address of a function elsewhere stands.
    AddressOf(&'a str),
}

/// Why an address cannot be used: it is secret, since this instruction.
pub struct SecretAddress(pub usize);

impl<'a> State<'a> {
    /// At the beginning of a function with these arguments: what is in all other registers is secret, since
    /// nothing is known of it.
    pub fn new(entry: &Entry) -> Self {
        let unknown = Value::Secret(ENTRY);
        let mut state = Self {
            general: [unknown; 16],
            lowest: [unknown; 16],
            vectors: [unknown; 32],
            masks: [unknown; 8],
            masks_lowest: [unknown; 8],
            flags: unknown,
            stack: BTreeMap::new(),
        };
        state.general[RSP] = Value::Frame(Base::Caller, Some(0));
        for (i, &word) in entry.words.iter().enumerate() {
            match ARGUMENTS.get(i) {
                Some(&register) => (state.general[register], state.lowest[register]) = (word, word.piece()),
                // Behind the return address.
                None => {
                    let at = 8 * (1 + i - ARGUMENTS.len()) as i64;
                    state.stack.insert((Base::Caller, at), (8, word));
                }
            }
        }
        state
    }

    /// Where two paths meet; whether anything changed in `self`.
    pub fn join(&mut self, other: &Self) -> bool {
        let mut joined = self.clone();
        let pairs = joined.general.iter_mut().zip(&other.general);
        let pairs = pairs.chain(joined.lowest.iter_mut().zip(&other.lowest));
        let pairs = pairs.chain(joined.vectors.iter_mut().zip(&other.vectors));
        let pairs = pairs.chain(joined.masks.iter_mut().zip(&other.masks));
        let pairs = pairs.chain(joined.masks_lowest.iter_mut().zip(&other.masks_lowest));
        for (value, &with) in pairs {
            *value = value.join(with);
        }
        joined.flags = joined.flags.join(other.flags);
        // What was not written on both paths alike is unknown, and a load from there secret.
        joined.stack.retain(|place, (bytes, value)| match other.stack.get(place) {
            Some((same, with)) if same == bytes => {
                *value = value.join(*with);
                true
            }
            _ => false,
        });
        let changed = joined != *self;
        *self = joined;
        changed
    }

    /// After a call: what is not preserved is unknown.
    pub fn forget_registers(&mut self) {
        let unknown = Value::Secret(ENTRY);
        for register in [0, 1, 2, 6, 7, 8, 9, 10, 11] {
            (self.general[register], self.lowest[register]) = (unknown, unknown);
        }
        (self.vectors, self.flags) = ([unknown; 32], unknown);
        (self.masks, self.masks_lowest) = ([unknown; 8], [unknown; 8]);
    }

    /// The value of an address, as LEA computes it.
    pub fn effective(&self, address: &Address<'a>) -> Value<'a> {
        let mut sum = match address.symbol {
            Some(symbol) if symbol.starts_with(".LJTI") => Value::Table(symbol),
            // The program's constants; anything else there may be data.
            Some(symbol) if symbol.starts_with(".L") => Value::Constant,
            _ => Value::Public,
        };
        if let Some(base) = address.base {
            sum = self.general[base];
        }
        if let Some(index) = address.index {
            let (index, scale) = match index {
                operand::Index::General(register) => (self.general[register], address.scale),
                operand::Index::Vector(register) => (self.vectors[register], 0),
            };
            let index = if scale == 1 { index } else { index.piece() };
            // Without a base, a scaled index is no address that can be followed.
            sum = if address.base.is_some() || address.symbol.is_some() { sum.plus(index) } else { index };
        }
        sum.moved(address.displacement)
    }

    pub fn place(&self, address: &Address<'a>) -> Result<Place<'a>, SecretAddress> {
        if let Some(function) = address.symbol.and_then(|symbol| symbol.strip_suffix("@GOTPCREL")) {
            return Ok(Place::AddressOf(function));
        }
        Ok(match self.effective(address) {
            Value::Secret(since) => return Err(SecretAddress(since)),
            Value::Frame(base, Some(at)) => Place::Frame(base, at),
            Value::Frame(_, None) => Place::AnyFrame,
            Value::Record(number, at) => Place::Record(number, at),
            Value::Constant => Place::Constant,
            Value::Table(table) => Place::Table(table),
            Value::Public => Place::Data,
            Value::Mixed | Value::Distance(_) | Value::Target(_) | Value::Function(_) => Place::Anywhere,
        })
    }

    /// What is loaded by instruction `at`.
    pub fn load(&self, place: Place<'a>, bytes: i64, entry: &Entry, at: usize) -> Value<'a> {
        match place {
            Place::Frame(base, from) => self.load_stack(base, from, bytes).unwrap_or(Value::Secret(at)),
            Place::Record(number, Some(from)) => {
                let public = entry.records.get(number).into_iter().copied().flatten();
                let within = |&(first, end): &(i64, i64)| first <= from && from.saturating_add(bytes) <= end;
                if public.into_iter().any(within) { Value::Public } else { Value::Secret(at) }
            }
            Place::Record(number, None) if entry.is_public(number) => Value::Public,
            Place::Constant => Value::Public,
            Place::Table(table) if bytes == 4 => Value::Distance(table),
            Place::Table(_) => Value::Mixed,
            Place::AddressOf(function) if bytes == 8 => Value::Function(function),
            Place::AddressOf(_) => Value::Mixed,
            Place::AnyFrame | Place::Anywhere | Place::Data | Place::Record(_, None) => Value::Secret(at),
        }
    }

    fn load_stack(&self, base: Base, from: i64, bytes: i64) -> Option<Value<'a>> {
        if let Some(&(length, value)) = self.stack.get(&(base, from))
            && length == bytes
        {
            return Some(value);
        }
        // Pieces of what was written, without a gap.
        let (mut next, mut all) = (from, Value::Public);
        for (&(_, start), &(length, value)) in self.overlapping(base, from, bytes) {
            if start > next {
                return None;
            }
            all = all.mix(value);
            next = start + length;
        }
        (next >= from + bytes).then_some(all)
    }

    fn overlapping(
        &self,
        base: Base,
        from: i64,
        bytes: i64,
    ) -> impl Iterator<Item = (&(Base, i64), &(i64, Value<'a>))> {
        // Nothing that is written has more bytes than a vector.
        let near = self.stack.range((base, from - 64)..(base, from + bytes));
        near.filter(move |((_, start), (length, _))| start + length > from)
    }

    /// Stores a value; an error says what is not followed.
    pub fn store(&mut self, place: Place<'a>, bytes: i64, value: Value<'a>, entry: &Entry) -> Result<()> {
        match place {
            Place::Frame(base, from) => {
                let aligned = matches!(self.general[RSP], Value::Frame(Base::Aligned, _));
                if base == Base::Aligned && from + bytes > 0 || base == Base::Caller && aligned {
                    bail!("a store above the aligned frame is not followed");
                }
                self.forget(base, from, bytes);
                if bytes == 4 {
                    // The lowest byte apart: from a comparison, it may be public, and the rest not.
                    self.stack.insert((base, from), (1, value.piece()));
                    self.stack.insert((base, from + 1), (3, value.piece()));
                } else {
                    self.stack.insert((base, from), (bytes, value));
                }
            }
            Place::AnyFrame | Place::Anywhere => self.taint(value, entry, |_, _| true),
            Place::Record(number, at) if value.is_secret() => {
                let public = entry.records.get(number).into_iter().copied().flatten();
                let touches = |&(first, end): &(i64, i64)| at.is_none_or(|at| at < end && first < at + bytes);
                if public.into_iter().any(touches) {
                    bail!("a store puts a secret among the public fields of an argument");
                }
            }
            Place::Record(..) | Place::Data => {}
            Place::Constant | Place::Table(_) | Place::AddressOf(_) => {
                bail!("a store to a constant is not followed")
            }
        }
        Ok(())
    }

    /// Stores a value again and again, from an address upwards to an unknown end.
    pub fn store_from(&mut self, to: Value<'a>, value: Value<'a>, entry: &Entry) -> Result<()> {
        match to {
            // The aligned frame lies below the caller's.
            Value::Frame(base, Some(from)) => {
                self.taint(value, entry, |at, end| {
                    (at == base && end > from) || (base, at) == (Base::Aligned, Base::Caller)
                });
                Ok(())
            }
            Value::Public => Ok(()),
            Value::Record(number, _) => self.store(Place::Record(number, None), 1, value, entry),
            _ => self.store(Place::Anywhere, 1, value, entry),
        }
    }

    /// A value is stored in some of these places of the stack that have an address (by what they count from,
    /// and their end): each may be what it was, or a piece of it.
    fn taint(&mut self, value: Value<'a>, entry: &Entry, within: impl Fn(Base, i64) -> bool) {
        let (piece, top) = (value.piece(), self.general[RSP]);
        for (&(base, at), (length, old)) in &mut self.stack {
            let spill = |&spill: &i64| top.moved(spill) == Value::Frame(base, Some(at));
            if within(base, at + *length) && !entry.spills.iter().any(spill) {
                *old = old.join(piece);
            }
        }
    }

    /// Forgets what lies there; what lies around it stays, in pieces.
    fn forget(&mut self, base: Base, from: i64, bytes: i64) {
        let touched: Vec<_> =
            self.overlapping(base, from, bytes).map(|(place, value)| (*place, *value)).collect();
        for ((base, start), (length, value)) in touched {
            self.stack.remove(&(base, start));
            if start < from {
                self.stack.insert((base, start), (from - start, value.piece()));
            }
            let (end, old_end) = (from + bytes, start + length);
            if old_end > end {
                self.stack.insert((base, end), (old_end - end, value.piece()));
            }
        }
    }
}

impl Entry {
    fn is_public(&self, number: usize) -> bool {
        self.records.get(number).is_some_and(|public| public.contains(&(0, i64::MAX)))
    }
}
