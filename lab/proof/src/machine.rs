//! A processor over names: it executes machine code for all inputs at once, and writes equations down.
//!
//! Lengths are constants, so loops end. A branch or an address that depends on a word is an error, and so is
//! every access outside of the regions, every use of a flag or register that holds nothing certain, and every
//! instruction that is not known here.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

mod operands;

use crate::Processor;
use crate::code::Code;
use crate::facts::Facts;
use crate::form::Id;
use crate::memory::{Memory, STACK, Traces};
use crate::value::{Flag, Value};

/// Why a run ended early.
#[derive(Debug)]
pub enum Stop {
    /// The code does something that it must not do, or that is not known here.
    Error(String),
    /// What the code does depends on this carry: each value needs a run of its own.
    Split(Id),
}

impl From<String> for Stop {
    fn from(error: String) -> Self {
        Self::Error(error)
    }
}

impl From<&str> for Stop {
    fn from(error: &str) -> Self {
        Self::Error(error.into())
    }
}

/// More instructions than any length needs.
const MOST_INSTRUCTIONS: usize = 50_000_000;
/// What a function must give back to its caller (System V).
const PRESERVED: [Register; 7] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15, Register::RSP];

/// What it takes its arguments in.
const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

/// In the order of their numbers.
const REGISTERS: [Register; 16] = {
    use Register::*;
    [RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15]
};

fn number(register: Register) -> usize {
    register as usize - Register::RAX as usize
}

/// The processor and its memory.
pub struct Machine<'a> {
    code: &'a Code,
    /// What it has computed.
    pub facts: Facts,
    registers: [Value; 16],
    carry: Flag,
    overflow: Flag,
    zero: Option<bool>,
    memory: Memory,
}

impl<'a> Machine<'a> {
    /// A machine at the beginning of a call: nothing is known of flags and registers but the stack's.
    pub fn new(code: &'a Code, cases: Vec<(Id, bool)>) -> Self {
        let mut registers = [Value::Unknown; 16];
        for (i, register) in PRESERVED.into_iter().enumerate() {
            registers[number(register)] = Value::Saved(i);
        }
        registers[number(Register::RSP)] = Value::Pointer(STACK, 0);
        let facts = Facts::supposing(cases);
        let memory = Memory::new(&[Value::Return(0)]);
        let (carry, overflow) = (Flag::Unknown, Flag::Unknown);
        Self { code, facts, registers, carry, overflow, zero: None, memory }
    }

    /// Gives a register a value.
    pub fn set(&mut self, register: Register, value: Value) {
        self.registers[number(register)] = value;
    }

    /// What a register holds.
    pub fn get(&self, register: Register) -> Value {
        self.registers[number(register)]
    }

    /// A caller's code runs, which keeps all registers but these, and no flag.
    pub fn forget(&mut self, registers: &[Register]) {
        registers.iter().for_each(|register| self.set(*register, Value::Unknown));
        self.set_flags(Flag::Unknown, Flag::Unknown, None);
    }

    /// The carry flag.
    pub fn carry(&self) -> Flag {
        self.carry
    }

    /// Executes from an address on until the code returns to its caller, or is about to execute `end`.
    pub fn run(&mut self, mut address: u64, end: Option<u64>) -> Result<(), Stop> {
        for _ in 0..MOST_INSTRUCTIONS {
            if Some(address) == end {
                return Ok(());
            }
            let code = self.code;
            let instruction = code
                .instructions
                .get(&address)
                .ok_or_else(|| format!("jumps to {}, where no instruction begins", code.describe(address)))?;
            self.memory.executes(address);
            let next = self.step(instruction).map_err(|stop| match stop {
                Stop::Error(error) => {
                    Stop::Error(format!("{} ({:?}): {error}", code.describe(address), instruction.mnemonic()))
                }
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
    fn step(&mut self, at: &Instruction) -> Result<Option<u64>, Stop> {
        let next = Some(at.next_ip());
        if at.has_lock_prefix() || at.has_rep_prefix() || at.has_repne_prefix() {
            return Err("a prefix is not known here".into());
        }
        match at.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movzx => {
                let value = match (at.mnemonic(), self.read(at, 1)?) {
                    (Mnemonic::Mov, value) if at.op1_kind() != OpKind::Register || Self::is_whole(at) => {
                        value
                    }
                    (Mnemonic::Mov, value) => Self::half(value)?,
                    (_, Value::Byte(flag)) => flag.into(),
                    _ => return Err("moves a byte that holds nothing certain".into()),
                };
                self.write(at, value)?;
            }
            Mnemonic::Lea if at.memory_index() != Register::None => {
                let value = self.two(at)?;
                self.write(at, value)?;
            }
            Mnemonic::Lea => {
                let (region, offset) = self.address(at)?;
                let value =
                    region.map_or(Value::Constant(offset as u64), |region| Value::Pointer(region, offset));
                self.write(at, value)?;
            }
            Mnemonic::Mulx => {
                let (high, low) = self.facts.product(self.get(Register::RDX), self.read(at, 2)?)?;
                self.set(self.register(at, 1)?, low);
                self.set(self.register(at, 0)?, high);
            }
            Mnemonic::Imul if at.op_count() == 2 => {
                let (_, low) = self.facts.product(self.read(at, 0)?, self.read(at, 1)?)?;
                self.set_flags(Flag::Unknown, Flag::Unknown, None);
                self.write(at, low)?;
            }
            Mnemonic::Adcx => {
                let (value, carry) = self.facts.sum(self.read(at, 0)?, self.read(at, 1)?, self.carry)?;
                self.write(at, value)?;
                self.carry = carry;
            }
            Mnemonic::Adox => {
                let (value, carry) = self.facts.sum(self.read(at, 0)?, self.read(at, 1)?, self.overflow)?;
                self.write(at, value)?;
                self.overflow = carry;
            }
            // The overflow flag becomes what was in the lowest bit.
            Mnemonic::Add if at.op0_register() == Register::AL => {
                let flag = self.facts.bit(self.get(Register::RAX)).filter(|_| at.immediate8() == 127);
                self.set_flags(Flag::Known(false), flag.ok_or("is known with a carry and 127 alone")?, None);
                self.set(Register::RAX, Value::Unknown);
            }
            Mnemonic::Add | Mnemonic::Adc => {
                let carry = if at.mnemonic() == Mnemonic::Add { Flag::Known(false) } else { self.carry };
                let (value, carry) = self.facts.sum(self.read(at, 0)?, self.read(at, 1)?, carry)?;
                self.finish(at, value, carry)?;
            }
            Mnemonic::Sub | Mnemonic::Sbb => {
                let borrow = if at.mnemonic() == Mnemonic::Sub { Flag::Known(false) } else { self.carry };
                let same = at.op1_kind() == OpKind::Register && at.op0_register() == at.op1_register();
                let (value, borrow) = match (same, borrow) {
                    (true, Flag::Carry(id)) => (Value::Mask(id), borrow),
                    (true, Flag::Known(flag)) => (Value::Constant(if flag { u64::MAX } else { 0 }), borrow),
                    _ => self.facts.difference(self.read(at, 0)?, self.read(at, 1)?, borrow)?,
                };
                self.finish(at, value, borrow)?;
            }
            Mnemonic::Xor if at.op1_kind() == OpKind::Register && at.op0_register() == at.op1_register() => {
                self.set_flags(Flag::Known(false), Flag::Known(false), Some(true));
                self.write(at, Value::Constant(0))?;
            }
            Mnemonic::And if !Self::is_whole(at) => {
                let value = match (self.read(at, 0)?, self.read(at, 1)?) {
                    (Value::Two(first, _), Value::Constant(1)) => first.into(),
                    (Value::Constant(value), Value::Constant(1)) => Value::Constant(value & 1),
                    _ => return Err("of half a register is known for the lowest bit alone".into()),
                };
                self.set_flags(Flag::Known(false), Flag::Known(false), None);
                self.write(at, value)?;
            }
            Mnemonic::Shr => {
                let value = match (Self::half(self.read(at, 0)?)?, self.read(at, 1)?) {
                    (Value::Two(_, second), Value::Constant(1)) => second.into(),
                    (Value::Constant(value), Value::Constant(1)) => Value::Constant(value >> 1),
                    _ => return Err("is known by one bit alone".into()),
                };
                self.set_flags(Flag::Unknown, Flag::Unknown, None);
                self.write(at, value)?;
            }
            Mnemonic::And => {
                let value = match (self.read(at, 0)?, self.read(at, 1)?) {
                    (_, Value::Mask(id)) => return Err(Stop::Split(id)),
                    (_, Value::Constant(0)) => Value::Constant(0),
                    (value @ (Value::Word(_) | Value::Constant(_)), Value::Constant(u64::MAX)) => value,
                    _ => return Err("is known with masks alone".into()),
                };
                self.set_flags(Flag::Known(false), Flag::Known(false), None);
                self.write(at, value)?;
            }
            Mnemonic::Neg => {
                let (value, carry) = match self.read(at, 0)? {
                    Value::Word(id) if self.facts.max(id) == 1 => (Value::Mask(id), Flag::Carry(id)),
                    Value::Constant(value) => {
                        (Value::Constant(value.wrapping_neg()), Flag::Known(value != 0))
                    }
                    _ => return Err("is known with carries alone".into()),
                };
                self.finish(at, value, carry)?;
            }
            Mnemonic::Inc | Mnemonic::Dec => {
                let Value::Constant(value) = self.read(at, 0)? else {
                    return Err("counts what is not public".into());
                };
                let by = if at.mnemonic() == Mnemonic::Inc { 1 } else { u64::MAX };
                let carry = self.carry;
                self.finish(at, Value::Constant(value.wrapping_add(by)), carry)?;
            }
            Mnemonic::Cmovb | Mnemonic::Cmovae => {
                let wanted = at.mnemonic() == Mnemonic::Cmovb;
                let (old, new) = (self.read(at, 0)?, self.read(at, 1)?);
                match self.carry {
                    Flag::Carry(id) => return Err(Stop::Split(id)),
                    Flag::Known(flag) => self.write(at, if flag == wanted { new } else { old })?,
                    Flag::Unknown => return Err("depends on a flag that holds nothing certain".into()),
                }
            }
            Mnemonic::Setb => {
                let register = self.register(at, 0)?;
                self.set(register, Value::Byte(self.carry));
            }
            Mnemonic::Seto => {
                let register = self.register(at, 0)?;
                self.set(register, Value::Byte(self.overflow));
            }
            Mnemonic::Push => {
                let value = self.read(at, 0)?;
                self.push(value)?;
            }
            Mnemonic::Pop => {
                let value = self.pop()?;
                self.write(at, value)?;
            }
            Mnemonic::Call if at.op0_kind() == OpKind::NearBranch64 => {
                self.push(Value::Return(at.next_ip()))?;
                return Ok(Some(at.near_branch_target()));
            }
            Mnemonic::Ret => {
                return match self.pop()? {
                    Value::Return(0) => Ok(None),
                    Value::Return(address) => Ok(Some(address)),
                    _ => Err("finds no return address".into()),
                };
            }
            Mnemonic::Jmp if at.op0_kind() == OpKind::NearBranch64 => {
                return Ok(Some(at.near_branch_target()));
            }
            Mnemonic::Jmp if at.op0_kind() == OpKind::Memory => match self.read(at, 0)? {
                Value::Constant(address) => return Ok(Some(address)),
                _ => return Err("jumps to what is not public".into()),
            },
            Mnemonic::Jne | Mnemonic::Je => {
                let zero = self.zero.ok_or("branches on a flag that holds nothing certain")?;
                if zero == (at.mnemonic() == Mnemonic::Je) {
                    return Ok(Some(at.near_branch_target()));
                }
            }
            Mnemonic::Jrcxz => match self.get(Register::RCX) {
                Value::Constant(0) => return Ok(Some(at.near_branch_target())),
                Value::Constant(_) => {}
                _ => return Err("branches on what is not public".into()),
            },
            Mnemonic::Nop | Mnemonic::Endbr64 => {}
            _ => return Err("is not known here".into()),
        }
        Ok(next)
    }

    fn set_flags(&mut self, carry: Flag, overflow: Flag, zero: Option<bool>) {
        (self.carry, self.overflow, self.zero) = (carry, overflow, zero);
    }

    /// Writes a result, and the flags that follow from it. Nothing reads the overflow flag of such a result.
    fn finish(&mut self, at: &Instruction, value: Value, carry: Flag) -> Result<(), Stop> {
        let zero = match value {
            Value::Constant(value) => Some(value == 0),
            _ => None,
        };
        self.set_flags(carry, Flag::Unknown, zero);
        self.write(at, value)
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

    /// In registers, as System V has it.
    fn argument(&mut self, place: usize, value: Value) {
        self.set(ARGUMENTS[place], value);
    }

    fn call(&mut self, address: u64) -> Result<(), Stop> {
        let before = self.registers;
        self.run(address, None)?;
        for register in PRESERVED.into_iter().filter(|register| *register != Register::RSP) {
            if self.get(register) != before[number(register)] {
                return Err(Stop::Error(format!("{register:?} is not restored")));
            }
        }
        self.memory.check_frame()
    }

    fn traces(self) -> Traces {
        self.memory.traces()
    }
}
