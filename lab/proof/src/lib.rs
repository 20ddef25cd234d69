//! Proofs of the assembly, by machine, for all inputs.
//!
//! [`code`] decodes a program's file: what is proved are the bytes that run. [`machine`] executes them once
//! with names in place of numbers, and [`facts`] keeps one equation of integers for each instruction. A claim
//! says what a function's banner says, as a [`form`] that is 0 ([`claims`]): the equations must cancel it.
//! Carries that the code drops must be shown to have one value, by bounds that follow from the equations.
//!
//! Kernels of batches are proved as they are written: rows of products and of reductions run on [`names`].
//!
//! The assembly for 64-bit Arm ([`a64`]) is read from a file, on any processor.
//!
//! What is trusted: this crate, the decoder (iced-x86; for Arm [`a64::code`]), and the meaning that [`machine`]
//! gives to about thirty instructions, and [`a64::machine`] to about twenty.
#![forbid(unsafe_code)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod a64;
mod arithmetic;
pub mod claims;
pub mod code;
pub mod facts;
pub mod form;
pub mod machine;
pub mod memory;
pub mod names;
pub mod program;
pub mod value;

use code::Code;
use facts::Facts;
use form::Id;
use machine::{Machine, Stop};
use memory::{Memory, Traces};
use program::Program;
use std::iter::Sum;
use value::{Region, Value};

/// What a proof took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Proof {
    /// Runs: one for each value of each carry that decides what is computed.
    pub cases: usize,
    /// Instructions that computed something.
    pub equations: usize,
    /// Carries that the code drops and that are not obviously 0.
    pub decided: usize,
}

impl Sum for Proof {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            cases: sum.cases + one.cases,
            equations: sum.equations + one.equations,
            decided: sum.decided + one.decided,
        })
    }
}

/// A processor over names, in a run.
pub trait Processor {
    /// What it has computed.
    fn facts(&self) -> &Facts;
    /// What it computes with.
    fn facts_mut(&mut self) -> &mut Facts;
    /// Its memory.
    fn memory(&self) -> &Memory;
    /// Its memory, to add to.
    fn memory_mut(&mut self) -> &mut Memory;
    /// Gives the next call an argument, by its place from 0 on.
    fn argument(&mut self, place: usize, value: Value);
    /// Calls a function, and checks what holds for every function: registers are restored, and no word is
    /// left in its frame.
    fn call(&mut self, address: u64) -> Result<(), Stop>;
    /// What it has shown and left.
    fn traces(self) -> Traces;

    /// A region that the code may read, and write if `writable`.
    fn region(&mut self, name: &'static str, words: Vec<Value>, writable: bool) -> Region {
        self.memory_mut().region(name, words, writable)
    }
    /// What a region holds.
    fn words(&self, region: Region) -> &[Value] {
        self.memory().words(region)
    }
}

/// Runs a claim on x86-64 as [`prove_on`] says.
pub fn prove(code: &Code, claim: impl Fn(&mut Machine) -> Result<(), Stop>) -> Result<Proof, String> {
    prove_on(|cases| Machine::new(code, cases), claim)
}

/// Runs a claim for every value of every carry on which it depends. No case may show or leave anything else
/// than the others: for its own run, the value of such a carry is a constant.
pub fn prove_on<M: Processor>(
    new: impl Fn(Vec<(Id, bool)>) -> M,
    claim: impl Fn(&mut M) -> Result<(), Stop>,
) -> Result<Proof, String> {
    let (mut todo, mut proof): (Vec<Vec<(Id, bool)>>, Proof) = (vec![vec![]], Proof::default());
    let mut first = None;
    while let Some(suppose) = todo.pop() {
        let mut machine = new(suppose.clone());
        match claim(&mut machine) {
            Ok(()) => {
                proof.cases += 1;
                proof.equations += machine.facts().len();
                proof.decided += machine.facts().decided();
                let traces = machine.traces();
                if first.as_ref().is_some_and(|first| *first != traces) {
                    return Err("an address, a branch or what is left in the frame depends on a carry".into());
                }
                first = Some(traces);
            }
            Err(Stop::Split(carry)) if suppose.iter().all(|(id, _)| *id != carry) => {
                todo.extend([false, true].map(|value| [&suppose[..], &[(carry, value)]].concat()));
            }
            Err(Stop::Split(_)) => return Err("it depends twice on one carry".into()),
            Err(Stop::Error(error)) => return Err(error),
        }
    }
    Ok(proof)
}

/// The running program's own functions that have claims, decoded.
pub fn own_code() -> Result<Code, String> {
    own_program().map(Code::decode)
}

/// The running program's own functions that have claims.
pub fn own_program() -> Result<Program, String> {
    let path =
        std::env::current_exe().map_err(|error| format!("cannot find the running program: {error}"))?;
    Program::read(&path, claims::PREFIXES)
}
