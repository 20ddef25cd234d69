//! A function, followed until nothing new is found.

use anyhow::{Context, Error, Result, anyhow};
use std::collections::{BTreeMap, HashMap};

use super::arguments::Entry;
use super::mnemonic::Kind;
use super::spills;
use super::state::State;
use super::step::{Decoded, Refusal, Step};
use super::value::{ENTRY, Value};
use crate::codegen::assembly::{Assembly, Function};
use crate::codegen::entry_points::{callee, is_panic};
use crate::codegen::rsaz;

/// A call, or a jump out of the function, and what is known there.
pub struct Call<'a> {
    pub target: &'a str,
    /// Whether the return address is yet to be pushed.
    pub is_call: bool,
    pub state: State<'a>,
}

/// Functions of the C library whose time depends on addresses and lengths alone.
const MEMORY_FUNCTIONS: [&str; 3] = ["memcpy", "memmove", "memset"];

/// Follows a function from its beginning. Fails if anything that shows in time depends on a secret, or if
/// anything is not understood. Returns what it calls, but for panics and for copies of memory.
pub fn follow<'a>(assembly: &Assembly<'a>, function: &Function<'a>, entry: &Entry) -> Result<Vec<Call<'a>>> {
    let body = &function.instructions;
    let named = |at: usize| {
        let i = &body[at];
        format!("line {}: {} {}", i.line, i.mnemonic, i.operands)
    };
    let decoded = body
        .iter()
        .enumerate()
        .map(|(at, i)| Decoded::new(i).with_context(|| named(at)))
        .collect::<Result<Vec<_>>>()?;
    let entry = &Entry { spills: spills::find(body, &decoded), ..entry.clone() };
    // What is known at the beginning of each stretch that is entered by a jump.
    let mut known: HashMap<usize, State<'a>> = HashMap::from([(0, State::new(entry))]);
    let mut begins = vec![false; body.len() + 1];
    function.labels.values().for_each(|&at| begins[at] = true);
    let mut open = vec![0];
    let mut found = BTreeMap::new();
    while let Some(begin) = open.pop() {
        let mut state = known[&begin].clone();
        let mut at = begin;
        loop {
            let instruction = body.get(at).context("the function runs past its end")?;
            let (next, goes_on) = match decoded[at].kind {
                Kind::Branch | Kind::Jump => {
                    let conditional = decoded[at].kind == Kind::Branch;
                    if conditional && let Value::Secret(since) = state.flags {
                        let refusal = Refusal::Leak("a branch depends", since);
                        return Err(explain(function, &decoded, &known, entry, at, refusal));
                    }
                    match function.labels.get(instruction.operands) {
                        Some(&to) => (vec![to], conditional),
                        None => match decoded[at].target(&state) {
                            Some(Value::Target(table)) => (targets(assembly, function, table)?, false),
                            Some(Value::Secret(since)) => {
                                let refusal = Refusal::Leak("a jump's target depends", since);
                                return Err(explain(function, &decoded, &known, entry, at, refusal));
                            }
                            None | Some(Value::Function(_)) => {
                                let target = decoded[at].callee(instruction, &state);
                                found.insert(at, Call { target, is_call: false, state: state.clone() });
                                (Vec::new(), conditional)
                            }
                            Some(_) => return Err(anyhow!("{}: where it leads is not followed", named(at))),
                        },
                    }
                }
                Kind::Return | Kind::Trap => (Vec::new(), false),
                Kind::Call => {
                    let target = decoded[at].callee(instruction, &state);
                    let returns = !callee("call", target).is_some_and(|name| is_panic(&name));
                    if MEMORY_FUNCTIONS.contains(&target) {
                        let mut step = Step { state: &mut state, entry, at, cause: None };
                        if let Err(refusal) = step.memory_function(target) {
                            return Err(explain(function, &decoded, &known, entry, at, refusal));
                        }
                    } else if returns {
                        found.insert(at, Call { target, is_call: true, state: state.clone() });
                        state.forget_registers();
                        // Its last instruction adds to the address of the next step.
                        if callee("call", target).as_deref() == Some(rsaz::STEP) {
                            state.flags = Value::Public;
                        }
                    }
                    (Vec::new(), returns)
                }
                _ => {
                    let mut step = Step { state: &mut state, entry, at, cause: None };
                    if let Err(refusal) = step.execute(&decoded[at]) {
                        return Err(explain(function, &decoded, &known, entry, at, refusal));
                    }
                    (Vec::new(), true)
                }
            };
            for to in next {
                enter(&mut known, &mut open, to, &state);
            }
            if !goes_on {
                break;
            }
            at += 1;
            if begins[at] {
                enter(&mut known, &mut open, at, &state);
                break;
            }
        }
    }
    Ok(found.into_values().collect())
}

/// Adds what is known on a path to what is known at its end, which is followed anew if that changes anything.
fn enter<'a>(known: &mut HashMap<usize, State<'a>>, open: &mut Vec<usize>, to: usize, state: &State<'a>) {
    let changed = match known.get_mut(&to) {
        Some(old) => old.join(state),
        None => {
            known.insert(to, state.clone());
            true
        }
    };
    if changed && !open.contains(&to) {
        open.push(to);
    }
}

/// Where the jumps of a table lead.
fn targets(assembly: &Assembly, function: &Function, table: &str) -> Result<Vec<usize>> {
    let entries = assembly.tables.get(table).with_context(|| format!("the table {table} is not there"))?;
    let place = |label: &&str| {
        function
            .labels
            .get(label)
            .copied()
            .with_context(|| format!("{table} leads out of the function, to {label}"))
    };
    entries.iter().map(place).collect()
}

/// The message for a refusal: the chain of instructions from the first secret to where it shows.
fn explain<'a>(
    function: &Function<'a>,
    decoded: &[Decoded<'a>],
    known: &HashMap<usize, State<'a>>,
    entry: &Entry,
    at: usize,
    refusal: Refusal,
) -> Error {
    let line = |at: usize| {
        let i = &function.instructions[at];
        format!("line {}: {} {}", i.line, i.mnemonic, i.operands)
    };
    let (what, mut since) = match refusal {
        Refusal::Unknown(error) => return error.context(line(at)),
        Refusal::Leak(what, since) => (what, since),
    };
    let mut chain = vec![format!("{} ({what} on a secret)", line(at))];
    // As far as a reader can use it.
    for _ in 0..8 {
        if since == ENTRY {
            chain.push("an argument, or what was in a register at the beginning".into());
            break;
        }
        let cause = cause(decoded, known, entry, since);
        chain.push(line(since));
        match cause {
            Some(before) if before != since => since = before,
            _ => break,
        }
    }
    anyhow!("{}", chain.join("\n      from "))
}

/// Where the secret comes from that an instruction computes with.
fn cause<'a>(
    decoded: &[Decoded<'a>],
    known: &HashMap<usize, State<'a>>,
    entry: &Entry,
    at: usize,
) -> Option<usize> {
    // The nearest place before it where all is known, and from there.
    let begin = *known.keys().filter(|&&begin| begin <= at).max()?;
    let mut state = known[&begin].clone();
    for (place, decoded) in decoded.iter().enumerate().take(at + 1).skip(begin) {
        let mut step = Step { state: &mut state, entry, at: place, cause: None };
        if matches!(decoded.kind, Kind::Branch | Kind::Jump | Kind::Call) {
            continue;
        }
        let done = step.execute(decoded);
        if place == at {
            return step.cause;
        }
        done.ok()?;
    }
    None
}
