//! Machine code of 64-bit Arm: the instructions that the assembly has, and no others.
//!
//! Their encodings are those of Arm's manual (DDI 0487, chapter C6). All have 64-bit operands.

use std::collections::BTreeMap;

use crate::program::Program;

/// The number of a register. 31 is the stack pointer or zero: that depends on the instruction.
pub type Register = u8;

/// An instruction. `d` is the result's register; `n`, `m` and `t` are operands.
#[allow(missing_docs, reason = "the names of Arm's manual")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    /// `d ← n·m`, the low half, or the high one (UMULH).
    Multiply { high: bool, d: Register, n: Register, m: Register },
    /// `d ← n ± m`, with the carry (ADC, SBC) or without, and with flags (ADDS …) or without.
    Sum { subtracts: bool, carries: bool, flags: bool, d: Register, n: Register, m: Register },
    /// `d ← n ± by`; with flags 31 is zero as `d`, else the stack pointer as `d` and `n`.
    Offset { subtracts: bool, flags: bool, d: Register, n: Register, by: u16 },
    /// `d ← n and m`.
    And { d: Register, n: Register, m: Register },
    /// `d ← m`.
    Move { d: Register, m: Register },
    /// `d ← value`.
    Constant { d: Register, value: u16 },
    /// Eight bytes at `[n + offset]`, or sixteen where there is a second register.
    Load { t: Register, second: Option<Register>, n: Register, offset: i64 },
    /// The same bytes, written.
    Store { t: Register, second: Option<Register>, n: Register, offset: i64 },
    /// To this many bytes behind the instruction.
    Branch { by: i64 },
    /// A call.
    Call { by: i64 },
    /// A branch unless `t` is 0.
    BranchNonZero { t: Register, by: i64 },
    /// To `x30`.
    Return,
}

impl Instruction {
    /// Decodes an instruction; none if it is not known here.
    pub fn decode(word: u32) -> Option<Self> {
        let register = |at: u32| (word >> at & 31) as Register;
        let (d, n, m) = (register(0), register(5), register(16));
        let signed = |at: u32, bits: u32| i64::from((word << (32 - at - bits)) as i32 >> (32 - bits));
        let (flags, subtracts) = (word >> 29 & 1 == 1, word >> 30 & 1 == 1);
        let immediate = word >> 10 & 0xfff;
        Some(match word {
            // MADD with x31 as the summand: MUL.
            _ if word & 0xffe0_fc00 == 0x9b00_7c00 => Self::Multiply { high: false, d, n, m },
            _ if word & 0xffe0_fc00 == 0x9bc0_7c00 => Self::Multiply { high: true, d, n, m },
            // ADC, ADCS, SBC, SBCS; ADD, ADDS, SUB, SUBS without a shift.
            _ if word & 0x9fe0_fc00 == 0x9a00_0000 => Self::Sum { subtracts, carries: true, flags, d, n, m },
            _ if word & 0x9fe0_fc00 == 0x8b00_0000 => Self::Sum { subtracts, carries: false, flags, d, n, m },
            _ if word & 0x9fc0_0000 == 0x9100_0000 => {
                Self::Offset { subtracts, flags, d, n, by: immediate as u16 }
            }
            _ if word & 0xffe0_fc00 == 0x8a00_0000 => Self::And { d, n, m },
            // ORR with x31.
            _ if word & 0xffe0_ffe0 == 0xaa00_03e0 => Self::Move { d, m },
            // MOVZ without a shift.
            _ if word & 0xffe0_0000 == 0xd280_0000 => Self::Constant { d, value: (word >> 5) as u16 },
            _ if word & 0xffc0_0000 == 0xf940_0000 => {
                Self::Load { t: d, second: None, n, offset: i64::from(8 * immediate) }
            }
            _ if word & 0xffc0_0000 == 0xf900_0000 => {
                Self::Store { t: d, second: None, n, offset: i64::from(8 * immediate) }
            }
            _ if word & 0xffc0_0000 == 0xa940_0000 => {
                Self::Load { t: d, second: Some(register(10)), n, offset: 8 * signed(15, 7) }
            }
            _ if word & 0xffc0_0000 == 0xa900_0000 => {
                Self::Store { t: d, second: Some(register(10)), n, offset: 8 * signed(15, 7) }
            }
            _ if word & 0xfc00_0000 == 0x1400_0000 => Self::Branch { by: 4 * signed(0, 26) },
            _ if word & 0xfc00_0000 == 0x9400_0000 => Self::Call { by: 4 * signed(0, 26) },
            _ if word & 0xff00_0000 == 0xb500_0000 => Self::BranchNonZero { t: d, by: 4 * signed(5, 19) },
            0xd65f_03c0 => Self::Return,
            _ => return None,
        })
    }
}

/// Some functions of a program.
#[derive(Clone)]
pub struct Code {
    /// By address; none where an instruction is not known here.
    pub instructions: BTreeMap<u64, Option<Instruction>>,
    functions: BTreeMap<String, (u64, u64)>,
}

impl Code {
    /// Decodes a program's functions.
    pub fn decode(program: Program) -> Self {
        let mut code = Self { instructions: BTreeMap::new(), functions: BTreeMap::new() };
        for (name, address, bytes) in program.functions {
            let words = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
            code.instructions.extend((address..).step_by(4).zip(words.map(Instruction::decode)));
            code.functions.insert(name, (address, address + bytes.len() as u64));
        }
        code
    }

    /// Where a function begins and ends.
    pub fn function(&self, name: &str) -> Result<(u64, u64), String> {
        self.functions.get(name).copied().ok_or_else(|| "the program does not contain this function".into())
    }

    /// The function at an address, and how far into it the address is: for messages.
    pub fn describe(&self, address: u64) -> String {
        let found = self.functions.iter().find(|(_, at)| (at.0..at.1).contains(&address));
        found.map_or(format!("{address:#x}"), |(name, at)| format!("{name}+{:#x}", address - at.0))
    }
}
