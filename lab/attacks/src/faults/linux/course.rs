//! The course of an undamaged operation: the places that it comes to, and how long it takes between them.
//!
//! A place is where a function of the library begins that was not called lately: where something else is done
//! than before. So steps that take little time get flips too, and this program knows no function by its name:
//! the compiler may inline each.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use super::process::{Process, Stop};
use super::program::Program;
use super::tracer::{Mark, Tracer};

/// Stretches of at most so many instructions are walked step by step.
pub const STEPS: u32 = 400;
/// So many calls are lately: more than a power has from one multiplication to the next.
const RECENT: usize = 64;
/// What a stop and a resumption cost, and more.
const OVERHEAD: f64 = 10.0;

/// From the entry of the operation to its return.
pub type Course = Vec<Mark>;

/// Follows the operation that a stopped process is about to begin.
pub fn follow(tracer: &Tracer, process: Process, program: &Program) -> Result<Course> {
    let registers = process.registers()?;
    let end = process.word(registers.rsp)?;
    let mut breakpoints = BTreeMap::new();
    for at in program.of_library().into_iter().map(|place| place + tracer.base).chain([end]) {
        breakpoints.insert(at, process.plant(at)?);
    }
    let (mut places, mut recent) = (vec![registers.rip], VecDeque::from([registers.rip]));
    // The functions that were called since the last place.
    let mut called = BTreeSet::new();
    loop {
        ensure!(process.resume()? == Stop::Trap, "an undamaged operation was interrupted");
        let at = process.at_breakpoint()?;
        if at == end {
            break;
        }
        process.remove(breakpoints.get(&at).context("an undamaged operation stopped elsewhere")?)?;
        ensure!(process.step()? == Stop::Trap, "an undamaged operation was interrupted");
        process.plant(at)?;
        if !called.contains(&at) && !recent.contains(&at) {
            places.push(at);
            called.clear();
        }
        called.insert(at);
        recent.push_back(at);
        recent.drain(..recent.len().saturating_sub(RECENT));
    }
    breakpoints.values().try_for_each(|breakpoint| process.remove(breakpoint))?;
    places.push(end);
    Ok(places
        .into_iter()
        .map(|at| Mark { address: at - tracer.base, steps: STEPS, micros: f64::MAX })
        .collect())
}

/// Takes the time of each stretch, with another process that does the same operation, if it is shorter than
/// before.
pub fn measure(tracer: &Tracer, process: Process, course: &mut Course) -> Result<()> {
    let mut starts = Vec::new();
    tracer.walk(process, course, |_, _| {
        starts.push(Instant::now());
        Ok(())
    })?;
    starts.push(Instant::now());
    for (mark, times) in course.iter_mut().zip(starts.windows(2)) {
        let micros = (times[1] - times[0]).as_secs_f64() * 1e6 - OVERHEAD;
        mark.micros = mark.micros.min(micros.max(1.0));
    }
    Ok(())
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
