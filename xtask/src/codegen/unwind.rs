//! Whether debuggers and profilers can walk through every function: the unwind tables say, before each
//! instruction, where the caller's frame is and where its registers are saved. The compiler writes them for
//! its own code; assembly brings its own directives (CFI), and nothing but this looks whether they are there
//! and right.
//!
//! The stack pointer is followed through each function along its jumps, and compared with the directives.

use anyhow::{Result, bail};
use rustc_demangle::demangle;
use std::collections::BTreeMap;

use super::assembly::{Assembly, Function, Instruction};

/// What a function must give back to its caller (System V).
const PRESERVED: &[&str] = &["%rbx", "%rbp", "%r12", "%r13", "%r14", "%r15"];

/// Checks every function of the assembly.
pub fn check(assembly: &Assembly) -> Result<()> {
    let problems: Vec<String> = assembly.functions.iter().filter_map(problem).collect();
    if !problems.is_empty() {
        bail!(
            "nothing can walk through {} functions:\n{}\nWhat to do: write the frames of functions in assembly with the macros \
             of crates/machines/src/assembly.rs alone.",
            problems.len(),
            problems.join("\n")
        );
    }
    println!("{} functions with unwind tables", assembly.functions.len());
    Ok(())
}

/// Where a register of the caller's is saved, in bytes from the caller's frame.
type Saved<'a> = BTreeMap<&'a str, i64>;

/// What the directives say before an instruction.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row<'a> {
    /// How far the stack pointer is below the caller's frame; unknown where the frame is found otherwise.
    depth: Option<i64>,
    saved: Saved<'a>,
}

impl<'a> Row<'a> {
    /// Applies a directive; whether it is known.
    fn apply(&mut self, directive: &str, operands: &'a str) -> bool {
        let (first, second) = operands.split_once(',').map_or((operands, ""), |(a, b)| (a.trim(), b.trim()));
        let on_stack = |register: &str| register == "%rsp";
        match (directive, first.parse::<i64>(), second.parse::<i64>()) {
            ("def_cfa_offset", Ok(depth), _) => self.depth = self.depth.map(|_| depth),
            ("adjust_cfa_offset", Ok(bytes), _) => self.depth = self.depth.map(|depth| depth + bytes),
            ("def_cfa", _, Ok(depth)) => self.depth = on_stack(first).then_some(depth),
            ("def_cfa_register", ..) => self.depth = self.depth.filter(|_| on_stack(first)),
            ("offset", _, Ok(at)) => _ = self.saved.insert(first, at),
            ("rel_offset", _, Ok(at)) => match self.depth {
                Some(depth) => _ = self.saved.insert(first, at - depth),
                None => return false,
            },
            ("restore", ..) => _ = self.saved.remove(first),
            // A frame found by an expression.
            ("escape", ..) => self.depth = None,
            ("personality" | "lsda", ..) => {}
            _ => return false,
        }
        true
    }
}

/// What is true before an instruction.
#[derive(Clone, PartialEq)]
struct State<'a> {
    /// As in [`Row`]; unknown where the stack pointer comes from another register.
    depth: Option<i64>,
    /// What was pushed and not popped yet.
    saved: Saved<'a>,
}

/// What the directives say before each instruction, or a directive that is not known here.
fn rows<'a>(function: &Function<'a>) -> Result<Vec<Row<'a>>, String> {
    let (mut row, mut remembered, mut rows) = (Row::default(), Vec::new(), Vec::new());
    for instruction in &function.instructions {
        for &(directive, operands) in &instruction.directives {
            match directive {
                "startproc" => row = Row { depth: Some(8), ..Row::default() },
                "endproc" => {}
                "remember_state" => remembered.push(row.clone()),
                "restore_state" => row = remembered.pop().unwrap_or_default(),
                _ if row.apply(directive, operands) => {}
                _ => return Err(format!(".cfi_{directive} {operands}")),
            }
        }
        rows.push(row.clone());
    }
    Ok(rows)
}

/// What is wrong with a function's table.
fn problem(function: &Function) -> Option<String> {
    let wrong = |what: String| Some(format!("  {:#}: {what}", demangle(function.symbol)));
    if !function.covered {
        return wrong("has no unwind table, or code outside of it".into());
    }
    let rows = match rows(function) {
        Ok(rows) => rows,
        Err(directive) => return wrong(format!("this check does not support `{directive}`")),
    };
    let mut seen: Vec<Option<State>> = vec![None; function.instructions.len()];
    let mut next = vec![(0, State { depth: Some(8), saved: Saved::new() })];
    while let Some((at, state)) = next.pop() {
        let Some(instruction) = function.instructions.get(at) else { continue };
        if seen[at].as_ref() == Some(&state) {
            continue;
        }
        let told = |what: String| {
            wrong(format!("{what} before `{} {}`", instruction.mnemonic, instruction.operands))
        };
        if seen[at].is_some() {
            return told("the stack depends on the way".into());
        }
        let row = &rows[at];
        if let (Some(is), Some(says)) = (state.depth, row.depth)
            && is != says
        {
            return told(format!(
                "the stack pointer is {is} bytes below the caller's frame, its table says {says}"
            ));
        }
        for (register, is) in &state.saved {
            let says = row.saved.get(register);
            // The table may be behind as long as the register is what it was.
            if says != Some(is) && (says.is_some() || instruction.calls() || instruction.names(register)) {
                return told(format!(
                    "{register} is saved {is} bytes from the caller's frame, its table says {says:?}"
                ));
            }
        }
        let after = match instruction.after(&state) {
            Some(after) => after,
            None if row.depth.is_none() => State { depth: None, ..state.clone() },
            None => {
                return told("the table relies on the stack pointer, and this check cannot follow it".into());
            }
        };
        seen[at] = Some(state);
        let jump = instruction.mnemonic.starts_with('j');
        if let Some(&to) = function.labels.get(instruction.operands).filter(|_| jump) {
            next.push((to, after.clone()));
        }
        if !matches!(instruction.mnemonic, "jmp" | "jmpq" | "ret" | "retq" | "ud2" | "hlt") {
            next.push((at + 1, after));
        }
    }
    None
}

impl<'a> Instruction<'a> {
    fn calls(&self) -> bool {
        self.mnemonic.starts_with("call")
    }

    /// Whether it uses a register, in any width, other than to save it.
    fn names(&self, register: &str) -> bool {
        // %rbx is also %ebx, %bx and %bl; %rbp is %ebp, %bp and %bpl; %r12 is %r12d, %r12w and %r12b.
        let name = match register {
            "%rbx" => "b",
            "%rbp" => "bp",
            other => &other[1..],
        };
        let is_it =
            |operand: &str| match operand.strip_prefix('%').unwrap_or("").trim_start_matches(['r', 'e']) {
                "bx" | "bl" | "bh" => name == "b",
                "bp" | "bpl" => name == "bp",
                number => number.trim_end_matches(['d', 'w', 'b']) == name.trim_start_matches('r'),
            };
        self.mnemonic != "pushq" && self.operands.split([',', ' ', '(', ')']).any(is_it)
    }

    /// The state behind it; `None` if the stack pointer cannot be followed.
    fn after(&self, before: &State<'a>) -> Option<State<'a>> {
        let mut state = before.clone();
        let moved = match self.mnemonic {
            "pushq" => 8,
            "popq" => -8,
            "subq" | "addq" | "leaq" if self.operands.ends_with(", %rsp") => {
                let operand = self.operands.trim_end_matches(", %rsp");
                let (number, sign) = match self.mnemonic {
                    "leaq" => (operand.strip_suffix("(%rsp)")?, -1),
                    mnemonic => (operand.strip_prefix('$')?, if mnemonic == "subq" { 1 } else { -1 }),
                };
                sign * number.parse::<i64>().ok()?
            }
            _ if self.operands.ends_with(", %rsp") && !self.compares() => return None,
            _ => 0,
        };
        state.depth = state.depth.map(|depth| depth + moved);
        if let Some(depth) = state.depth
            && PRESERVED.contains(&self.operands)
        {
            match self.mnemonic {
                "pushq" if !state.saved.contains_key(self.operands) => {
                    _ = state.saved.insert(self.operands, -depth)
                }
                "popq" if state.saved.get(self.operands) == Some(&(-depth - 8)) => {
                    _ = state.saved.remove(self.operands)
                }
                _ => {}
            }
        }
        Some(state)
    }

    fn compares(&self) -> bool {
        self.mnemonic.starts_with("cmp") || self.mnemonic.starts_with("test")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::assembly::parse;

    /// A function with a loop, its directives as given: after the pushes, and after the pops.
    fn function(begin: &str, pushed: &str, reserved: &str, popped: &str) -> String {
        format!(
            "f:\n{begin}\n\tpushq\t%rbx\n{pushed}\n\tsubq\t$40, %rsp\n{reserved}\n.Ltmp1:\n\tdecq\t%rbx\n\tcallq\tg\n\
             \tjne\t.Ltmp1\n\taddq\t$40, %rsp\n\t.cfi_adjust_cfa_offset -40\n\tpopq\t%rbx\n{popped}\n\tretq\n\t.cfi_endproc\n"
        )
    }

    const BEGIN: &str = "\t.cfi_startproc";
    const PUSHED: &str = "\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %rbx, 0";
    const RESERVED: &str = "\t.cfi_adjust_cfa_offset 40";
    const POPPED: &str = "\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore %rbx";

    #[test]
    fn right_tables_pass() {
        check(&parse(&function(BEGIN, PUSHED, RESERVED, POPPED))).unwrap();
        let compiled = "\t.cfi_def_cfa_offset 56\n\t.cfi_offset %rbx, -16";
        check(&parse(&function(BEGIN, "\t.cfi_def_cfa_offset 16", compiled, "\t.cfi_def_cfa_offset 8")))
            .unwrap();
        let by_frame_pointer = "f:\n\t.cfi_startproc\n\tpushq\t%rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n\
                                \tmovq\t%rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n\tandq\t$-64, %rsp\n\tleaq\t-40(%rbp), %rsp\n\
                                \tpopq\t%rbp\n\t.cfi_def_cfa %rsp, 8\n\tretq\n\t.cfi_endproc\n";
        check(&parse(by_frame_pointer)).unwrap();
    }

    #[test]
    fn wrong_tables_are_found() {
        let refused = |text: &str, what: &str| {
            let error = format!("{:#}", check(&parse(text)).unwrap_err());
            assert!(error.contains(what), "{error}");
        };
        refused(&function("", "", "", ""), "has no unwind table");
        refused(
            &function(BEGIN, "", RESERVED, POPPED),
            "16 bytes below the caller's frame, its table says 8",
        );
        refused(&function(BEGIN, PUSHED, "", POPPED), "56 bytes below the caller's frame, its table says 16");
        refused(
            &function(BEGIN, PUSHED, RESERVED, ""),
            "8 bytes below the caller's frame, its table says 16",
        );
        refused(&function(BEGIN, "\t.cfi_adjust_cfa_offset 8", RESERVED, POPPED), "%rbx is saved -16");
        refused(
            &function(BEGIN, PUSHED, "\t.cfi_adjust_cfa_offset 40\n\t.cfi_sections x", POPPED),
            "does not support",
        );
        let loose = "\t.cfi_startproc\n\tmovq\t%rdi, %rsp\n\tretq\n\t.cfi_endproc\n";
        refused(&format!("f:\n{loose}"), "cannot follow");
        let twice = "f:\n\t.cfi_startproc\n\tje\t.L1\n\tpushq\t%rax\n\t.cfi_adjust_cfa_offset 8\n.L1:\n\tnop\n\tretq\n\t.cfi_endproc\n";
        let error = format!("{:#}", check(&parse(twice)).unwrap_err());
        assert!(error.contains("f: "), "{error}");
    }
}
