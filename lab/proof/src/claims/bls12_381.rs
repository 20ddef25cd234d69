//! `machines/src/bls12_381`: the base field, for every way in which the arguments may be the same element.

use iced_x86::Register::{RDI, RDX, RSI};
use num_bigint::BigInt;
use zariz_machines::bls12_381::{LIMBS, MODULUS};

use super::{Outcome, add_number, add_product, one, words};
use crate::code::Code;
use crate::form::{Form, radix};
use crate::machine::{Machine, Stop};
use crate::value::Value;
use crate::{Processor, prove};

/// An operation modulo `p`, of elements below `p`, with a result below `p`.
#[derive(Clone, Copy, PartialEq)]
pub enum Operation {
    /// `a·b/R`.
    Mul,
    /// `a²/R`.
    Sqr,
    /// `a + b`.
    Add,
    /// `a − b`.
    Sub,
}

/// Which arguments are the same element.
#[derive(Clone, Copy, PartialEq)]
pub enum Same {
    /// None are.
    Nothing,
    /// The result replaces `a`.
    OutA,
    /// The result replaces `b`.
    OutB,
    /// `a` and `b`.
    AB,
    /// All three.
    All,
}

/// The functions.
pub const OPERATIONS: [(Operation, &str, &[Same]); 4] = {
    const BOTH: &[Same] = &[Same::Nothing, Same::OutA, Same::OutB, Same::AB, Same::All];
    [
        (Operation::Add, "zariz_machines::bls12_381::add::add", BOTH),
        (Operation::Sub, "zariz_machines::bls12_381::add::sub", BOTH),
        (Operation::Mul, "zariz_machines::bls12_381::mul::mul", BOTH),
        (Operation::Sqr, "zariz_machines::bls12_381::sqr::sqr", &[Same::Nothing, Same::OutA]),
    ]
};

/// Every claim about them.
pub fn all(code: &Code, each: &mut impl FnMut(Outcome)) {
    for (operation, function, cases) in OPERATIONS {
        for same in cases {
            let size = match same {
                Same::Nothing => "all distinct",
                Same::OutA => "out is a",
                Same::OutB => "out is b",
                Same::AB => "a is b",
                Same::All => "one element",
            };
            let result = prove(code, |machine| claim(machine, code, (operation, function), *same));
            each(Outcome { function: function.into(), size: size.into(), result });
        }
    }
}

/// The claim of an operation.
pub fn claim(
    machine: &mut Machine,
    code: &Code,
    (operation, function): (Operation, &str),
    same: Same,
) -> Result<(), Stop> {
    let mut p = BigInt::ZERO;
    MODULUS.iter().enumerate().for_each(|(i, limb)| p += radix(i) * limb);
    let most = &p - one();
    let a = words(&machine.facts.number(LIMBS, Some(&most)));
    let is_b_a = matches!(same, Same::AB | Same::All) || operation == Operation::Sqr;
    let b = if is_b_a { a.clone() } else { words(&machine.facts.number(LIMBS, Some(&most))) };
    let at_a = machine.region("a", a.clone(), matches!(same, Same::OutA | Same::All));
    let at_b = if is_b_a { at_a } else { machine.region("b", b.clone(), same == Same::OutB) };
    let out = match same {
        Same::OutA | Same::All => at_a,
        Same::OutB => at_b,
        Same::Nothing | Same::AB => machine.region("out", vec![Value::Unknown; LIMBS], true),
    };
    machine.set(RDI, Value::Pointer(out, 0));
    machine.set(RSI, Value::Pointer(at_a, 0));
    if operation != Operation::Sqr {
        machine.set(RDX, Value::Pointer(at_b, 0));
    }
    machine.call(code.function(function)?.0)?;
    let (mut result, mut claim) = (Form::default(), Form::default());
    add_number(&mut result, machine.words(out), &one())?;
    match operation {
        Operation::Mul | Operation::Sqr => {
            claim.add_scaled(&result, &radix(LIMBS));
            add_product(&mut claim, &a, &b, &-one())?;
        }
        Operation::Add | Operation::Sub => {
            claim.add_scaled(&result, &one());
            add_number(&mut claim, &a, &-one())?;
            add_number(&mut claim, &b, &if operation == Operation::Add { -one() } else { one() })?;
        }
    }
    machine.facts.vanish(&claim, Some(&p)).map_err(|left| format!("modulo p: {left}"))?;
    machine.facts.at_most(&result, &most).map_err(|error| format!("below p: {error}"))?;
    Ok(())
}
