//! One flip: a copy of the victim is stopped at a random moment, damaged, and watched to its end.

use anyhow::{Result, bail, ensure};
use nix::libc::{self, user_regs_struct};
use nix::sys::signal::Signal;
use rand::Rng;
use rand::rngs::StdRng;
use std::fmt::{self, Display, Formatter};

use super::course::STEPS;
use super::process::{Breakpoint, Process, Stop};
use super::program::Program;
use super::raw::CALL_AND_JUMP;
use super::target::{Flip, flip};
use super::tracer::{Mark, Report, Tracer};
use super::verdict::Verdict;

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Right results, and no check has failed.
    Right,
    /// Right results: the check with the public exponent failed, and the second computation passed it.
    Recomputed,
    /// An error in place of a result: the check failed twice.
    Withheld,
    /// Another error, before any check.
    Refused,
    /// Rust's checks of bounds and sizes.
    Panicked,
    /// A signal: an address that is not mapped, for example.
    Crashed,
    /// Longer than any recomputation takes.
    Hung,
    /// A wrong result has left, which reveals nothing of a key.
    Damaged,
    /// A wrong result has left that reveals a factor of a modulus.
    Revealed,
}

/// All of them.
pub const OUTCOMES: [Outcome; 9] = {
    use Outcome::*;
    [Right, Recomputed, Withheld, Refused, Panicked, Crashed, Hung, Damaged, Revealed]
};

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Right => "right",
            Self::Recomputed => "recomputed",
            Self::Withheld => "withheld",
            Self::Refused => "other error",
            Self::Panicked => "panic",
            Self::Crashed => "crash",
            Self::Hung => "hang",
            Self::Damaged => "damaged",
            Self::Revealed => "key revealed",
        })
    }
}

/// What happened.
pub struct Trial {
    /// The function that the operation had come to last.
    pub step: String,
    pub flip: Flip,
    /// The function that was interrupted.
    pub function: String,
    pub outcome: Outcome,
    /// The signal that ended it.
    pub signal: Option<Signal>,
}

/// What all trials of a walk share.
pub struct Setting<'a> {
    pub tracer: &'a Tracer,
    pub program: &'a Program,
    pub course: &'a [Mark],
    /// Where the frames of the operation end.
    pub stack: u64,
}

/// From here on, an operation hangs: nanoseconds of computing.
const LIMIT: u64 = 80_000_000;
/// How often the timer looks after the flip.
const INTERVAL: u64 = 50_000;

/// One flip in the stretch after mark `i`, whose end has a breakpoint. `None` if the operation ended before
/// it.
pub fn run(setting: &Setting, i: usize, next: &Breakpoint, random: &mut StdRng) -> Result<Option<Trial>> {
    let process = setting.tracer.process.copy(setting.tracer.syscall())?;
    let trial = damage(setting, process, i, next, random);
    match trial {
        // It is gone.
        Ok(Some((trial, false))) => Ok(Some(trial)),
        other => {
            process.kill()?;
            Ok(other?.map(|(trial, _)| trial))
        }
    }
}

/// The trial, and whether its process still exists.
fn damage(
    setting: &Setting,
    process: Process,
    i: usize,
    next: &Breakpoint,
    random: &mut StdRng,
) -> Result<Option<(Trial, bool)>> {
    let Setting { tracer, program, course, stack } = *setting;
    let mark = course[i];
    let in_steps = mark.steps < STEPS || mark.micros < 15.0 && random.random();
    let start = process.registers()?.rip;
    let arrived = if in_steps {
        arm(tracer, process, INTERVAL)?;
        begin(process, start)?;
        walk(process, random.random_range(0..mark.steps.max(1)), next)?
    } else {
        arm(tracer, process, random.random_range(1..=mark.micros as u64 + 1))?;
        match process.resume()? {
            Stop::Trap => {
                ensure!(process.at_breakpoint()? == next.address, "an undamaged copy took another way");
                true
            }
            Stop::Signal(Signal::SIGALRM) => {
                let call = tracer.syscall()..tracer.syscall() + CALL_AND_JUMP;
                if call.contains(&process.registers()?.rip) {
                    begin(process, start)?;
                }
                process.registers()?.rip == next.address
            }
            other => bail!("an undamaged copy stopped: {other:?}"),
        }
    };
    let last = i + usize::from(arrived);
    if last + 1 == course.len() {
        return Ok(None);
    }
    let step = program.name_at(course[last].address).to_owned();
    process.remove(next)?;
    let function = program.name_at(process.registers()?.rip.wrapping_sub(tracer.base)).to_owned();
    let flip = flip(tracer, process, stack, random)?;
    let (outcome, signal, exists) = watch(tracer, process)?;
    Ok(Some((Trial { step, flip, function, outcome, signal }, exists)))
}

/// Makes a process start a timer before it goes on: first after `micros`, and then again and again.
fn arm(tracer: &Tracer, process: Process, micros: u64) -> Result<()> {
    let saved = process.registers()?;
    let user_regs_struct { r11, rcx, rax, rdx, rsi, rdi, eflags, rip, rsp, .. } = saved;
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let (frame, timer) = (rsp - 192, rsp - 320);
    process.write(frame, &words(&[r11, rcx, rax, rdx, rsi, rdi, eflags, rip]))?;
    process.write(timer, &words(&[0, INTERVAL, 0, micros]))?;
    let (rax, rdi) = (libc::SYS_setitimer as u64, libc::ITIMER_REAL as u64);
    let call = user_regs_struct { rip: tracer.syscall(), rsp: frame, rax, rdi, rsi: timer, rdx: 0, ..saved };
    process.set_registers(user_regs_struct { orig_rax: u64::MAX, ..call })
}

/// Lets a process that is starting its timer come to where it goes on. (Steps would not do: after a step over
/// POPF, Linux leaves the trap flag set.)
fn begin(process: Process, start: u64) -> Result<()> {
    let breakpoint = process.plant(start)?;
    let mut stop = process.resume()?;
    while stop == Stop::Signal(Signal::SIGALRM) {
        stop = process.resume()?;
    }
    ensure!(stop == Stop::Trap && process.at_breakpoint()? == start, "an undamaged copy did not begin");
    process.remove(&breakpoint)
}

/// Executes some instructions, but not the next mark's. Whether it is there.
fn walk(process: Process, steps: u32, next: &Breakpoint) -> Result<bool> {
    let mut left = steps;
    while left > 0 && process.registers()?.rip != next.address {
        match process.step()? {
            Stop::Trap => left -= 1,
            Stop::Signal(Signal::SIGALRM) => {}
            other => bail!("an undamaged copy stopped: {other:?}"),
        }
    }
    Ok(process.registers()?.rip == next.address)
}

/// Runs a damaged process to its end. What became of it, the signal that ended it, and whether it still
/// exists.
fn watch(tracer: &Tracer, process: Process) -> Result<(Outcome, Option<Signal>, bool)> {
    let end = process.nanoseconds()? + LIMIT;
    let (outcome, signal, exists) = loop {
        match process.resume()? {
            Stop::Trap if tracer.is_done(process.registers()?.rip.wrapping_sub(1)) => {
                let Ok(report) = tracer.report(process) else { break (Outcome::Crashed, None, true) };
                break (judge(tracer, &report), None, true);
            }
            Stop::Signal(Signal::SIGALRM) if process.nanoseconds()? < end => {}
            Stop::Signal(Signal::SIGALRM) => break (Outcome::Hung, None, true),
            // Rust's exit status after a panic.
            Stop::Exited(101) => break (Outcome::Panicked, None, false),
            Stop::Exited(_) | Stop::Killed => break (Outcome::Crashed, None, false),
            Stop::Signal(signal) => break (Outcome::Crashed, Some(signal), true),
            Stop::Trap | Stop::Event => break (Outcome::Crashed, Some(Signal::SIGTRAP), true),
        }
    };
    Ok((outcome, signal, exists))
}

fn judge(tracer: &Tracer, report: &Report) -> Outcome {
    let verdicts: Vec<_> = tracer.verdicts(report).collect();
    match verdicts.iter().flatten().max() {
        Some(Verdict::Revealing) => return Outcome::Revealed,
        Some(Verdict::Damaged) => return Outcome::Damaged,
        _ => {}
    }
    match (verdicts.contains(&None), report.failures > 0) {
        (true, true) => Outcome::Withheld,
        (true, false) => Outcome::Refused,
        (false, true) => Outcome::Recomputed,
        (false, false) => Outcome::Right,
    }
}
