//! A processor over names: it executes machine code for all inputs at once, and writes equations down.
//!
//! As on x86-64 ([`crate::machine`]), what depends on a word where it must not is an error, and so is
//! everything that is not known here.

use std::collections::HashMap;

use super::code::{Code, Instruction, Register};
use crate::Processor;
use crate::facts::Facts;
use crate::form::Id;
use crate::machine::Stop;
use crate::memory::{Memory, STACK, Traces};
use crate::value::{Flag, Region, Value};

/// More instructions than any length needs.
const MOST_INSTRUCTIONS: usize = 50_000_000;
/// What a function must give back to its caller (AAPCS64), and x18, which is the system's.
const PRESERVED: std::ops::RangeInclusive<Register> = 18..=29;
/// Where calls leave the address behind them.
const LINK: Register = 30;
/// The stack pointer, or zero.
const STACK_OR_ZERO: Register = 31;

/// The carry flag. A subtraction clears it where it borrows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carry {
    /// The same in every run.
    Known(bool),
    /// What was carried.
    Carry(Id),
    /// The opposite of what was borrowed.
    NoBorrow(Id),
    /// Nothing certain.
    Unknown,
}

/// The processor and its memory.
pub struct Machine<'a> {
    code: &'a Code,
    /// What it has computed.
    pub facts: Facts,
    registers: [Value; 31],
    stack_pointer: Value,
    carry: Carry,
    /// The high and the low half of each product: MUL and UMULH of the same factors have one equation.
    products: HashMap<(Id, Id), (Value, Value)>,
    memory: Memory,
}

impl<'a> Machine<'a> {
    /// A machine at the beginning of a call: nothing is known of registers but the stack's.
    pub fn new(code: &'a Code, cases: Vec<(Id, bool)>) -> Self {
        let mut registers = [Value::Unknown; 31];
        for register in PRESERVED {
            registers[usize::from(register)] = Value::Saved(register.into());
        }
        registers[usize::from(LINK)] = Value::Return(0);
        Self {
            code,
            facts: Facts::supposing(cases),
            registers,
            stack_pointer: Value::Pointer(STACK, 0),
            carry: Carry::Unknown,
            products: HashMap::new(),
            memory: Memory::new(&[]),
        }
    }

    /// Gives a register a value. That of zero stays.
    pub fn set(&mut self, register: Register, value: Value) {
        if register != STACK_OR_ZERO {
            self.registers[usize::from(register)] = value;
        }
    }

    /// What a register holds.
    pub fn get(&self, register: Register) -> Value {
        self.registers.get(usize::from(register)).copied().unwrap_or(Value::Constant(0))
    }

    /// Executes from an address on until the code returns to its caller.
    pub fn run(&mut self, mut address: u64) -> Result<(), Stop> {
        for _ in 0..MOST_INSTRUCTIONS {
            let code = self.code;
            let shown = || code.describe(address);
            let Some(Some(instruction)) = code.instructions.get(&address) else {
                return Err(format!("{}: no instruction that is known here", shown()).into());
            };
            self.memory.executes(address);
            let next = self.step(instruction, address).map_err(|stop| match stop {
                Stop::Error(error) => Stop::Error(format!("{} ({instruction:?}): {error}", shown())),
                split => split,
            })?;
            match next {
                Some(next) => address = next,
                None => return Ok(()),
            }
        }
        Err("it does not end".into())
    }

    /// Executes an instruction; the address of the next, or none after the return to the run's caller.
    fn step(&mut self, instruction: &Instruction, at: u64) -> Result<Option<u64>, Stop> {
        use Instruction as I;
        let next = at + 4;
        match *instruction {
            I::Multiply { high, d, n, m } => {
                let (high_half, low) = self.product(self.get(n), self.get(m))?;
                self.set(d, if high { high_half } else { low });
            }
            I::Sum { subtracts, carries, flags, d, n, m } => {
                let (n, m) = (self.get(n), self.get(m));
                let (value, carry) = match subtracts {
                    false => self.sum(n, m, if carries { self.carry } else { Carry::Known(false) })?,
                    true => self.difference(n, m, if carries { self.carry } else { Carry::Known(true) })?,
                };
                self.set(d, value);
                if flags {
                    self.carry = carry;
                }
            }
            I::Offset { subtracts: true, flags: true, d: STACK_OR_ZERO, n, by: 1 } if n != STACK_OR_ZERO => {
                self.carry = self.is_not_zero(self.get(n))?;
            }
            I::Offset { subtracts, flags: false, d, n, by } => {
                let value = if n == STACK_OR_ZERO { self.stack_pointer } else { self.get(n) };
                let by = Value::Constant(by.into());
                let value = match (value, subtracts) {
                    (Value::Pointer(..) | Value::Constant(_), false) => {
                        self.sum(value, by, Carry::Known(false))?.0
                    }
                    (Value::Pointer(..) | Value::Constant(_), true) => {
                        self.difference(value, by, Carry::Known(true))?.0
                    }
                    _ => return Err("counts what is not public".into()),
                };
                match (d, value) {
                    (STACK_OR_ZERO, Value::Pointer(STACK, offset)) if offset % 16 == 0 => {
                        self.stack_pointer = value;
                    }
                    (STACK_OR_ZERO, _) => return Err("the stack is not aligned".into()),
                    _ => self.set(d, value),
                }
            }
            I::Offset { .. } => return Err("is not known here".into()),
            I::And { d, n, m } => {
                let value = match (self.get(n), self.get(m)) {
                    (_, Value::Mask(id)) => return Err(Stop::Split(id)),
                    (_, Value::Constant(0)) => Value::Constant(0),
                    (value @ (Value::Word(_) | Value::Constant(_)), Value::Constant(u64::MAX)) => value,
                    _ => return Err("is known with masks alone".into()),
                };
                self.set(d, value);
            }
            I::Move { d, m } => self.set(d, self.get(m)),
            I::Constant { d, value } => self.set(d, Value::Constant(value.into())),
            I::Load { t, second, n, offset } => {
                let (region, offset) = self.address(n, offset)?;
                let first = self.memory.load(region, offset, self.stack_pointer)?;
                if let Some(second) = second {
                    let value = self.memory.load(region, offset + 8, self.stack_pointer)?;
                    self.set(second, value);
                }
                self.set(t, first);
            }
            I::Store { t, second, n, offset } => {
                let (region, offset) = self.address(n, offset)?;
                self.memory.store(region, offset, self.stack_pointer, self.get(t))?;
                if let Some(second) = second {
                    self.memory.store(region, offset + 8, self.stack_pointer, self.get(second))?;
                }
            }
            I::Branch { by } => return Ok(Some(at.wrapping_add_signed(by))),
            I::Call { by } => {
                self.set(LINK, Value::Return(next));
                return Ok(Some(at.wrapping_add_signed(by)));
            }
            I::BranchNonZero { t, by } => match self.get(t) {
                Value::Constant(0) => {}
                Value::Constant(_) => return Ok(Some(at.wrapping_add_signed(by))),
                _ => return Err("branches on what is not public".into()),
            },
            I::Return => {
                return match self.get(LINK) {
                    Value::Return(0) => Ok(None),
                    Value::Return(address) => Ok(Some(address)),
                    _ => Err("finds no return address".into()),
                };
            }
        }
        Ok(Some(next))
    }

    fn address(&self, n: Register, offset: i64) -> Result<(Region, i64), Stop> {
        match if n == STACK_OR_ZERO { self.stack_pointer } else { self.get(n) } {
            Value::Pointer(region, start) => Ok((region, start.wrapping_add(offset))),
            _ => Err("its address does not come from a pointer".into()),
        }
    }

    fn product(&mut self, a: Value, b: Value) -> Result<(Value, Value), Stop> {
        let (Value::Word(x), Value::Word(y)) = (a, b) else { return self.facts.product(a, b) };
        let factors = (x.min(y), x.max(y));
        if let Some(product) = self.products.get(&factors) {
            return Ok(*product);
        }
        let product = self.facts.product(a, b)?;
        self.products.insert(factors, product);
        Ok(product)
    }

    /// `a + b + carry`, and the carry. A carry alone is a word by its own name.
    fn sum(&mut self, a: Value, b: Value, carry: Carry) -> Result<(Value, Carry), Stop> {
        let carry = match carry {
            Carry::Known(carry) => Flag::Known(carry),
            Carry::Carry(id) if a == Value::Constant(0) && b == a => {
                return Ok((Value::Word(id), Carry::Known(false)));
            }
            Carry::Carry(id) => Flag::Carry(id),
            Carry::NoBorrow(_) | Carry::Unknown => {
                return Err("adds a flag that holds nothing certain".into());
            }
        };
        let (value, carry) = self.facts.sum(a, b, carry)?;
        Ok((
            value,
            match carry {
                Flag::Known(carry) => Carry::Known(carry),
                Flag::Carry(id) => Carry::Carry(id),
                Flag::Unknown => Carry::Unknown,
            },
        ))
    }

    /// `a − b`, less 1 unless the carry is set, and the carry. A carry subtracted from 0 is a mask.
    fn difference(&mut self, a: Value, b: Value, carry: Carry) -> Result<(Value, Carry), Stop> {
        let borrow = match carry {
            Carry::Known(carry) => Flag::Known(!carry),
            Carry::NoBorrow(id) => Flag::Carry(id),
            Carry::Carry(_) | Carry::Unknown => {
                return Err("subtracts a flag that holds nothing certain".into());
            }
        };
        if let (Value::Constant(0), Value::Word(id), Flag::Known(false)) = (a, b, borrow)
            && self.facts.max(id) == 1
        {
            return Ok((Value::Mask(id), Carry::NoBorrow(id)));
        }
        let (value, borrow) = self.facts.difference(a, b, borrow)?;
        Ok((
            value,
            match borrow {
                Flag::Known(borrow) => Carry::Known(!borrow),
                Flag::Carry(id) => Carry::NoBorrow(id),
                Flag::Unknown => Carry::Unknown,
            },
        ))
    }

    /// The carry of `value − 1`: whether it is not 0.
    ///
    /// A carry is its own. Of a limb `w` with a quotient `q = w·μ mod 2^64`, where `m·μ ≡ −1`, it is the carry
    /// of `w + (q·m mod 2^64)`: that sum is a multiple of 2^64, and at least `w`; if `w` is 0, so is `q`, and
    /// nothing is carried.
    fn is_not_zero(&mut self, value: Value) -> Result<Carry, Stop> {
        let word = match value {
            Value::Constant(value) => return Ok(Carry::Known(value != 0)),
            Value::Word(id) if self.facts.max(id) == 1 => return Ok(Carry::Carry(id)),
            Value::Word(id) => id,
            _ => return Err("compares what is no word".into()),
        };
        let (a, b) = self.facts.inverse().ok_or("compares a word")?;
        for (mu, m) in [(a, b), (b, a)] {
            if let Some((_, quotient)) = self.products.get(&(word.min(mu), word.max(mu))) {
                let (_, low) = self.product(*quotient, Value::Word(m))?;
                return Ok(self.sum(value, low, Carry::Known(false))?.1);
            }
        }
        Err("compares a word that has no quotient".into())
    }
}

impl Processor for Machine<'_> {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }

    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// In registers, from the first one on.
    fn argument(&mut self, place: usize, value: Value) {
        self.registers[place] = value;
    }

    fn call(&mut self, address: u64) -> Result<(), Stop> {
        let before = self.registers;
        self.run(address)?;
        for register in PRESERVED {
            if self.get(register) != before[usize::from(register)] {
                return Err(format!("x{register} is not restored").into());
            }
        }
        if self.stack_pointer != Value::Pointer(STACK, 0) {
            return Err("the stack pointer is not restored".into());
        }
        self.memory.check_frame()
    }

    fn traces(self) -> Traces {
        self.memory.traces()
    }
}
