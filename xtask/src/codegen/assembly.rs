//! Assembly (AT&T syntax, as rustc emits it), cut into functions.

use std::collections::HashMap;

/// The functions of a file of assembly.
#[derive(Default)]
pub struct Assembly<'a> {
    pub functions: Vec<Function<'a>>,
    /// Symbols, each with the symbol that it is another name of: identical functions may have been merged.
    pub aliases: Vec<(&'a str, &'a str)>,
    /// Tables of jumps, each with the labels that it leads to.
    pub tables: HashMap<&'a str, Vec<&'a str>>,
}

/// A function with instructions.
#[derive(Default)]
pub struct Function<'a> {
    pub symbol: &'a str,
    pub instructions: Vec<Instruction<'a>>,
    /// Local labels, each with the instruction behind it.
    pub labels: HashMap<&'a str, usize>,
    /// Whether all instructions lie between the directives that begin and end an unwind table.
    pub covered: bool,
}

/// An instruction.
pub struct Instruction<'a> {
    pub mnemonic: &'a str,
    pub operands: &'a str,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The directives about unwind tables (CFI) before it: names without `.cfi_`, and operands.
    pub directives: Vec<(&'a str, &'a str)>,
}

/// Cuts assembly into functions.
pub fn parse(text: &str) -> Assembly<'_> {
    let mut all = Assembly::default();
    let (mut directives, mut has_table, mut inside, mut table) = (Vec::new(), false, false, None);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim_end();
        if !line.starts_with([' ', '\t']) {
            table = line
                .strip_suffix(':')
                .filter(|label| label.starts_with(".LJTI"))
                .or(table.filter(|_| line.is_empty()));
            match (line.strip_suffix(':'), all.functions.last_mut()) {
                (Some(label), _) if label.starts_with(".Lfunc_end") => inside = false,
                (Some(symbol), _) if !symbol.starts_with(".L") => {
                    all.functions.push(Function { symbol, covered: true, ..Function::default() });
                    (directives, has_table, inside) = (Vec::new(), false, true);
                }
                (Some(label), Some(function)) if inside => {
                    _ = function.labels.insert(label, function.instructions.len())
                }
                _ => {}
            }
            continue;
        }
        // Of an instruction with two encodings, which one it is.
        let line = line.trim_start();
        let line = line.strip_prefix("{vex}").map_or(line, str::trim_start);
        let (mnemonic, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let operands = operands.trim();
        if let (Some(table), ".long") = (table, mnemonic) {
            // Each entry is the distance of a label from the table.
            all.tables.entry(table).or_default().push(operands.split('-').next().unwrap_or(operands));
        } else if mnemonic == ".set" {
            all.aliases.extend(operands.split_once(',').map(|(alias, symbol)| (alias.trim(), symbol.trim())));
        } else if let Some(directive) = mnemonic.strip_prefix(".cfi_") {
            has_table = directive == "startproc" || has_table && directive != "endproc";
            directives.push((directive, operands));
        } else if let Some(function) = all.functions.last_mut()
            && inside
            && !mnemonic.is_empty()
            && !mnemonic.starts_with('.')
        {
            function.covered &= has_table;
            let directives = std::mem::take(&mut directives);
            function.instructions.push(Instruction { mnemonic, operands, line: number + 1, directives });
        }
    }
    all.functions.retain(|function| !function.instructions.is_empty());
    all
}
