//! Machine code of x86-64, decoded.

use iced_x86::{Decoder, DecoderOptions, Instruction};
use std::collections::BTreeMap;

use crate::program::Program;

/// Some functions of a program, decoded, and what lies in its read-only sections.
#[derive(Clone)]
pub struct Code {
    /// By address.
    pub instructions: BTreeMap<u64, Instruction>,
    functions: BTreeMap<String, (u64, u64)>,
    constants: Vec<(u64, Vec<u8>)>,
}

impl Code {
    /// Decodes a program's functions.
    pub fn decode(program: Program) -> Self {
        let mut code =
            Self { instructions: BTreeMap::new(), functions: BTreeMap::new(), constants: program.constants };
        for (name, address, bytes) in program.functions {
            let decoder = Decoder::with_ip(64, &bytes, address, DecoderOptions::NONE);
            code.instructions.extend(decoder.into_iter().map(|instruction| (instruction.ip(), instruction)));
            code.functions.insert(name, (address, bytes.len() as u64));
        }
        code
    }

    /// Where a function begins and ends.
    pub fn function(&self, name: &str) -> Result<(u64, u64), String> {
        let (address, size) = self.functions.get(name).ok_or("the program does not contain this function")?;
        Ok((*address, address + size))
    }

    /// The function at an address, and how far into it the address is.
    pub fn place(&self, address: u64) -> Option<(&str, u64)> {
        let mut functions = self.functions.iter();
        functions.find_map(|(name, (begin, size))| {
            let offset = address.checked_sub(*begin).filter(|offset| offset < size)?;
            Some((&**name, offset))
        })
    }

    /// The same for messages.
    pub fn describe(&self, address: u64) -> String {
        self.place(address).map_or(format!("{address:#x}"), |(name, offset)| format!("{name}+{offset:#x}"))
    }

    /// Eight bytes that the program cannot change.
    pub fn constant(&self, address: u64) -> Option<u64> {
        self.constants.iter().find_map(|(start, data)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            Some(u64::from_le_bytes(data.get(at..at.checked_add(8)?)?.try_into().ok()?))
        })
    }
}
