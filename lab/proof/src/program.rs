//! A program's file: some functions, and what it cannot change.

use object::read::elf::ElfFile64;
use object::{Architecture, Endianness, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};
use std::path::Path;

/// Some functions of a program, and what lies in its read-only sections.
pub struct Program {
    /// What it is for.
    pub architecture: Architecture,
    /// Paths, addresses and bytes.
    pub functions: Vec<(String, u64, Vec<u8>)>,
    /// Addresses and bytes.
    pub constants: Vec<(u64, Vec<u8>)>,
}

impl Program {
    /// Reads the functions whose path begins with one of `prefixes` from a file with a symbol table.
    pub fn read(path: &Path, prefixes: &[&str]) -> Result<Self, String> {
        let shown = path.display();
        let file = std::fs::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let elf = ElfFile64::<Endianness>::parse(&*file)
            .map_err(|error| format!("{shown} is not a 64-bit ELF file: {error}"))?;
        let (mut functions, mut constants) = (Vec::new(), Vec::new());
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
            functions.push((name, address, bytes.to_vec()));
        }
        if functions.is_empty() {
            let wanted = prefixes.join(" or ");
            return Err(format!("{shown} has no function {wanted}…: is it stripped, or made without zariz?"));
        }
        for section in &sections {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            if sh_flags & (elf::SHF_ALLOC | elf::SHF_WRITE) == elf::SHF_ALLOC
                && let Ok(data) = section.data()
            {
                constants.push((section.address(), data.to_vec()));
            }
        }
        Ok(Self { architecture: elf.architecture(), functions, constants })
    }
}
