//! Operands: registers, and memory in regions.

use iced_x86::{Instruction, MemorySize, Mnemonic, OpKind, Register};

use super::{Machine, REGISTERS, Stop};
use crate::value::{Region, Value};

/// Memory that the code is given.
pub(super) struct Place {
    pub name: &'static str,
    pub words: Vec<Value>,
    pub writable: bool,
}

/// The stack's region. Offset 0 is the return address; the frame is below.
pub(super) const STACK: Region = 0;
/// Words of stack below the return address.
pub(super) const FRAME: usize = 64;

impl Machine<'_> {
    /// A region that the code may read, and write if `writable`.
    pub fn region(&mut self, name: &'static str, words: Vec<Value>, writable: bool) -> Region {
        self.memory.push(Place { name, words, writable });
        self.memory.len() - 1
    }

    /// What a region holds.
    pub fn words(&self, region: Region) -> &[Value] {
        &self.memory[region].words
    }

    /// The register of an operand. Halves of a register are allowed only where they clear the other half.
    pub(super) fn register(&self, at: &Instruction, operand: u32) -> Result<Register, Stop> {
        let register = at.op_register(operand);
        let from_register = at.op1_kind() == OpKind::Register;
        let whole = match at.mnemonic() {
            Mnemonic::Xor | Mnemonic::Movzx => from_register,
            Mnemonic::Mov => !from_register && at.op1_kind() != OpKind::Memory,
            _ => false,
        };
        let byte = matches!((at.mnemonic(), operand), (Mnemonic::Setb, 0) | (Mnemonic::Movzx, 1));
        let begins = |first: Register, count: usize| {
            (register as usize).checked_sub(first as usize).filter(|number| *number < count)
        };
        let number = begins(Register::RAX, 16)
            .or_else(|| begins(Register::EAX, 16).filter(|_| whole))
            .or_else(|| begins(Register::AL, 4).filter(|_| byte));
        match number {
            Some(number) => Ok(REGISTERS[number]),
            None => Err(format!("{register:?} is not known here").into()),
        }
    }

    /// The address of the memory operand; no region means an address of the program.
    pub(super) fn address(&self, at: &Instruction) -> Result<(Option<Region>, i64), Stop> {
        if at.is_ip_rel_memory_operand() {
            return Ok((None, at.ip_rel_memory_address() as i64));
        }
        if at.memory_index() != Register::None
            || !REGISTERS.contains(&at.memory_base())
            || at.segment_prefix() != Register::None
        {
            return Err("an index, a segment or a short base is not known here".into());
        }
        let displacement = at.memory_displacement64() as i64;
        match self.get(at.memory_base()) {
            Value::Pointer(region, offset) => Ok((Some(region), offset.wrapping_add(displacement))),
            Value::Constant(value) if at.mnemonic() == Mnemonic::Lea => {
                Ok((None, (value as i64).wrapping_add(displacement)))
            }
            _ => Err("its address does not come from a pointer".into()),
        }
    }

    pub(super) fn read(&self, at: &Instruction, operand: u32) -> Result<Value, Stop> {
        match at.op_kind(operand) {
            OpKind::Register => Ok(self.get(self.register(at, operand)?)),
            OpKind::Memory => {
                Self::eight_bytes(at)?;
                let (region, offset) = self.address(at)?;
                match region {
                    Some(region) => Ok(self.memory[region].words[self.slot(region, offset)?]),
                    None => {
                        let constant =
                            self.code.constant(offset as u64).ok_or("it reads what is no constant")?;
                        Ok(Value::Constant(constant))
                    }
                }
            }
            _ => Ok(Value::Constant(at.immediate(operand))),
        }
    }

    fn eight_bytes(at: &Instruction) -> Result<(), Stop> {
        match at.memory_size() {
            MemorySize::UInt64 | MemorySize::Int64 => Ok(()),
            _ => Err("it does not access eight bytes".into()),
        }
    }

    pub(super) fn write(&mut self, at: &Instruction, value: Value) -> Result<(), Stop> {
        if at.op0_kind() != OpKind::Memory {
            let register = self.register(at, 0)?;
            self.set(register, value);
            return Ok(());
        }
        Self::eight_bytes(at)?;
        match self.address(at)? {
            (Some(region), offset) => self.store(region, offset, value),
            (None, _) => Err("it writes to the program".into()),
        }
    }

    fn store(&mut self, region: Region, offset: i64, value: Value) -> Result<(), Stop> {
        let slot = self.slot(region, offset)?;
        let place = &mut self.memory[region];
        if !place.writable {
            return Err(format!("it writes to {}", place.name).into());
        }
        place.words[slot] = value;
        Ok(())
    }

    /// The word of a region at an offset. On the stack, nothing below the stack pointer is accessed.
    fn slot(&self, region: Region, offset: i64) -> Result<usize, Stop> {
        self.trace.borrow_mut().push((region as u64, offset));
        let place = &self.memory[region];
        let from_start = if region == STACK { offset + 8 * FRAME as i64 } else { offset };
        let slot =
            usize::try_from(from_start / 8).ok().filter(|slot| from_start >= 0 && *slot < place.words.len());
        let below =
            region == STACK && !matches!(self.get(Register::RSP), Value::Pointer(STACK, at) if at <= offset);
        match slot {
            Some(slot) if from_start % 8 == 0 && !below => Ok(slot),
            _ => Err(format!("it accesses byte {offset} of {}", place.name).into()),
        }
    }

    pub(super) fn push(&mut self, value: Value) -> Result<(), Stop> {
        let Value::Pointer(STACK, offset) = self.get(Register::RSP) else {
            return Err("rsp is no pointer".into());
        };
        self.set(Register::RSP, Value::Pointer(STACK, offset - 8));
        self.store(STACK, offset - 8, value)
    }

    pub(super) fn pop(&mut self) -> Result<Value, Stop> {
        let Value::Pointer(STACK, offset) = self.get(Register::RSP) else {
            return Err("rsp is no pointer".into());
        };
        let value = self.memory[STACK].words[self.slot(STACK, offset)?];
        self.set(Register::RSP, Value::Pointer(STACK, offset + 8));
        Ok(value)
    }
}
