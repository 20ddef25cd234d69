//! The course of an undamaged operation: the places that it comes to, and how long it takes between them.
//!
//! A place is where a function of the library begins for the first time. So steps that take little time get flips too,
//! and no function needs to have a name that this program knows: the compiler may inline them.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::process::{Process, Stop};
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
    /// How many instructions it is to the next one, up to [`STEPS`].
    pub steps: u32,
    /// How long it is to the next one, in microseconds.
    pub micros: f64,
}

/// From the entry of the operation to its return.
pub type Course = Vec<Mark>;

/// Follows the operation that a stopped process is about to begin, by those of some places that it comes to.
pub fn follow(tracer: &Tracer, process: Process, places: &BTreeSet<u64>) -> Result<Course> {
    let registers = process.registers()?;
    let end = process.word(registers.rsp)?;
    let mut places: BTreeSet<_> = places.iter().map(|place| place + tracer.base).collect();
    places.insert(end);
    places.remove(&registers.rip);
    let mut open = BTreeMap::new();
    for at in places {
        open.insert(at, process.plant(at)?);
    }
    let mark = |at| Mark { address: at - tracer.base, steps: STEPS, micros: 0.0 };
    let (mut course, mut at) = (vec![mark(registers.rip)], registers.rip);
    while at != end {
        let start = Instant::now();
        ensure!(process.resume()? == Stop::Trap, "an undamaged operation was interrupted");
        let micros = (start.elapsed().as_secs_f64() * 1e6 - OVERHEAD).max(1.0);
        at = process.at_breakpoint()?;
        process.remove(&open.remove(&at).context("an undamaged operation stopped elsewhere")?)?;
        course.last_mut().into_iter().for_each(|last| last.micros = micros);
        course.push(mark(at));
    }
    open.values().try_for_each(|breakpoint| process.remove(breakpoint))?;
    Ok(course)
}

/// Counts the instructions of short stretches, with another process that does the same operation.
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
    })
}
