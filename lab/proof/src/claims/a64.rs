//! `machines/src/scalar/a64`: rows, and products, squares and reductions of whole numbers.

use super::{Outcome, add_number, add_product, one, words};
use crate::a64::code::{Code, Register};
use crate::a64::machine::Machine;
use crate::form::{Form, radix};
use crate::machine::Stop;
use crate::prove_on;
use crate::value::Value;

/// Limbs in a block.
const BLOCK: usize = 8;
/// The accumulators, from the lowest limb.
const ACCUMULATORS: [Register; BLOCK] = [12, 13, 14, 15, 16, 17, 19, 20];

/// Where the functions are.
pub const PREFIXES: &[&str] = &["zariz_machines::scalar::a64::"];
/// The rows.
pub const ROWS: &str = "zariz_machines::scalar::a64::rows::rows";

/// A claim for a number of limbs.
pub type Claim = fn(&mut Machine, &Code, usize) -> Result<(), Stop>;

/// The functions, each with its claim for `n` limbs.
pub const CLAIMS: [(&str, Claim); 3] = [
    ("zariz_machines::scalar::a64::mul::mul", mul),
    ("zariz_machines::scalar::a64::sqr::sqr", sqr),
    ("zariz_machines::scalar::a64::reduce::reduce", reduce),
];

/// Every claim about them, for every length that zariz has.
pub fn all(code: &Code, each: &mut impl FnMut(Outcome)) {
    let result = prove_on(|cases| Machine::new(code, cases), |machine| rows(machine, code));
    each(Outcome { function: ROWS.into(), size: "eight rows".into(), result });
    for n in (BLOCK..=super::scalar::LONGEST).step_by(BLOCK) {
        for (function, claim) in CLAIMS {
            let result = prove_on(|cases| Machine::new(code, cases), |machine| claim(machine, code, n));
            each(Outcome { function: function.into(), size: format!("{n} limbs"), result });
        }
    }
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

/// `t = a·b`.
fn mul(machine: &mut Machine, code: &Code, n: usize) -> Result<(), Stop> {
    let [a, b] = [(); 2].map(|()| words(&machine.facts.number(n, None)));
    let at_b = machine.region("b", b.clone(), false);
    machine.set(2, Value::Pointer(at_b, 0));
    machine.set(3, Value::Constant((n / BLOCK) as u64));
    product(machine, code, CLAIMS[0].0, &a, &b)
}

/// `t = a²`.
fn sqr(machine: &mut Machine, code: &Code, n: usize) -> Result<(), Stop> {
    let a = words(&machine.facts.number(n, None));
    machine.set(2, Value::Constant((n / BLOCK) as u64));
    product(machine, code, CLAIMS[1].0, &a, &a)
}

/// Gives the function `t` and `a`, which both functions have in the same registers: `t = a·b`.
fn product(machine: &mut Machine, code: &Code, function: &str, a: &[Value], b: &[Value]) -> Result<(), Stop> {
    let t = machine.region("t", vec![Value::Unknown; 2 * a.len()], true);
    let at_a = machine.region("a", a.to_vec(), false);
    [(0, t), (1, at_a)].into_iter().for_each(|(register, at)| machine.set(register, Value::Pointer(at, 0)));
    machine.call(code.function(function)?.0)?;
    let mut claim = Form::default();
    add_number(&mut claim, machine.words(t), &one())?;
    add_product(&mut claim, a, b, &-one())?;
    Ok(machine.facts.vanish(&claim, None)?)
}

/// As on x86-64: `out·R = T + Q·m − c·m·R` with `c = 1` where `(T + Q·m)/R` reaches `R`, else 0; `Q` is left
/// in `t[..n]`, `(T + Q·m)/R mod R` in `t[n..]`.
fn reduce(machine: &mut Machine, code: &Code, n: usize) -> Result<(), Stop> {
    let m_words = machine.facts.number(n, None);
    let before = words(&machine.facts.number(2 * n, None));
    let mu = machine.facts.input(u64::MAX);
    machine.facts.suppose_inverse(mu, m_words[0]);
    let m = words(&m_words);
    let t = machine.region("t", before.clone(), true);
    let out = machine.region("out", vec![Value::Unknown; n], true);
    let pointers = [(0, out), (1, t), (2, machine.region("m", m.clone(), false))];
    pointers.into_iter().for_each(|(register, region)| machine.set(register, Value::Pointer(region, 0)));
    machine.set(3, Value::Word(mu));
    machine.set(4, Value::Constant((n / BLOCK) as u64));
    machine.call(code.function(CLAIMS[2].0)?.0)?;
    let result = super::scalar::Reduced {
        t: &before,
        m: &m,
        after: machine.words(t),
        out: machine.words(out),
        carries: machine.supposed(),
    };
    let [reaches, claim] = result.claims()?;
    machine.facts.vanish(&reaches, None)?;
    Ok(machine.facts.vanish(&claim, None)?)
}
