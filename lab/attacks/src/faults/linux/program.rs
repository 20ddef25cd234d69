//! The names of functions and statics in this program's file.

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;

/// Its symbols: address, size, whether it is code, and name.
pub struct Program(Vec<(u64, u64, bool, String)>);

impl Program {
    /// Reads the file of the running program.
    pub fn read() -> Result<Self> {
        let data = std::fs::read("/proc/self/exe").context("cannot read the program's file")?;
        let file = object::File::parse(&*data).context("the program's file is not ELF")?;
        let kinds = [SymbolKind::Text, SymbolKind::Data];
        let symbols = file.symbols().filter(|symbol| symbol.size() > 0 && kinds.contains(&symbol.kind()));
        let named = |name: &str| format!("{:#}", rustc_demangle::demangle(name));
        let is_code = |kind| kind == SymbolKind::Text;
        let all =
            symbols.filter_map(|s| Some((s.address(), s.size(), is_code(s.kind()), named(s.name().ok()?))));
        Ok(Self(all.collect()))
    }

    /// The address of the only symbol of this name.
    pub fn one(&self, name: &str) -> Result<u64> {
        let found: Vec<u64> =
            self.0.iter().filter(|symbol| symbol.3 == name).map(|symbol| symbol.0).collect();
        ensure!(found.len() == 1, "the program has {} symbols {name}; it must not be stripped", found.len());
        Ok(found[0])
    }

    /// Where the library's functions begin, as far as the compiler has left any.
    pub fn of_library(&self) -> BTreeSet<u64> {
        let mine = self.0.iter().filter(|(_, _, is_code, name)| *is_code && name.contains("zariz"));
        mine.map(|symbol| symbol.0).collect()
    }

    /// The name of the function that an address is in.
    pub fn name_at(&self, address: u64) -> &str {
        let found = self.0.iter().find(|(start, size, ..)| (*start..start + size).contains(&address));
        found.map_or("another file", |symbol| &symbol.3)
    }
}
