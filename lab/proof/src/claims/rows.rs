//! `machines/src/scalar/adx/rows.rs`: each row, and eight of them.

use iced_x86::Mnemonic;
use iced_x86::Register::{self, R8, R9, R10, R11, R12, R13, R14, R15, RBP, RCX, RDI, RSI};

use super::{Outcome, add_number, add_product, one, words};
use crate::code::Code;
use crate::form::{Form, radix};
use crate::machine::{Machine, Stop};
use crate::value::{Flag, Value};
use crate::{Processor, prove};

/// The function that has them.
pub const ROWS: &str = "zariz_machines::scalar::adx::rows::rows";
const BLOCK: usize = 8;
const ACCUMULATORS: [Register; BLOCK] = [R8, R9, R10, R11, R12, R13, R14, R15];

/// Every claim about them.
pub fn all(code: &Code, each: &mut impl FnMut(Outcome)) {
    for row in 0..BLOCK {
        let result = prove(code, |machine| one_row(machine, code, row));
        each(Outcome { function: ROWS.into(), size: format!("row {row}"), result });
    }
    let result = prove(code, |machine| eight_rows(machine, code));
    each(Outcome { function: ROWS.into(), size: "eight rows".into(), result });
}

/// Where each row begins: it loads its multiplier.
pub fn beginnings(code: &Code) -> Result<Vec<u64>, Stop> {
    let (start, end) = code.function(ROWS)?;
    let loads = code.instructions.range(start..end).filter(|(_, at)| {
        at.mnemonic() == Mnemonic::Mov && at.memory_base() == RCX && at.op0_register() == Register::RDX
    });
    Ok(loads.map(|(address, _)| *address).collect())
}

/// A row with any accumulators, `t`, block and multiplier: `t[row] + 2^64·accumulators` becomes
/// `accumulators + t[row] + block·multiplier`, with the accumulators named one further, and nothing else
/// changes in `t`.
pub fn one_row(machine: &mut Machine, code: &Code, row: usize) -> Result<(), Stop> {
    let beginnings = beginnings(code)?;
    let (Some(begin), 8) = (beginnings.get(row), beginnings.len()) else {
        return Err(format!("{} rows were found, not 8", beginnings.len()).into());
    };
    let last = code.instructions.range(..code.function(ROWS)?.1).next_back().map(|(address, _)| *address);
    let end = beginnings.get(row + 1).copied().or(last);
    run(machine, *begin, end, row..row + 1)
}

/// Eight rows: the claim of a row, for eight multipliers.
pub fn eight_rows(machine: &mut Machine, code: &Code) -> Result<(), Stop> {
    run(machine, code.function(ROWS)?.0, None, 0..BLOCK)
}

fn run(
    machine: &mut Machine,
    begin: u64,
    end: Option<u64>,
    rows: std::ops::Range<usize>,
) -> Result<(), Stop> {
    let [acc, t, block, multipliers] = [(); 4].map(|()| words(&machine.facts.number(BLOCK, None)));
    let memory = machine.region("t", t.clone(), true);
    let pointers = [
        (RDI, memory),
        (RSI, machine.region("the block", block.clone(), false)),
        (RCX, machine.region("the multipliers", multipliers.clone(), false)),
    ];
    pointers.into_iter().for_each(|(register, region)| machine.set(register, Value::Pointer(region, 0)));
    machine.set(RBP, Value::Constant(0));
    // The row names the accumulators from its own number on.
    let named = |row: usize| (0..BLOCK).map(move |i| ACCUMULATORS[(row + i) % BLOCK]);
    named(rows.start).zip(&acc).for_each(|(register, word)| machine.set(register, *word));
    machine.run(begin, end)?;
    let left: Vec<Value> = named(rows.end).map(|register| machine.get(register)).collect();
    let after = machine.words(memory);
    if (0..BLOCK).any(|i| !rows.contains(&i) && after[i] != t[i]) {
        return Err("it writes to another limb of t".into());
    }
    let mut claim = Form::default();
    add_number(&mut claim, &after[rows.clone()], &one())?;
    add_number(&mut claim, &left, &radix(rows.len()))?;
    add_number(&mut claim, &acc, &-one())?;
    add_number(&mut claim, &t[rows.clone()], &-one())?;
    add_product(&mut claim, &block, &multipliers[rows], &-one())?;
    machine.facts.vanish(&claim, None)?;
    let kept = pointers.iter().all(|(register, region)| machine.get(*register) == Value::Pointer(*region, 0));
    if !kept || machine.get(RBP) != Value::Constant(0) || machine.carry() == Flag::Unknown {
        return Err("a register or flag that the next row needs is lost".into());
    }
    Ok(())
}
