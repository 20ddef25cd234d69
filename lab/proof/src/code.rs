//! Machine code: the functions and constants of a program's file.

use iced_x86::{Decoder, DecoderOptions, Instruction};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};
use std::collections::BTreeMap;
use std::path::Path;

/// Some functions of a program, decoded, and what lies in its read-only sections.
#[derive(Clone)]
pub struct Code {
    /// By address.
    pub instructions: BTreeMap<u64, Instruction>,
    functions: BTreeMap<String, (u64, u64)>,
    constants: Vec<(u64, Vec<u8>)>,
}

impl Code {
    /// Reads the functions whose path begins with one of `prefixes` from a file with a symbol table.
    pub fn read(path: &Path, prefixes: &[&str]) -> Result<Self, String> {
        let shown = path.display();
        let file = std::fs::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let elf = ElfFile64::<Endianness>::parse(&*file)
            .map_err(|error| format!("{shown} is not a 64-bit ELF file: {error}"))?;
        let mut code =
            Self { instructions: BTreeMap::new(), functions: BTreeMap::new(), constants: Vec::new() };
        let sections: Vec<_> = elf.sections().collect();
        for symbol in elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
            let name = String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned();
            let name = format!("{:#}", rustc_demangle::demangle(&name));
            if !prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                continue;
            }
            let (address, size) = (symbol.address(), symbol.size());
            let bytes = sections.iter().find_map(|section| section.data_range(address, size).ok().flatten());
            let bytes = bytes.ok_or_else(|| format!("{name}: {shown} does not contain its code"))?;
            let decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
            code.instructions.extend(decoder.into_iter().map(|instruction| (instruction.ip(), instruction)));
            code.functions.insert(name, (address, size));
        }
        if code.functions.is_empty() {
            let wanted = prefixes.join(" or ");
            return Err(format!("{shown} has no function {wanted}…: is it stripped, or made without zariz?"));
        }
        for section in &sections {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            if sh_flags & (elf::SHF_ALLOC | elf::SHF_WRITE) == elf::SHF_ALLOC
                && let Ok(data) = section.data()
            {
                code.constants.push((section.address(), data.to_vec()));
            }
        }
        Ok(code)
    }

    /// Where a function begins and ends.
    pub fn function(&self, name: &str) -> Result<(u64, u64), String> {
        let (address, size) = self.functions.get(name).ok_or("the program does not contain this function")?;
        Ok((*address, address + size))
    }

    /// The function at an address, and how far into it the address is: for messages.
    pub fn describe(&self, address: u64) -> String {
        let inside = |at: &&(u64, u64)| (at.0..at.0 + at.1).contains(&address);
        let found = self.functions.iter().find(|(_, at)| inside(at));
        found.map_or(format!("{address:#x}"), |(name, at)| format!("{name}+{:#x}", address - at.0))
    }

    /// Eight bytes that the program cannot change.
    pub fn constant(&self, address: u64) -> Option<u64> {
        self.constants.iter().find_map(|(start, data)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            Some(u64::from_le_bytes(data.get(at..at.checked_add(8)?)?.try_into().ok()?))
        })
    }
}
