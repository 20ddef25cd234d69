//! One instruction: what is known after it, of what was known before, and whether it may be there.

use anyhow::{Context, Result, bail};

use super::arguments::Entry;
use super::mnemonic::{Flags, Kind, Last, Plain, kind};
use super::operand::{ARGUMENTS, Address, Index, Operand, Operands, RAX, RDX, RSP, parse};
use super::state::{Place, SecretAddress, State};
use super::value::{Base, Value};
use crate::codegen::assembly::Instruction;

/// An instruction, read.
pub struct Decoded<'a> {
    pub kind: Kind,
    pub operands: Operands<'a>,
    /// Whether its elements have 64 bits: then a mask has up to eight.
    wide: bool,
    /// Whether it yields the same for all numbers, as `x ^ x` does.
    constant: bool,
}

/// Why an instruction is refused.
#[derive(Debug)]
pub enum Refusal {
    /// Something that shows in time depends on a secret, since the instruction of this number.
    Leak(&'static str, usize),
    /// It is not understood.
    Unknown(anyhow::Error),
}

/// The result of an instruction on a secret: since where that was secret.
pub type Cause = Option<usize>;

impl<'a> Decoded<'a> {
    pub fn new(instruction: &Instruction<'a>) -> Result<Self> {
        let Instruction { mnemonic, operands: text, .. } = *instruction;
        if matches!(mnemonic, "jmp" | "jmpq" | "callq" | "call") || mnemonic.starts_with('j') {
            // Their targets are labels and symbols; those in registers and memory are read where they are
            // used.
            let kind = kind(mnemonic, 1).context("the instruction is not known")?;
            let operands = if text.starts_with('*') { parse(text)? } else { Operands::default() };
            return Ok(Self { kind, operands, wide: false, constant: false });
        }
        let operands = parse(text)?;
        let kind = kind(mnemonic, operands.all.len()).context("the instruction is not known")?;
        let constant = is_constant(mnemonic, &operands);
        let wide = mnemonic.ends_with("64")
            || mnemonic.ends_with("pd")
            || mnemonic.ends_with('q') && (!mnemonic.ends_with("dq") || mnemonic.ends_with("qdq"));
        Ok(Self { kind, operands, wide, constant })
    }

    /// How many bytes it reads or writes in memory; `None` if that is not known.
    pub fn bytes(&self) -> Option<i64> {
        let bytes = match self.kind {
            Kind::Move(bytes) | Kind::Extend(bytes) | Kind::Add(_, bytes) | Kind::ConditionalMove(bytes) => {
                bytes
            }
            Kind::Multiply(bytes) | Kind::MultiplyX(bytes) => bytes,
            Kind::Plain(plain) => plain.bytes,
            _ => return None,
        };
        let known = if bytes == 0 { widest(&self.operands.all) } else { bytes };
        Some(known).filter(|&bytes| bytes > 0)
    }

    /// What an indirect jump or call goes to, where that is followed.
    pub fn target(&self, state: &State<'a>) -> Option<Value<'a>> {
        match self.operands.all[..] {
            [Operand::General(register, 8)] => Some(state.general[register]),
            [Operand::Memory(address)] => match state.place(&address) {
                Ok(Place::AddressOf(function)) => Some(Value::Function(function)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The symbol that a call or a jump goes to, also through a register; its operand where that is not
    /// known.
    pub fn callee(&self, instruction: &Instruction<'a>, state: &State<'a>) -> &'a str {
        match self.target(state) {
            Some(Value::Function(function)) => function,
            _ => instruction.operands,
        }
    }
}

/// `x ^ x`, `x − x`, `x = x`, and the constant that takes no operand.
fn is_constant(mnemonic: &str, operands: &Operands) -> bool {
    if operands.mask.is_some() {
        return false;
    }
    let same = |a: &Operand, b: &Operand| a == b && !matches!(a, Operand::Memory(_));
    const SAME: &[&str] =
        &["xor", "sub", "vpxor", "vxorp", "vpsub", "vpcmpeq", "vpandn", "kxor", "kxnor", "kandn"];
    match &operands.all[..] {
        [a, b] => same(a, b) && ["xor", "sub"].iter().any(|stem| mnemonic.starts_with(stem)),
        [Operand::Immediate(Some(0 | 255)), _, _, _] => mnemonic.starts_with("vpternlog"),
        [a, b, _] => same(a, b) && SAME.iter().any(|stem| mnemonic.starts_with(stem)),
        _ => false,
    }
}

/// One step.
pub struct Step<'s, 'a> {
    pub state: &'s mut State<'a>,
    pub entry: &'s Entry,
    /// The number of the instruction.
    pub at: usize,
    /// Where the secret that it computes from comes from.
    pub cause: Cause,
}

impl<'a> Step<'_, 'a> {
    /// Executes an instruction that is no jump.
    pub fn execute(&mut self, decoded: &Decoded<'a>) -> Result<(), Refusal> {
        let Operands { all, mask, zeroing } = &decoded.operands;
        let masks = if decoded.wide { &self.state.masks_lowest } else { &self.state.masks };
        let under = mask.map_or(Value::Public, |mask| masks[mask]);
        if let Value::Secret(since) = under
            && let Some(last) = all.last()
        {
            if matches!(last, Operand::Memory(_)) {
                return Err(Refusal::Leak("a store is under a mask that depends", since));
            }
            if all.iter().any(|operand| matches!(operand, Operand::Memory(_))) {
                return Err(Refusal::Leak("a load is under a mask that depends", since));
            }
        }
        if mask.is_some() && matches!(all.last(), Some(Operand::Memory(_))) {
            return unknown("a store under a mask is not followed");
        }
        match (decoded.kind, &all[..]) {
            (Kind::Nothing, _) => {}
            (Kind::Prefetch, [Operand::Memory(address)]) => _ = self.place(address)?,
            (Kind::Move(bytes), [from, to]) => {
                let bytes = if bytes == 0 { widest(all) } else { bytes };
                let mut value = self.read(from, bytes)?;
                if mask.is_some() {
                    let old = if *zeroing { Value::Public } else { self.read(to, bytes)? };
                    value = self.made(value.mix(under).mix(old));
                }
                self.write(to, bytes, value)?;
                if let (Operand::General(register, _), Operand::Mask(mask)) = (from, to) {
                    self.state.masks_lowest[*mask] = self.state.lowest[*register];
                }
                // A byte from a comparison is often stored with the rest of its register.
                if let (Operand::General(register, _), Operand::Memory(address)) = (from, to)
                    && value.is_secret()
                    && !self.state.lowest[*register].is_secret()
                {
                    let place = self.place(address)?;
                    self.store(place, 1, self.state.lowest[*register])?;
                }
            }
            (Kind::Narrow(times), [from @ Operand::Vector(_, bytes), to]) if mask.is_none() => {
                let value = self.read(from, 0)?.piece();
                self.write(to, *bytes as i64 / times, value)?;
            }
            (Kind::Extend(bytes), [from, to @ Operand::General(_, to_bytes)]) => {
                let value = self.read(from, bytes)?;
                let value = if bytes == 4 { value } else { value.piece() };
                self.write(to, *to_bytes as i64, value)?;
            }
            (Kind::Lea, [Operand::Memory(address), to @ Operand::General(_, bytes)]) => {
                let value = self.state.effective(address);
                let value = self.made(value);
                self.write(to, *bytes as i64, value)?;
            }
            (Kind::Add(sign, bytes), [from, to]) => {
                let (a, b) = (self.read(from, bytes)?, self.read(to, bytes)?);
                let sum = match from {
                    _ if decoded.constant => Value::Public,
                    Operand::Immediate(Some(number)) => b.moved(sign.wrapping_mul(*number)),
                    _ if sign > 0 => a.plus(b),
                    _ if a == Value::Public && matches!(b, Value::Frame(..) | Value::Record(..)) => b.plus(a),
                    _ => a.mix(b),
                };
                let sum = self.made(sum);
                self.state.flags = sum.piece();
                self.write(to, bytes, sum)?;
            }
            (Kind::ConditionalMove(bytes), [from, to]) => {
                let (a, b) = (self.read(from, bytes)?, self.read(to, bytes)?);
                let value = match self.state.flags {
                    flags @ Value::Secret(_) => self.made(flags),
                    _ => a.join(b),
                };
                self.write(to, bytes, value)?;
            }
            (Kind::SetByFlags, [to]) => {
                let flags = self.state.flags;
                let value = self.made(flags.piece());
                self.write(to, 1, value)?;
            }
            (Kind::Multiply(bytes @ (4 | 8)), [from]) => {
                let product = self.read(from, bytes)?.mix(self.state.general[RAX]);
                let product = self.made(product);
                self.write_general(RAX, 8, product);
                self.write_general(RDX, 8, product);
                self.state.flags = product;
            }
            (Kind::MultiplyX(bytes), [from, low, high]) => {
                let product = self.read(from, bytes)?.mix(self.state.general[RDX]);
                let product = self.made(product);
                self.write(low, bytes, product)?;
                self.write(high, bytes, product)?;
            }
            (Kind::Divide, [from]) => {
                let bytes = widest(all);
                let inputs = [self.read(from, bytes)?, self.state.general[RAX], self.state.general[RDX]];
                let all = inputs.into_iter().fold(Value::Public, Value::mix);
                if let Value::Secret(since) = all {
                    return Err(Refusal::Leak("a division computes with what depends", since));
                }
                self.write_general(RAX, 8, all);
                self.write_general(RDX, 8, all);
                self.state.flags = all;
            }
            (Kind::SignToRdx, []) => self.write_general(RDX, 8, self.state.general[RAX].piece()),
            (Kind::ExtendRax, []) => self.write_general(RAX, 8, self.state.general[RAX].piece()),
            (Kind::Push, [from]) => {
                let value = self.read(from, 8)?;
                self.state.general[RSP] = self.state.general[RSP].moved(-8);
                let place = self.stack_top()?;
                self.store(place, 8, value)?;
            }
            (Kind::Pop, [to]) => {
                let place = self.stack_top()?;
                let value = self.state.load(place, 8, self.entry, self.at);
                self.state.general[RSP] = self.state.general[RSP].moved(8);
                self.write(to, 8, value)?;
            }
            (Kind::Plain(plain), [.., last]) => self.plain(decoded, plain, last, under)?,
            (Kind::Gather, [Operand::Memory(address), to]) if under == Value::Public => {
                // The address of each element is checked together.
                self.place(address)?;
                self.write(to, 0, Value::Secret(self.at))?;
            }
            (Kind::VectorMasked, [first, second, last]) => {
                let stores = matches!(last, Operand::Memory(_));
                let mask = if stores { second } else { first };
                let mask = if matches!(first, Operand::Memory(_)) { second } else { mask };
                if let Value::Secret(since) = self.read(mask, 0)? {
                    let what = if stores {
                        "a store is under a mask that depends"
                    } else {
                        "a load is under a mask that depends"
                    };
                    return Err(Refusal::Leak(what, since));
                }
                return unknown("a move under a vector as mask is not followed");
            }
            _ => return unknown("the instruction has operands that are not known"),
        }
        Ok(())
    }

    /// A call of a function that copies or fills memory: its addresses and length show in time, and what it
    /// copies does not.
    pub fn memory_function(&mut self, name: &str) -> Result<(), Refusal> {
        let [to, from, length, ..] = ARGUMENTS.map(|register| self.state.general[register]);
        let (shows, value) = match name {
            "memset" => (Value::Public, from.piece()),
            _ => (from, Value::Secret(self.at)),
        };
        if let Value::Secret(since) = to.mix(shows).mix(length) {
            return Err(Refusal::Leak("the address or length of a copy depends", since));
        }
        self.state.store_from(to, value, self.entry).map_err(Refusal::Unknown)?;
        self.state.forget_registers();
        self.write_general(RAX, 8, to);
        Ok(())
    }

    fn plain(
        &mut self,
        decoded: &Decoded<'a>,
        plain: Plain,
        last: &Operand<'a>,
        under: Value<'a>,
    ) -> Result<(), Refusal> {
        let Operands { all, mask, zeroing } = &decoded.operands;
        let bytes = if plain.bytes == 0 { widest(all) } else { plain.bytes };
        let sources = if plain.last == Last::Write { &all[..all.len() - 1] } else { &all[..] };
        let mut value = under;
        for source in sources {
            let read = self.read(source, bytes)?;
            value = value.mix(read);
        }
        if plain.reads_flags {
            value = value.mix(self.state.flags);
        }
        if mask.is_some() && !zeroing && plain.last == Last::Write && !matches!(last, Operand::Mask(_)) {
            let old = self.read(last, bytes)?;
            value = value.mix(old);
        }
        if decoded.constant {
            value = Value::Public;
        }
        if let Value::Secret(since) = value
            && plain.timed
        {
            return Err(Refusal::Leak("an instruction whose time varies computes with what depends", since));
        }
        let value = self.made(value);
        if plain.last != Last::Read {
            // What is made in the lowest bits of the stack pointer begins an aligned frame.
            let aligned = self.aligned(all);
            if plain.bytes == 0 && matches!(last, Operand::Memory(_)) {
                return unknown("how much is stored is not known");
            }
            self.write(last, bytes, aligned.unwrap_or(value))?;
        }
        self.state.flags = match plain.flags {
            Flags::Keep => self.state.flags,
            Flags::Set => value.piece(),
            Flags::Merge => self.state.flags.mix(value),
        };
        Ok(())
    }

    /// The stack pointer after `andq $-N, %rsp`.
    fn aligned(&self, all: &[Operand<'a>]) -> Option<Value<'a>> {
        let [Operand::Immediate(Some(to)), Operand::General(RSP, 8)] = all else { return None };
        let from_caller = matches!(self.state.general[RSP], Value::Frame(Base::Caller, Some(_)));
        (from_caller && *to < 0).then_some(Value::Frame(Base::Aligned, Some(0)))
    }

    fn stack_top(&self) -> Result<Place<'a>, Refusal> {
        match self.state.general[RSP] {
            Value::Frame(base, Some(at)) => Ok(Place::Frame(base, at)),
            _ => unknown("the stack pointer is not followed"),
        }
    }

    /// A result: a secret one begins here.
    fn made(&mut self, value: Value<'a>) -> Value<'a> {
        match value {
            Value::Secret(since) => {
                self.cause.get_or_insert(since);
                Value::Secret(self.at)
            }
            other => other,
        }
    }

    fn place(&self, address: &Address<'a>) -> Result<Place<'a>, Refusal> {
        let refused = if matches!(address.index, Some(Index::Vector(_))) {
            "addresses in a vector depend"
        } else {
            "an address depends"
        };
        self.state.place(address).map_err(|SecretAddress(since)| Refusal::Leak(refused, since))
    }

    fn read(&self, operand: &Operand<'a>, bytes: i64) -> Result<Value<'a>, Refusal> {
        Ok(match operand {
            Operand::Immediate(_) => Value::Public,
            Operand::General(register, 8) => self.state.general[*register],
            Operand::General(register, 1) => self.state.lowest[*register],
            Operand::General(register, _) => self.state.general[*register].piece(),
            Operand::Vector(register, _) => self.state.vectors[*register],
            Operand::Mask(register) => self.state.masks[*register],
            Operand::Memory(address) => {
                let place = self.place(address)?;
                let bytes = if address.broadcast { 8 } else { bytes };
                self.state.load(place, bytes, self.entry, self.at)
            }
        })
    }

    fn write(&mut self, operand: &Operand<'a>, bytes: i64, value: Value<'a>) -> Result<(), Refusal> {
        match operand {
            Operand::Immediate(_) => return unknown("the instruction writes a constant"),
            Operand::General(register, bytes) => self.write_general(*register, *bytes, value),
            Operand::Vector(register, _) => self.state.vectors[*register] = value.piece(),
            Operand::Mask(register) => {
                self.state.masks[*register] = value.piece();
                self.state.masks_lowest[*register] = value.piece();
            }
            Operand::Memory(address) => {
                let place = self.place(address)?;
                self.store(place, bytes, value)?;
            }
        }
        Ok(())
    }

    fn write_general(&mut self, register: usize, bytes: usize, value: Value<'a>) {
        let (whole, lowest) = (self.state.general[register], self.state.lowest[register]);
        // Four bytes clear the rest of the register; of fewer, it stays.
        (self.state.general[register], self.state.lowest[register]) = match bytes {
            8 => (value, value.piece()),
            4 => (value.piece(), value.piece()),
            2 => (whole.mix(value), lowest.mix(value)),
            _ => (whole.mix(value), value.piece()),
        };
    }

    fn store(&mut self, place: Place<'a>, bytes: i64, value: Value<'a>) -> Result<(), Refusal> {
        self.state.store(place, bytes, value, self.entry).map_err(Refusal::Unknown)
    }
}

/// The bytes of the largest register among the operands, not counting memory.
fn widest(all: &[Operand]) -> i64 {
    let bytes = all.iter().map(|operand| match operand {
        Operand::General(_, bytes) | Operand::Vector(_, bytes) => *bytes as i64,
        Operand::Mask(_) => 8,
        _ => 0,
    });
    bytes.max().unwrap_or(0)
}

fn unknown<T>(why: &'static str) -> Result<T, Refusal> {
    let error = || -> Result<T> { bail!(why) };
    error().map_err(Refusal::Unknown)
}
