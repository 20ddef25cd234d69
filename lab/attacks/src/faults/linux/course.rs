//! The course of an undamaged operation: the places where its phases begin and end, and how long it takes between them.

use anyhow::{Context, Result, ensure};
use std::time::Instant;

use super::phase::{Function, Phase, functions};
use super::process::{Breakpoint, Process, Stop};
use super::program::Program;
use super::tracer::Tracer;

/// Stretches of at most so many instructions are walked step by step.
pub const STEPS: u32 = 400;
/// What a stop and a resumption cost, and more.
const OVERHEAD: f64 = 10.0;

/// A place that the operation comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Its address in the program's file.
    pub address: u64,
    /// What is done from here to the next one.
    pub phase: Phase,
    /// How many instructions it is to the next one, up to [`STEPS`].
    pub steps: u32,
    /// How long it is to the next one, in microseconds.
    pub micros: f64,
}

/// From the entry of the operation to its return.
pub type Course = Vec<Mark>;

/// The private operation itself, in one function or two, as the compiler decides.
const OPERATION: [&str; 2] = ["zariz::rsa::private_op::blinded", "zariz::rsa::private_op::attempt"];

/// Follows the operation that a stopped process is about to begin, function by function. It has so many batches.
pub fn follow(tracer: &Tracer, process: Process, program: &Program, batches: usize) -> Result<Course> {
    let functions: Vec<_> =
        functions(program)?.into_iter().map(|(function, at)| (function, at + tracer.base)).collect();
    let mut course = Course::new();
    let (mut phase, mut end) = (Phase::Before, None);
    // A call that has not returned: function and breakpoint.
    let mut open: Option<(Function, Breakpoint)> = None;
    loop {
        let mut planted = Vec::new();
        if open.is_none() {
            for &(_, at) in functions.iter().filter(|(function, _)| *function != Function::Sign || course.is_empty()) {
                if Some(at) != course.last().map(|mark: &Mark| mark.address + tracer.base) {
                    planted.push(process.plant(at)?);
                }
            }
            if let Some(at) = end {
                planted.push(process.plant(at)?);
            }
        }
        let start = Instant::now();
        ensure!(process.resume()? == Stop::Trap, "an undamaged operation was interrupted");
        let micros = (start.elapsed().as_secs_f64() * 1e6 - OVERHEAD).max(1.0);
        planted.iter().try_for_each(|breakpoint| process.remove(breakpoint))?;
        let at = process.at_breakpoint()?;
        if let Some(last) = course.last_mut() {
            last.micros = micros;
        }
        if let Some((function, breakpoint)) = open.take() {
            process.remove(&breakpoint)?;
            phase = phase.after_return(function);
        } else if let Some((function, _)) = functions.iter().find(|(_, start)| *start == at) {
            let caller = process.word(process.registers()?.rsp)?;
            let direct = OPERATION.contains(&program.name_at(caller - tracer.base));
            phase = phase.after_call(*function, direct);
            match function {
                Function::Sign => end = Some(caller),
                Function::Private => {}
                _ => open = Some((*function, process.plant(caller)?)),
            }
        }
        course.push(Mark { address: at - tracer.base, phase, steps: STEPS, micros: 1.0 });
        if Some(at) == end {
            break;
        }
    }
    let begin = |phase| course.windows(2).filter(|marks| marks[0].phase != phase && marks[1].phase == phase).count();
    let seen = [Phase::Mask, Phase::Check, Phase::Comparison].map(begin);
    ensure!(seen == [batches; 3], "{seen:?} masks, checks and comparisons were seen, of {batches} batches");
    ensure!(phase == Phase::After, "the last comparison was not seen");
    Ok(course)
}

/// Counts the instructions of short stretches, with another process that does the same operation, and takes the shorter
/// times.
pub fn count_steps(tracer: &Tracer, process: Process, course: &mut Course) -> Result<()> {
    tracer.walk(process, &course.clone(), |i, _| {
        let copy = process.copy(tracer.syscall())?;
        let next = course.get(i + 1).context("the last mark has no stretch")?.address + tracer.base;
        let mut steps = 0;
        while steps < STEPS && copy.registers()?.rip != next {
            ensure!(copy.step()? == Stop::Trap, "an undamaged operation was interrupted");
            steps += 1;
        }
        course[i].steps = steps;
        copy.kill()
    })?;
    Ok(())
}
