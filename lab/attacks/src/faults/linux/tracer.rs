//! The victim under the tracer's hand: from one operation to the next, and along its course.

use anyhow::{Context, Result, bail, ensure};
use nix::unistd::Pid;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use super::course::Mark;
use super::phase;
use super::process::{Breakpoint, Process, Stop};
use super::program::Program;
use super::raw::SLOTS;
use super::victim::Work;

/// Addresses in the program's file.
pub struct Places {
    sign: u64,
    done: u64,
    syscall: u64,
    equal: u64,
    live: u64,
    epoch: u64,
}

impl Places {
    pub fn new(program: &Program) -> Result<Self> {
        Ok(Self {
            sign: program.one(phase::SIGN)?,
            done: program.one("faults::linux::victim::done")?,
            syscall: program.one("faults::linux::raw::call_and_jump")?,
            equal: program.one(phase::EQUAL)?,
            live: program.one("faults::linux::raw::LIVE")?,
            epoch: program.one("faults::linux::raw::EPOCH")?,
        })
    }
}

/// A victim.
pub struct Tracer {
    places: Places,
    child: Child,
    pub process: Process,
    /// Where its program begins in memory.
    pub base: u64,
    done: Breakpoint,
    /// What undamaged operations give.
    pub expected: Vec<Vec<u8>>,
}

/// What a victim tells of an operation.
#[derive(Debug, PartialEq)]
pub struct Report {
    /// How many results failed the check.
    pub failures: u64,
    /// A signature, or the code of an error, for each request.
    pub results: Vec<Result<Vec<u8>, u8>>,
}

impl Tracer {
    /// Starts a victim, with new keys. It is before its first operation.
    pub fn start(program: &Program, work: Work) -> Result<Self> {
        let places = Places::new(program)?;
        let path = std::env::current_exe().context("this program does not know where it is")?;
        let mut command = Command::new(&path);
        command.arg("--victim").args(work.words()).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start the victim")?;
        let process = Process::seize(Pid::from_raw(child.id().try_into()?))?;
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id()))?;
        let path = path.to_str().context("the path of this program is not UTF-8")?;
        let first = maps.lines().find(|line| line.ends_with(path)).context("the program is not in its own memory")?;
        let base = u64::from_str_radix(first.split('-').next().unwrap_or_default(), 16)?;
        let done = process.plant(base + places.done)?;
        let mut input = child.stdin.take().context("the victim has no input")?;
        input.write_all(&[0]).context("the victim does not read")?;
        let mut it = Self { places, child, process, base, done, expected: Vec::new() };
        let results = it.next_report()?.results;
        it.expected = results.into_iter().collect::<Result<_, u8>>().map_err(|code| anyhow::anyhow!("error {code}"))?;
        Ok(it)
    }

    pub fn syscall(&self) -> u64 {
        self.base + self.places.syscall
    }

    /// Lets the victim run to its next report.
    fn next_report(&self) -> Result<Report> {
        let stop = self.process.resume()?;
        ensure!(stop == Stop::Trap, "the undamaged victim stopped by itself: {stop:?}");
        ensure!(self.process.at_breakpoint()? == self.done.address, "the undamaged victim stopped elsewhere");
        self.report(self.process)
    }

    /// The report of a process that is about to give it.
    pub fn report(&self, process: Process) -> Result<Report> {
        let registers = process.registers()?;
        ensure!((8..1 << 20).contains(&registers.rsi), "a report of {} bytes", registers.rsi);
        let mut data = vec![0; registers.rsi as usize];
        process.read(registers.rdi, &mut data)?;
        let (failures, mut rest) = data.split_at(8);
        let size = self.expected.first().map_or(256, Vec::len);
        let mut results = Vec::new();
        while let Some((code, after)) = rest.split_first() {
            rest = after;
            if *code == 0 {
                let (signature, after) = rest.split_at_checked(size).context("a report is too short")?;
                results.push(Ok(signature.to_vec()));
                rest = after;
            } else {
                results.push(Err(*code));
            }
        }
        Ok(Report { failures: u64::from_le_bytes(failures.try_into()?), results })
    }

    /// From a report to the entry of the next operation.
    pub fn enter(&self) -> Result<()> {
        self.process.remove(&self.done)?;
        ensure!(self.process.step()? == Stop::Trap, "the victim did not take a step");
        self.process.plant(self.done.address)?;
        let entry = self.process.plant(self.base + self.places.sign)?;
        ensure!(self.process.resume()? == Stop::Trap, "the victim did not begin an operation");
        ensure!(self.process.at_breakpoint()? == entry.address, "the victim stopped elsewhere");
        self.process.remove(&entry)
    }

    /// From within an operation to its report, which must be right.
    pub fn finish(&self) -> Result<()> {
        let Report { failures, results } = self.next_report()?;
        let right = results.iter().map(Result::as_ref).eq(self.expected.iter().map(Ok));
        ensure!(failures == 0 && right, "the undamaged victim's results are wrong");
        Ok(())
    }

    /// Follows a course. At each mark, `visit` gets its number and the breakpoint of the next mark, which the copies
    /// that it makes have too.
    pub fn walk(
        &self,
        process: Process,
        course: &[Mark],
        mut visit: impl FnMut(usize, &Breakpoint) -> Result<()>,
    ) -> Result<()> {
        for (i, mark) in course.iter().enumerate().skip(1) {
            let next = process.plant(self.base + mark.address)?;
            visit(i - 1, &next)?;
            ensure!(process.resume()? == Stop::Trap, "an undamaged operation was interrupted");
            if process.at_breakpoint()? != next.address {
                bail!("an undamaged operation took another way");
            }
            process.remove(&next)?;
        }
        Ok(())
    }

    /// Address, size and epoch of each live allocation, and the epoch of now.
    pub fn live(&self, process: Process) -> Result<(Vec<[u64; 3]>, u64)> {
        let mut data = vec![0; 24 * SLOTS];
        process.read(self.base + self.places.live, &mut data)?;
        let word = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
        let slots = data.chunks_exact(24).map(|slot| [0, 8, 16].map(|at| word(&slot[at..at + 8])));
        let epoch = process.word(self.base + self.places.epoch)?;
        Ok((slots.filter(|slot| slot[0] != 0).collect(), epoch))
    }

    pub fn is_done(&self, address: u64) -> bool {
        address == self.done.address
    }

    /// Makes every comparison of a process say that the numbers are equal: `mov eax, 1; ret`.
    pub fn plant_equality(&self, process: Process) -> Result<()> {
        let code = [0xb8, 1, 0, 0, 0, 0xc3, 0x90, 0x90];
        process.set_word(self.base + self.places.equal, u64::from_le_bytes(code))
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // It is stopped, and has to be reaped as a tracee.
        let _ = self.process.kill();
        let _ = self.child.try_wait();
    }
}
