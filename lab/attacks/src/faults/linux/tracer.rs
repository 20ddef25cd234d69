//! The victim under the tracer's hand: from one operation to the next, and along its course.

use anyhow::{Context, Result, bail, ensure};
use nix::unistd::Pid;
use num_bigint::BigUint;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use super::process::{Breakpoint, Process, Stop};
use super::program::Program;
use super::raw::SLOTS;
use super::verdict::{Request, Verdict, judge};
use super::victim::Work;

/// A place that the operation comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Its address in the program's file.
    pub address: u64,
    /// How many instructions it is to the next one, up to [`STEPS`](super::course::STEPS).
    pub steps: u32,
    /// How long it is to the next one, in microseconds.
    pub micros: f64,
}

/// Addresses in the program's file.
pub struct Places {
    operation: u64,
    done: u64,
    syscall: u64,
    live: u64,
    epoch: u64,
}

impl Places {
    pub fn new(program: &Program) -> Result<Self> {
        Ok(Self {
            operation: program.one("faults::linux::victim::operation")?,
            done: program.one("faults::linux::victim::done")?,
            syscall: program.one("faults::linux::raw::call_and_jump")?,
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
    /// What each operation computes.
    requests: Vec<Request>,
}

/// What a victim tells of an operation.
#[derive(Debug, PartialEq)]
pub struct Report {
    /// How many results failed the check.
    pub failures: u64,
    /// The number that left for each request, if one did.
    pub results: Vec<Option<BigUint>>,
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
        let first =
            maps.lines().find(|line| line.ends_with(path)).context("the program is not in its own memory")?;
        let base = u64::from_str_radix(first.split('-').next().unwrap_or_default(), 16)?;
        let done = process.plant(base + places.done)?;
        let mut input = child.stdin.take().context("the victim has no input")?;
        input.write_all(&[0]).context("the victim does not read")?;
        let mut it = Self { places, child, process, base, done, requests: Vec::new() };
        let moduli = it.next_report()?.results.into_iter().flatten();
        let request = |(x, n): (Vec<u8>, _)| Request { n, x: BigUint::from_bytes_be(&x) };
        it.requests = work.numbers().zip(moduli).map(request).collect();
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
        let mut results = Vec::new();
        while let Some((len, after)) = rest.split_first_chunk() {
            let (bytes, after) =
                after.split_at_checked(u16::from_le_bytes(*len).into()).context("a cut report")?;
            results.push((!bytes.is_empty()).then(|| BigUint::from_bytes_be(bytes)));
            rest = after;
        }
        Ok(Report { failures: u64::from_le_bytes(failures.try_into()?), results })
    }

    /// From a report to the entry of the next operation.
    pub fn enter(&self) -> Result<()> {
        self.process.remove(&self.done)?;
        ensure!(self.process.step()? == Stop::Trap, "the victim did not take a step");
        self.process.plant(self.done.address)?;
        let entry = self.process.plant(self.base + self.places.operation)?;
        ensure!(self.process.resume()? == Stop::Trap, "the victim did not begin an operation");
        ensure!(self.process.at_breakpoint()? == entry.address, "the victim stopped elsewhere");
        self.process.remove(&entry)
    }

    /// From within an operation to its report, which must be right.
    pub fn finish(&self) -> Result<()> {
        let report = self.next_report()?;
        let right = report.failures == 0
            && self.verdicts(&report).eq(self.requests.iter().map(|_| Some(Verdict::Right)));
        ensure!(right, "the undamaged victim's results are wrong");
        Ok(())
    }

    /// What each result is; `None` if there is an error in its place.
    pub fn verdicts(&self, report: &Report) -> impl Iterator<Item = Option<Verdict>> {
        let results = report.results.iter().enumerate();
        let judged = results.map(|(i, y)| y.as_ref().map(|y| judge(&self.requests, i, y)));
        judged.chain(std::iter::repeat_n(None, self.requests.len().saturating_sub(report.results.len())))
    }

    /// Follows a course. At each mark, `visit` gets its number and the breakpoint of the next mark, which the
    /// copies that it makes have too.
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
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // It is stopped, and has to be reaped as a tracee.
        let _ = self.process.kill();
        let _ = self.child.try_wait();
    }
}
