//! Whether anything that shows in time depends on a secret: by following the machine code of every vector
//! entry point.
//!
//! What an entry point loads is secret, but for the lengths and pointers that [`arguments`] declares,
//! constants of the program, and what it stored on the stack itself. Refused is, where a secret decides: a
//! branch or a jump's target; an address; the mask of a load or a store; a number in a division. So is every
//! instruction that is not listed in [`mnemonic`].
//!
//! What the compiler may do with arguments is checked, too: where it calls an entry point directly, it may
//! give it other arguments than were written. The methods of `Kernels` and `Field`, which are public, cannot
//! change; they are followed likewise, and must pass to each entry point what is declared for it.

mod arguments;
mod flow;
mod mnemonic;
mod operand;
mod spills;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod value;

use anyhow::{Context, Result, anyhow, bail};
use rustc_demangle::demangle;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::assembly::{Assembly, Function};
use super::entry_points::{callee, entry_point_names};
use super::expect::is_vector;
use super::rsaz;
use arguments::Entry;
use flow::Call;
use operand::ARGUMENTS;
use state::Place;
use value::Value;

/// An entry point, by its machine and block, and its name in messages.
struct Declared {
    machine: String,
    block: String,
    name: String,
    entry: Entry,
}

/// Follows every entry point of a vector machine; how many there are.
pub fn check(assembly: &Assembly) -> Result<usize> {
    let functions: HashMap<_, _> =
        assembly.functions.iter().map(|function| (function.symbol, function)).collect();
    let aliases = assembly.aliases.iter().copied();
    let symbols = assembly.functions.iter().map(|function| (function.symbol, function.symbol)).chain(aliases);
    let (mut entry_points, mut faults) = (BTreeMap::new(), Vec::new());
    for (symbol, same_as) in symbols {
        let Some((machine, block, width)) = entry_point_names(symbol) else { continue };
        if !is_vector(&machine) {
            continue;
        }
        let name = format!("{machine} {block}{}", width.map_or(String::new(), |width| format!("<{width}>")));
        let function =
            functions.get(same_as).with_context(|| format!("{symbol} is {same_as}, which is not there"))?;
        let arguments = arguments::of(&machine, &block).with_context(|| {
            format!("{name}: declare its arguments in xtask/src/codegen/taint/arguments.rs")
        })?;
        let entry = Entry::new(arguments);
        match flow::follow(assembly, function, &entry) {
            Ok(calls) => {
                // A step is assembly, and leaves nothing that decides here.
                let is_step = |call: &&Call| {
                    machine == rsaz::MIXED && callee("call", call.target).as_deref() == Some(rsaz::STEP)
                };
                if let Some(call) = calls.iter().find(|call| !is_step(call)) {
                    faults.push(format!("  {name}: calls {}, which is not followed", call.target));
                }
            }
            Err(error) => faults.push(format!("  {name}: {error:#}")),
        }
        entry_points.insert(symbol, Declared { machine, block, name, entry });
    }
    faults.extend(callers(assembly, &entry_points));
    if !faults.is_empty() {
        bail!(
            "{} faults in the machine code of {} entry points:\n{}\n{ADVICE}",
            faults.len(),
            entry_points.len(),
            faults.join("\n")
        );
    }
    Ok(entry_points.len())
}

const ADVICE: &str = "\
What to do: a chain begins with the instruction that shows in time, and leads to where its secret was loaded.
  a branch or an address: the kernel indexes or decides by data, or the compiler made a branch of a choice. Choose by a mask.
  a load under a mask: the compiler made one of a load and a masked move; see in_register in crates/machines.
  a length or a pointer loaded from a structure: declare it in xtask/src/codegen/taint/arguments.rs.
  an unknown instruction: add it to xtask/src/codegen/taint/mnemonic.rs.";

/// What is wrong with how the entry points are called.
fn callers(assembly: &Assembly, entry_points: &BTreeMap<&str, Declared>) -> Vec<String> {
    let mut faults = Vec::new();
    let (mut called, mut checked) = (BTreeSet::new(), BTreeSet::new());
    for function in &assembly.functions {
        let targets: BTreeSet<&str> =
            calls(function).filter(|target| entry_points.contains_key(target)).collect();
        let Some(first) = targets.first().map(|target| &entry_points[target]) else { continue };
        called.extend(&targets);
        let name = format!("{:#}", demangle(function.symbol));
        if !name.contains("Kernels>::") && !name.contains("Field>::") {
            continue;
        }
        let method = name.rsplit("::").next().unwrap_or_default();
        let arguments = arguments::of_method(&first.machine, &first.block, method).unwrap_or_default();
        let entry = Entry::new(&arguments);
        match flow::follow(assembly, function, &entry) {
            Ok(found) => {
                for call in &found {
                    let Some(entry_point) = entry_points.get(symbol(call.target)) else { continue };
                    checked.insert(symbol(call.target));
                    if let Err(error) = passes(call, &entry, &entry_point.entry) {
                        faults.push(format!("  {}, called by {name}: {error:#}", entry_point.name));
                    }
                }
            }
            Err(error) => faults.push(format!("  {name}: {error:#}")),
        }
    }
    for symbol in called.difference(&checked) {
        faults.push(format!(
            "  {}: no public method calls it, so its arguments are not known",
            entry_points[symbol].name
        ));
    }
    faults
}

/// The symbols that a function calls directly, or jumps to.
fn calls<'a>(function: &Function<'a>) -> impl Iterator<Item = &'a str> {
    let leave = |mnemonic: &str| mnemonic.starts_with("call") || mnemonic.starts_with("jmp");
    function.instructions.iter().filter(move |i| leave(i.mnemonic)).map(|i| symbol(i.operands))
}

/// The symbol in the operand of a call.
fn symbol(operand: &str) -> &str {
    operand.trim_start_matches('*').split(['@', '(']).next().unwrap_or("")
}

/// Whether a call passes what is declared for the entry point.
fn passes(call: &Call, caller: &Entry, entry_point: &Entry) -> Result<()> {
    for (i, &declared) in entry_point.words.iter().enumerate() {
        let on_stack = |register: usize| {
            let first = if call.is_call { 0 } else { 8 };
            let at = call.state.general[operand::RSP].moved(first + 8 * register as i64);
            match at {
                Value::Frame(base, Some(at)) => call.state.load(Place::Frame(base, at), 8, caller, 0),
                _ => Value::Secret(0),
            }
        };
        let passed = match ARGUMENTS.get(i) {
            Some(&register) => call.state.general[register],
            None => on_stack(i - ARGUMENTS.len()),
        };
        let fits = match (declared, passed) {
            (Value::Secret(_), _) => true,
            (_, Value::Secret(_)) => false,
            (Value::Record(theirs, _), Value::Record(ours, Some(0))) => {
                entry_point.records[theirs] == caller.records[ours]
            }
            // A copy on the stack.
            (Value::Record(theirs, _), Value::Frame(base, Some(at))) => {
                entry_point.records[theirs].iter().all(|&(from, to)| {
                    to < i64::MAX
                        && !call.state.load(Place::Frame(base, at + from), to - from, caller, 0).is_secret()
                })
            }
            (Value::Record(..), _) => false,
            _ => true,
        };
        if !fits {
            return Err(anyhow!("word {} of its arguments is {passed:?}, declared is {declared:?}", i + 1));
        }
    }
    Ok(())
}
