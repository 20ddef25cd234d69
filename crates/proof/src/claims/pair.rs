//! `machines/src/pair`: how the carries of a quotient go from digit to digit, wherever the compiler has put that
//! code.
//!
//! A step makes one digit, and ends with a shift by 52. The assembly is not cut by the compiler, so steps of one
//! chain follow each other.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use num_bigint::BigInt;
use zariz_kernels::pair::{DIGIT_BITS, LANES};

use super::{Outcome, add_number, one, words};
use crate::code::Code;
use crate::form::Form;
use crate::machine::{Machine, REGISTERS, Stop};
use crate::value::Value;
use crate::{Proof, prove};

/// A machine of numbers across vectors.
#[derive(Clone, Copy)]
pub struct Chains {
    /// The macro that has the assembly.
    pub macro_name: &'static str,
    /// Where its compiled functions are.
    roots: &'static str,
    /// Instructions of a step.
    step: usize,
    /// What is added to a digit above its bits: the code makes doubles of digits. None where the bits above a
    /// digit are ignored.
    implied: Option<u64>,
}

/// The machines.
pub const MACHINES: [Chains; 2] = [
    Chains {
        macro_name: "zariz_machines::pair::ifma::chain",
        roots: "zariz_machines::pair::ifma::root::",
        step: 5,
        implied: None,
    },
    Chains {
        macro_name: "zariz_machines::pair::fma::chain",
        roots: "zariz_machines::pair::fma::root::",
        step: 8,
        implied: Some(0x433 << 52), // the double 2^52
    },
];

const ROOTS: [&str; 8] =
    ["amm_10", "amm_16", "amm_20", "amm_30", "amm_40", "amm_tiles_3", "amm_tiles_4", "amm_tiles_5"];

/// Every claim about them.
pub fn all(code: &Code, each: &mut impl FnMut(Outcome)) {
    for machine in MACHINES {
        for root in ROOTS {
            let function = machine.root(root);
            let found = machine.find(code, &function);
            let size = found.as_ref().map_or("no chain".into(), |found| format!("{} chains", found.len()));
            let result = found.and_then(|found| {
                let proofs = found.into_iter().map(|chain| prove(code, |m| machine.claim(m, code, chain)));
                proofs.sum::<Result<Proof, String>>()
            });
            each(Outcome { function, size, result });
        }
    }
}

impl Chains {
    /// The path of a compiled function.
    pub fn root(&self, name: &str) -> String {
        format!("{}{name}", self.roots)
    }

    /// Where each chain of a function begins and ends.
    pub fn find(&self, code: &Code, function: &str) -> Result<Vec<(u64, u64)>, String> {
        let (begin, end) = code.function(function)?;
        let all: Vec<&Instruction> = code.instructions.range(begin..end).map(|(_, at)| at).collect();
        let shift =
            |at: &Instruction| at.mnemonic() == Mnemonic::Shr && at.op_count() == 2 && is_immediate(at, DIGIT_BITS);
        let shifts: Vec<usize> = (0..all.len()).filter(|i| shift(all[*i])).collect();
        // The compiler's own code has single ones.
        let runs = shifts.chunk_by(|a, b| b - a == self.step).filter(|run| run.len() > 1);
        let chain = |run: &[usize]| {
            Some((all.get((run[0] + 1).checked_sub(self.step)?)?.ip(), all[run[run.len() - 1]].next_ip()))
        };
        let chains: Vec<_> = runs.filter_map(chain).collect();
        // The digits of a number, and those of the last quotient.
        if chains.len() < 2 { Err(format!("{} chains were found", chains.len())) } else { Ok(chains) }
    }

    /// Of the parts `low` and `high` of columns, whose sums with what is carried are below 2^64, and a carry from
    /// below: `Σ q[i]·2^(52i) + carry·2^(52n) = carry_in + Σ (low[i] + high[i])·2^(52i)`, the digits `q[i]` being
    /// below `2^52`, from a chain's first digit up to the last; and nothing else changes but one register.
    pub fn claim(&self, machine: &mut Machine, code: &Code, (begin, end): (u64, u64)) -> Result<(), Stop> {
        let chain: Vec<&Instruction> = code.instructions.range(begin..end).map(|(_, at)| at).collect();
        let written = chain.iter().find(|at| at.op0_kind() == OpKind::Memory).ok_or("it writes no digit")?;
        let (low_at, high_at, q_at) = (chain[0].memory_base(), chain[1].memory_base(), written.memory_base());
        let (changed, carry) = (chain[0].op0_register(), chain[2].op1_register());
        let first = usize::try_from(chain[0].memory_displacement64() / 8).unwrap_or(LANES).min(LANES);

        let [low, high, q] = [(); 3].map(|()| words(&machine.facts.number(LANES, None)));
        let carried = Value::Word(machine.facts.input(1 << 13));
        machine.suppose_no_carry();
        let digits = machine.region("the digits", q.clone(), true);
        let mut inputs = vec![
            (low_at, Value::Pointer(machine.region("the low parts", low.clone(), false), 0)),
            (high_at, Value::Pointer(machine.region("the high parts", high.clone(), false), 0)),
            (q_at, Value::Pointer(digits, 0)),
        ];
        if let Some(implied) = self.implied {
            let operand = |mnemonic| chain.iter().find(|at| at.mnemonic() == mnemonic).map(|at| at.op1_register());
            inputs.push((operand(Mnemonic::And).ok_or("no mask")?, Value::Constant((1 << DIGIT_BITS) - 1)));
            inputs.push((operand(Mnemonic::Or).ok_or("no exponent")?, Value::Constant(implied)));
        }
        if let Some((register, _)) = inputs.iter().find(|(register, _)| !REGISTERS.contains(register)) {
            return Err(format!("{register:?} is no operand of a chain").into());
        }
        if !REGISTERS.contains(&carry) || !REGISTERS.contains(&changed) {
            return Err("a carry or sum is in no register".into());
        }
        inputs.iter().for_each(|(register, value)| machine.set(*register, *value));
        machine.set(carry, carried);
        let before = REGISTERS.map(|register| machine.get(register));
        machine.run(begin, Some(end))?;
        let kept = |(register, value): (Register, Value)| {
            register == carry || register == changed || machine.get(register) == value
        };
        let inside = inputs.iter().all(|(register, value)| machine.get(*register) == *value);
        if !inside || !REGISTERS.into_iter().zip(before).all(kept) {
            return Err("a register changes that the compiler relies on".into());
        }

        let after = machine.words(digits).to_vec();
        if after[..first] != q[..first] {
            return Err("it writes below its first digit".into());
        }
        let mut claim = Form::default();
        let place = |i: usize| one() << (DIGIT_BITS as usize * (i - first));
        for i in first..LANES {
            match self.implied {
                None => add_number(&mut claim, &[machine.cut(after[i], DIGIT_BITS)?.0], &place(i))?,
                Some(implied) => {
                    let mut digit = Form::default();
                    add_number(&mut digit, &after[i..=i], &one())?;
                    digit.add((0, 0), -BigInt::from(implied));
                    let below = BigInt::from((1u64 << DIGIT_BITS) - 1);
                    machine.facts.at_most(&digit, &below).map_err(|error| format!("digit {i}: {error}"))?;
                    let mut negative = digit.clone();
                    negative.scale(&-one());
                    machine.facts.at_most(&negative, &BigInt::ZERO).map_err(|error| format!("digit {i}: {error}"))?;
                    claim.add_scaled(&digit, &place(i));
                }
            }
            add_number(&mut claim, &low[i..=i], &-place(i))?;
            add_number(&mut claim, &high[i..=i], &-place(i))?;
        }
        add_number(&mut claim, &[machine.get(carry)], &place(LANES))?;
        add_number(&mut claim, &[carried], &-one())?;
        Ok(machine.facts.vanish(&claim, None)?)
    }
}

fn is_immediate(at: &Instruction, value: u32) -> bool {
    at.op1_kind() == OpKind::Immediate8 && u32::from(at.immediate8()) == value
}
