//! The names of functions and statics in this program's file.

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSymbol, SymbolKind};

/// A symbol: address, size and name.
pub struct Program(Vec<(u64, u64, String)>);

impl Program {
    /// Reads the file of the running program.
    pub fn read() -> Result<Self> {
        let data = std::fs::read("/proc/self/exe").context("cannot read the program's file")?;
        let file = object::File::parse(&*data).context("the program's file is not ELF")?;
        let kinds = [SymbolKind::Text, SymbolKind::Data];
        let symbols = file.symbols().filter(|symbol| symbol.size() > 0 && kinds.contains(&symbol.kind()));
        let named = |name: &str| format!("{:#}", rustc_demangle::demangle(name));
        let all = symbols.filter_map(|s| Some((s.address(), s.size(), named(s.name().ok()?))));
        Ok(Self(all.collect()))
    }

    /// The addresses of all functions, or the static, of this name.
    pub fn all(&self, name: &str) -> Result<Vec<u64>> {
        let found: Vec<u64> = self.0.iter().filter(|symbol| symbol.2 == name).map(|symbol| symbol.0).collect();
        ensure!(!found.is_empty(), "the program has no symbol {name}: it is stripped, or the compiler has inlined it");
        Ok(found)
    }

    /// The address of the only one of this name.
    pub fn one(&self, name: &str) -> Result<u64> {
        let found = self.all(name)?;
        ensure!(found.len() == 1, "the program has {} symbols {name}", found.len());
        Ok(found[0])
    }

    /// The name of the function that an address is in.
    pub fn name_at(&self, address: u64) -> &str {
        let found = self.0.iter().find(|(start, size, _)| (*start..start + size).contains(&address));
        found.map_or("another file", |symbol| &symbol.2)
    }
}
