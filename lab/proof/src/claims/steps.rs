//! `machines/src/scalar/adx/steps.rs`: products and squares with their reduction, in steps.
//!
//! The list of steps is the library's own. It is run step by step, and between two steps a caller's code may
//! change every register that belongs to a step, and all flags.

use iced_x86::Register::{self, R9, R10, R11, RAX, RCX, RDI, RDX, RSI, RSP};
use zariz_machines::scalar::lists;

use super::{Outcome, add_number, add_product, one, scalar, words};
use crate::code::Code;
use crate::form::Form;
use crate::machine::{Machine, Stop};
use crate::memory::STACK;
use crate::value::Value;
use crate::{Processor, own_code, prove};

/// The functions that the lists, and callers, name.
pub const FUNCTIONS: [&str; 11] = [
    "zariz_machines::scalar::adx::steps::step",
    "zariz_machines::scalar::adx::steps::row",
    "zariz_machines::scalar::adx::steps::quotient_row",
    "zariz_machines::scalar::adx::steps::next_part",
    "zariz_machines::scalar::adx::steps::part",
    "zariz_machines::scalar::adx::steps::last_part",
    "zariz_machines::scalar::adx::steps::diagonal",
    "zariz_machines::scalar::adx::steps::subtract",
    "zariz_machines::scalar::adx::steps::subtract_first",
    "zariz_machines::scalar::adx::steps::pause",
    "zariz_machines::scalar::adx::steps::stop",
];
const STEP: &str = FUNCTIONS[0];
const QUOTIENT_ROW: &str = FUNCTIONS[2];
const SUBTRACT_FIRST: &str = FUNCTIONS[8];
const STOP: &str = FUNCTIONS[10];

/// Rows of three parts. The longest numbers that are computed in steps have 32 limbs, and rows of two.
const LONGEST: usize = 48;
/// Numbers have a multiple of these.
const FEW: usize = 4;
/// What a step changes and leaves nothing in.
const SCRATCH: [Register; 5] = [RAX, RCX, RSI, RDI, R9];

/// Every claim about them.
pub fn all(code: &Code, each: &mut impl FnMut(Outcome)) {
    for n in (FEW..=LONGEST).step_by(FEW) {
        for which in [0, 1] {
            let result = List::both(code, n).and_then(|both| prove(code, |m| both[which].claim(m, code)));
            let size = format!("{} of {n} limbs", ["a product", "a square"][which]);
            each(Outcome { function: "zariz_machines::scalar::adx::steps".into(), size, result });
        }
    }
}

/// A list, of a product or a square.
pub struct List {
    n: usize,
    is_square: bool,
    /// The six words of each step; pointers are bytes from the numbers on.
    steps: Vec<[u64; 6]>,
}

impl List {
    /// The lists of this program, a product's and a square's, for numbers of `n` limbs, with addresses of the
    /// code that is proved.
    pub fn both(code: &Code, n: usize) -> Result<[Self; 2], String> {
        let own = own_code()?;
        let own_step = own.function(STEP)?.0;
        // More places than steps, so that some are pauses.
        let all = lists(n, 2 * lists(n, 0).steps[0].len());
        let code_at = |address: usize| -> Result<u64, String> {
            let in_file = own_step.wrapping_add(address.wrapping_sub(all.step) as u64);
            let (name, offset) = own.place(in_file).ok_or("a step's code is in no function")?;
            Ok(code.function(name)?.0 + offset)
        };
        let list = |is_square: bool| -> Result<Self, String> {
            let step = |[at, t, a, multiplier, mu, entry]: &[usize; 6]| {
                let [t, a, multiplier, mu] =
                    [t, a, multiplier, mu].map(|address| address.wrapping_sub(all.numbers) as u64);
                let entry = if *entry == 0 { 0 } else { code_at(*entry)? };
                Ok([code_at(*at)?, t, a, multiplier, mu, entry])
            };
            let steps = all.steps[usize::from(is_square)].iter().map(step);
            Ok(Self { n, is_square, steps: steps.collect::<Result<_, String>>()? })
        };
        Ok([list(false)?, list(true)?])
    }

    /// `t = a·b` behind the first rows; and at the end `a` is that, reduced as `scalar::reduced` has it. `t`
    /// is 0 before and after; `b`, `m` and `μ` are kept.
    pub fn claim(&self, machine: &mut Machine, code: &Code) -> Result<(), Stop> {
        let n = self.n;
        let [a, m] = [(); 2].map(|()| machine.facts.number(n, None));
        let mu = machine.facts.input(u64::MAX);
        machine.facts.suppose_inverse(mu, m[0]);
        let [a, m] = [a, m].map(|ids| words(&ids));
        let b = if self.is_square { vec![Value::Unknown; n] } else { words(&machine.facts.number(n, None)) };
        let zero = vec![Value::Constant(0); 2 * n];
        let before = [&a[..], &b, &zero, &m, &[Value::Word(mu)]].concat();
        let numbers = machine.region("the numbers", before.clone(), true);
        let word = |(i, value): (usize, &u64)| match i {
            0 | 5 => Value::Constant(*value),
            _ => Value::Pointer(numbers, *value as i64),
        };
        let list = self.steps.iter().flat_map(|step| step.iter().enumerate().map(word)).collect();
        let list = machine.region("the list", list, false);
        machine.set(R11, Value::Pointer(list, 0));
        machine.set(R10, Value::Constant(0));
        let code_of = |name| code.function(name).map(|(begin, _)| begin);
        let (step, stop) = (code_of(STEP)?, code_of(STOP)?);
        let (quotient_row, subtract_first) = (code_of(QUOTIENT_ROW)?, code_of(SUBTRACT_FIRST)?);

        let (mut product, mut q, mut high) = (vec![], vec![], vec![]);
        // The last step stays.
        let last = self.steps.len() - 1;
        for i in (0..=last).chain([last]) {
            let at = self.steps[i][0];
            if at == quotient_row && q.is_empty() {
                let mut claim = Form::default();
                add_number(&mut claim, &machine.words(numbers)[2 * n..4 * n], &one())?;
                add_product(&mut claim, &a, if self.is_square { &a } else { &b }, &-one())?;
                machine.facts.vanish(&claim, None)?;
                // What follows holds for any T.
                product = words(&machine.facts.number(2 * n, None));
                for (i, value) in product.iter().enumerate() {
                    let offset = 8 * (2 * n + i) as i64;
                    machine.memory_mut().store(numbers, offset, Value::Unknown, *value)?;
                }
            }
            if at == subtract_first {
                high = machine.words(numbers)[3 * n..4 * n].to_vec();
            }
            machine.forget(&SCRATCH);
            machine.set(RSP, Value::Pointer(STACK, 0));
            machine.call(step)?;
            let next = if at == stop { i } else { i + 1 };
            if machine.get(R11) != Value::Pointer(list, 48 * next as i64) {
                return Err("the next step is not that of the list".into());
            }
            if at == quotient_row {
                q.push(machine.get(RDX));
            }
        }

        let after = machine.words(numbers).to_vec();
        let kept = |range: std::ops::Range<usize>| after[range.clone()] == before[range];
        if !kept(n..2 * n) || !kept(4 * n..5 * n + 1) {
            return Err("it writes to b, m or μ".into());
        }
        let is_zero = |value: &Value| match value {
            Value::Word(id) => machine.facts.is_zero(*id),
            value => *value == Value::Constant(0),
        };
        if !after[2 * n..4 * n].iter().all(is_zero) {
            return Err("t is not 0 again".into());
        }
        scalar::reduced(machine, &product, &q, &m, &high, &after[..n])
    }
}
