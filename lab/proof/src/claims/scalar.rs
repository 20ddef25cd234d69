//! `machines/src/scalar/adx`: products, squares and reductions of whole numbers.

use iced_x86::Register::{R8, RCX, RDI, RDX, RSI};

use super::{Outcome, add_number, add_product, one, words};
use crate::code::Code;
use crate::form::{Form, Id, radix};
use crate::machine::{Machine, Stop};
use crate::prove;
use crate::value::Value;

/// Limbs in a block.
const BLOCK: usize = 8;
/// Limbs of the longest number that zariz has: 16,384 bits.
pub const LONGEST: usize = 256;

/// A claim for a number of limbs.
pub type Claim = fn(&mut Machine, &Code, usize) -> Result<(), Stop>;

/// The functions, each with its claim for `n` limbs.
pub const CLAIMS: [(&str, Claim); 3] = [
    ("zariz_machines::scalar::adx::mul::mul", mul),
    ("zariz_machines::scalar::adx::sqr::sqr", sqr),
    ("zariz_machines::scalar::adx::reduce::reduce", reduce),
];

/// Every claim about them, for every length that zariz has.
pub fn all(code: &Code, each: &mut impl FnMut(Outcome)) {
    for n in (BLOCK..=LONGEST).step_by(BLOCK) {
        for (function, claim) in CLAIMS {
            let result = prove(code, |machine| claim(machine, code, n));
            each(Outcome { function: function.into(), size: format!("{n} limbs"), result });
        }
    }
}

/// `t = a·b`.
fn mul(machine: &mut Machine, code: &Code, n: usize) -> Result<(), Stop> {
    let [a, b] = [(); 2].map(|()| words(&machine.facts.number(n, None)));
    let at_b = machine.region("b", b.clone(), false);
    machine.set(RDX, Value::Pointer(at_b, 0));
    machine.set(RCX, Value::Constant((n / BLOCK) as u64));
    product(machine, code, CLAIMS[0].0, &a, &b)
}

/// `t = a²`.
fn sqr(machine: &mut Machine, code: &Code, n: usize) -> Result<(), Stop> {
    let a = words(&machine.facts.number(n, None));
    machine.set(RDX, Value::Constant((n / BLOCK) as u64));
    product(machine, code, CLAIMS[1].0, &a, &a)
}

/// Gives the function `t` and `a`, which both functions have in the same registers: `t = a·b`.
fn product(machine: &mut Machine, code: &Code, function: &str, a: &[Value], b: &[Value]) -> Result<(), Stop> {
    let t = machine.region("t", vec![Value::Unknown; 2 * a.len()], true);
    let at_a = machine.region("a", a.to_vec(), false);
    [(RDI, t), (RSI, at_a)]
        .into_iter()
        .for_each(|(register, at)| machine.set(register, Value::Pointer(at, 0)));
    machine.call(code.function(function)?.0)?;
    let mut claim = Form::default();
    add_number(&mut claim, machine.words(t), &one())?;
    add_product(&mut claim, a, b, &-one())?;
    Ok(machine.facts.vanish(&claim, None)?)
}

/// `out·R = T + Q·m − c·m·R` with `c = 1` where `(T + Q·m)/R` reaches `R`, else 0; `Q` is left in `t[..n]`,
/// `(T + Q·m)/R mod R` in `t[n..]`.
fn reduce(machine: &mut Machine, code: &Code, n: usize) -> Result<(), Stop> {
    let m_words = machine.facts.number(n, None);
    let before = words(&machine.facts.number(2 * n, None));
    let mu = machine.facts.input(u64::MAX);
    machine.facts.suppose_inverse(mu, m_words[0]);
    let m = words(&m_words);
    let t = machine.region("t", before.clone(), true);
    let out = machine.region("out", vec![Value::Unknown; n], true);
    let pointers = [(RDI, out), (RSI, t), (RDX, machine.region("m", m.clone(), false))];
    pointers.into_iter().for_each(|(register, region)| machine.set(register, Value::Pointer(region, 0)));
    machine.set(RCX, Value::Word(mu));
    machine.set(R8, Value::Constant((n / BLOCK) as u64));
    machine.call(code.function(CLAIMS[2].0)?.0)?;
    let result = Reduced {
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

/// What a reduction was given, and has left.
pub struct Reduced<'a> {
    /// `T`.
    pub t: &'a [Value],
    /// The modulus.
    pub m: &'a [Value],
    /// `t` behind it.
    pub after: &'a [Value],
    /// The result.
    pub out: &'a [Value],
    /// The carries that the run supposes.
    pub carries: &'a [(Id, bool)],
}

impl Reduced<'_> {
    /// What must be 0: that says whether `(T + Q·m)/R` reaches `R`, and what `out` is.
    pub fn claims(&self) -> Result<[Form; 2], Stop> {
        let n = self.m.len();
        let carry = match self.carries {
            [] => false,
            [(_, carry)] => *carry,
            _ => return Err("what it computes depends on more than the last carry".into()),
        };
        let (q, high) = self.after.split_at(n);
        // (T + Q·m) − c·R² = R·t[n..], and so c says whether (T + Q·m)/R reaches R.
        let mut sum = Form::default();
        add_number(&mut sum, self.t, &one())?;
        add_product(&mut sum, q, self.m, &one())?;
        let (mut reaches, mut claim) = (sum.clone(), sum);
        add_number(&mut reaches, high, &-radix(n))?;
        add_number(&mut claim, self.out, &-radix(n))?;
        if carry {
            reaches.add((0, 0), -radix(2 * n));
            add_number(&mut claim, self.m, &-radix(n))?;
        }
        Ok([reaches, claim])
    }
}
