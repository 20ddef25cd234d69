//! `machines/src/scalar/a64`: rows, and products, squares and reductions of whole numbers.

use super::scalar::{BLOCK, Operation, every_length};
use super::{Outcome, add_number, add_product, one, words};
use crate::a64::code::{Code, Register};
use crate::a64::machine::Machine;
use crate::form::{Form, radix};
use crate::machine::Stop;
use crate::value::Value;
use crate::{Processor, prove_on};

/// The accumulators, from the lowest limb.
const ACCUMULATORS: [Register; BLOCK] = [12, 13, 14, 15, 16, 17, 19, 20];

/// Where the functions are.
pub const PREFIXES: &[&str] = &["zariz_machines::scalar::a64::"];
/// The rows.
pub const ROWS: &str = "zariz_machines::scalar::a64::rows::rows";

/// The functions, each with what it computes.
pub const CLAIMS: [(&str, Operation); 3] = [
    ("zariz_machines::scalar::a64::mul::mul", Operation::Mul),
    ("zariz_machines::scalar::a64::sqr::sqr", Operation::Sqr),
    ("zariz_machines::scalar::a64::reduce::reduce", Operation::Reduce),
];

/// Every claim about them.
pub fn all(code: &Code, each: &mut impl FnMut(Outcome)) {
    let new = |cases| Machine::new(code, cases);
    let result = prove_on(new, |machine| rows(machine, code));
    each(Outcome { function: ROWS.into(), size: "eight rows".into(), result });
    let result = |function: &str, operation: Operation, n| {
        prove_on(new, |machine| operation.claim(machine, code.function(function)?.0, n))
    };
    every_length(CLAIMS, result, each);
}

/// With any accumulators, `t`, block and multipliers: `t[0..8] + 2^512·accumulators` becomes
/// `accumulators + t[0..8] + block·multipliers`.
pub fn rows(machine: &mut Machine, code: &Code) -> Result<(), Stop> {
    let [acc, t, block, multipliers] = [(); 4].map(|()| words(&machine.facts.number(BLOCK, None)));
    let memory = machine.region("t", t.clone(), true);
    let pointers = [
        (0, memory),
        (1, machine.region("the block", block.clone(), false)),
        (2, machine.region("the multipliers", multipliers.clone(), false)),
    ];
    pointers.iter().for_each(|(register, region)| machine.set(*register, Value::Pointer(*region, 0)));
    machine.set(3, Value::Saved(3));
    ACCUMULATORS.into_iter().zip(&acc).for_each(|(register, word)| machine.set(register, *word));
    machine.run(code.function(ROWS)?.0)?;
    let left = ACCUMULATORS.map(|register| machine.get(register));
    let mut claim = Form::default();
    add_number(&mut claim, machine.words(memory), &one())?;
    add_number(&mut claim, &left, &radix(BLOCK))?;
    add_number(&mut claim, &acc, &-one())?;
    add_number(&mut claim, &t, &-one())?;
    add_product(&mut claim, &block, &multipliers, &-one())?;
    machine.facts.vanish(&claim, None)?;
    let kept = pointers.iter().all(|(register, region)| machine.get(*register) == Value::Pointer(*region, 0));
    if !kept || machine.get(3) != Value::Saved(3) {
        return Err("a register that the operations need is lost".into());
    }
    Ok(())
}
