//! `machines/src/scalar`: products, squares and reductions of whole numbers, on every processor that has them
//! in assembly. Their arguments are the same.

use super::{Outcome, add_number, add_product, one, words};
use crate::code::Code;
use crate::form::{Form, radix};
use crate::machine::Stop;
use crate::value::Value;
use crate::{Processor, Proof, prove};

/// Limbs in a block.
pub const BLOCK: usize = 8;
/// Limbs of the longest number that zariz has: 16,384 bits.
const LONGEST: usize = 256;

/// What a function computes.
#[derive(Clone, Copy)]
pub enum Operation {
    /// A product.
    Mul,
    /// A square.
    Sqr,
    /// A reduction.
    Reduce,
}

/// The functions for ADX, each with what it computes.
pub const CLAIMS: [(&str, Operation); 3] = [
    ("zariz_machines::scalar::adx::mul::mul", Operation::Mul),
    ("zariz_machines::scalar::adx::sqr::sqr", Operation::Sqr),
    ("zariz_machines::scalar::adx::reduce::reduce", Operation::Reduce),
];

/// Every claim about them.
pub fn all(code: &Code, each: &mut impl FnMut(Outcome)) {
    let result = |function: &str, operation: Operation, n| {
        prove(code, |machine| operation.claim(machine, code.function(function)?.0, n))
    };
    every_length(CLAIMS, result, each);
}

/// The claims about functions, for every length that zariz has.
pub fn every_length(
    functions: [(&str, Operation); 3],
    result: impl Fn(&str, Operation, usize) -> Result<Proof, String>,
    each: &mut impl FnMut(Outcome),
) {
    for n in (BLOCK..=LONGEST).step_by(BLOCK) {
        for (function, operation) in functions {
            let result = result(function, operation, n);
            each(Outcome { function: function.into(), size: format!("{n} limbs"), result });
        }
    }
}

impl Operation {
    /// Calls the function at an address with numbers of `n` limbs: it computes the operation.
    pub fn claim(self, machine: &mut impl Processor, address: u64, n: usize) -> Result<(), Stop> {
        let blocks = Value::Constant((n / BLOCK) as u64);
        match self {
            Self::Mul => {
                let [a, b] = [(); 2].map(|()| words(&machine.facts_mut().number(n, None)));
                let at_b = machine.region("b", b.clone(), false);
                machine.argument(2, Value::Pointer(at_b, 0));
                machine.argument(3, blocks);
                product(machine, address, &a, &b)
            }
            Self::Sqr => {
                let a = words(&machine.facts_mut().number(n, None));
                machine.argument(2, blocks);
                product(machine, address, &a, &a)
            }
            Self::Reduce => reduce(machine, address, n),
        }
    }
}

/// Gives the function `t` and `a`, which products and squares have in the same places: `t = a·b`.
fn product(machine: &mut impl Processor, address: u64, a: &[Value], b: &[Value]) -> Result<(), Stop> {
    let t = machine.region("t", vec![Value::Unknown; 2 * a.len()], true);
    let at_a = machine.region("a", a.to_vec(), false);
    machine.argument(0, Value::Pointer(t, 0));
    machine.argument(1, Value::Pointer(at_a, 0));
    machine.call(address)?;
    let mut claim = Form::default();
    add_number(&mut claim, machine.words(t), &one())?;
    add_product(&mut claim, a, b, &-one())?;
    Ok(machine.facts_mut().vanish(&claim, None)?)
}

/// `out·R = T + Q·m − c·m·R` with `c = 1` where `(T + Q·m)/R` reaches `R`, else 0; `Q` is left in `t[..n]`,
/// `(T + Q·m)/R mod R` in `t[n..]`.
fn reduce(machine: &mut impl Processor, address: u64, n: usize) -> Result<(), Stop> {
    let m_words = machine.facts_mut().number(n, None);
    let before = words(&machine.facts_mut().number(2 * n, None));
    let mu = machine.facts_mut().input(u64::MAX);
    machine.facts_mut().suppose_inverse(mu, m_words[0]);
    let m = words(&m_words);
    let t = machine.region("t", before.clone(), true);
    let out = machine.region("out", vec![Value::Unknown; n], true);
    let at_m = machine.region("m", m.clone(), false);
    [out, t, at_m].into_iter().enumerate().for_each(|(i, at)| machine.argument(i, Value::Pointer(at, 0)));
    machine.argument(3, Value::Word(mu));
    machine.argument(4, Value::Constant((n / BLOCK) as u64));
    machine.call(address)?;
    let [t, out] = [t, out].map(|region| machine.words(region).to_vec());
    let (q, high) = t.split_at(n);
    reduced(machine, &before, q, &m, high, &out)
}

/// `out·R = T + Q·m − c·m·R`, as above; `high` is `(T + Q·m)/R mod R`.
pub(super) fn reduced(
    machine: &mut impl Processor,
    before: &[Value],
    q: &[Value],
    m: &[Value],
    high: &[Value],
    out: &[Value],
) -> Result<(), Stop> {
    let n = m.len();
    let carry = match &machine.facts().cases[..] {
        [] => false,
        [(_, carry)] => *carry,
        _ => return Err("what it computes depends on more than the last carry".into()),
    };
    // (T + Q·m) − c·R² = R·t[n..], and so c says whether (T + Q·m)/R reaches R.
    let mut sum = Form::default();
    add_number(&mut sum, before, &one())?;
    add_product(&mut sum, q, m, &one())?;
    let (mut reaches, mut claim) = (sum.clone(), sum);
    add_number(&mut reaches, high, &-radix(n))?;
    add_number(&mut claim, out, &-radix(n))?;
    if carry {
        reaches.add((0, 0), -radix(2 * n));
        add_number(&mut claim, m, &-radix(n))?;
    }
    machine.facts_mut().vanish(&reaches, None)?;
    Ok(machine.facts_mut().vanish(&claim, None)?)
}
