//! Operands: registers and memory.

use iced_x86::{Instruction, MemorySize, Mnemonic, OpKind, Register};

use super::{Machine, REGISTERS, Stop};
use crate::memory::STACK;
use crate::value::{Region, Value};

impl Machine<'_> {
    /// The register of an operand. Halves of a register are allowed only where they clear the other half.
    pub(super) fn register(&self, at: &Instruction, operand: u32) -> Result<Register, Stop> {
        let register = at.op_register(operand);
        let from_register = at.op1_kind() == OpKind::Register;
        let whole = match at.mnemonic() {
            Mnemonic::Xor | Mnemonic::Movzx => from_register,
            Mnemonic::Mov | Mnemonic::And | Mnemonic::Shr => at.op1_kind() != OpKind::Memory,
            _ => false,
        };
        let byte =
            matches!((at.mnemonic(), operand), (Mnemonic::Setb | Mnemonic::Seto, 0) | (Mnemonic::Movzx, 1));
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

    /// Whether an instruction writes a whole register or eight bytes, not the lower half of a register.
    pub(super) fn is_whole(at: &Instruction) -> bool {
        at.op0_kind() != OpKind::Register || REGISTERS.contains(&at.op0_register())
    }

    /// A value that the upper half of a register has no part of.
    pub(super) fn half(value: Value) -> Result<Value, Stop> {
        match value {
            Value::Two(..) => Ok(value),
            Value::Constant(constant) if u32::try_from(constant).is_ok() => Ok(value),
            _ => Err("half a register is not known here".into()),
        }
    }

    /// An address that is a carry and twice another.
    pub(super) fn two(&self, at: &Instruction) -> Result<Value, Stop> {
        let bit = |register: Register| {
            REGISTERS.contains(&register).then(|| self.facts.bit(self.get(register))).flatten()
        };
        let plain = at.memory_index_scale() == 2 && at.memory_displacement64() == 0;
        match (bit(at.memory_base()), bit(at.memory_index())) {
            (Some(first), Some(second)) if plain => Ok(Value::Two(first, second)),
            _ => Err("an index is known for two carries alone".into()),
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
                    Some(region) => self.memory.load(region, offset, self.stack_pointer()),
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
            MemorySize::UInt64 | MemorySize::Int64 | MemorySize::QwordOffset => Ok(()),
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
        self.memory.store(region, offset, self.stack_pointer(), value)
    }

    fn stack_pointer(&self) -> Value {
        self.get(Register::RSP)
    }

    pub(super) fn push(&mut self, value: Value) -> Result<(), Stop> {
        let Value::Pointer(STACK, offset) = self.stack_pointer() else {
            return Err("rsp is no pointer".into());
        };
        self.set(Register::RSP, Value::Pointer(STACK, offset - 8));
        self.store(STACK, offset - 8, value)
    }

    pub(super) fn pop(&mut self) -> Result<Value, Stop> {
        let Value::Pointer(STACK, offset) = self.stack_pointer() else {
            return Err("rsp is no pointer".into());
        };
        let value = self.memory.load(STACK, offset, self.stack_pointer())?;
        self.set(Register::RSP, Value::Pointer(STACK, offset + 8));
        Ok(value)
    }
}
