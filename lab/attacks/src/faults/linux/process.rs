//! A stopped process, by the debugger's interface of Linux.

use anyhow::{Context, Result, bail, ensure};
use nix::libc::{self, user_regs_struct};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io::{IoSlice, IoSliceMut};

/// A breakpoint.
const INT3: u8 = 0xcc;

/// A tracee. All methods but `wait` need it stopped.
#[derive(Clone, Copy)]
pub struct Process(pub Pid);

/// Why a process is not running.
#[derive(Debug, PartialEq)]
pub enum Stop {
    /// A breakpoint, or a single step.
    Trap,
    /// A signal that it has not received yet.
    Signal(Signal),
    /// It made a copy of itself, or it begins.
    Event,
    /// It ended by itself.
    Exited(i32),
    /// A signal has ended it.
    Killed,
}

impl Process {
    /// Makes a running process ours, and stops it.
    pub fn seize(process: Pid) -> Result<Self> {
        let options = Options::PTRACE_O_TRACEFORK | Options::PTRACE_O_EXITKILL;
        ptrace::seize(process, options).context("this system does not let us trace processes (ptrace)")?;
        ptrace::interrupt(process)?;
        let it = Self(process);
        ensure!(it.wait()? == Stop::Event, "the process did not stop");
        Ok(it)
    }

    pub fn wait(self) -> Result<Stop> {
        Ok(match waitpid(self.0, Some(WaitPidFlag::__WALL))? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => Stop::Trap,
            WaitStatus::Stopped(_, signal) => Stop::Signal(signal),
            WaitStatus::PtraceEvent(..) => Stop::Event,
            WaitStatus::Exited(_, status) => Stop::Exited(status),
            WaitStatus::Signaled(..) => Stop::Killed,
            other => bail!("unexpected: {other:?}"),
        })
    }

    /// Runs until the next stop. No signal reaches it.
    pub fn resume(self) -> Result<Stop> {
        ptrace::cont(self.0, None)?;
        self.wait()
    }

    /// Executes one instruction.
    pub fn step(self) -> Result<Stop> {
        ptrace::step(self.0, None)?;
        self.wait()
    }

    pub fn registers(self) -> Result<user_regs_struct> {
        Ok(ptrace::getregs(self.0)?)
    }

    pub fn set_registers(self, registers: user_regs_struct) -> Result<()> {
        Ok(ptrace::setregs(self.0, registers)?)
    }

    pub fn read(self, address: u64, out: &mut [u8]) -> Result<()> {
        let there = RemoteIoVec { base: address as usize, len: out.len() };
        let wanted = out.len();
        let got = process_vm_readv(self.0, &mut [IoSliceMut::new(out)], &[there])?;
        ensure!(got == wanted, "only {got} of {wanted} bytes could be read at {address:#x}");
        Ok(())
    }

    /// Writes memory that the process may write.
    pub fn write(self, address: u64, data: &[u8]) -> Result<()> {
        let there = RemoteIoVec { base: address as usize, len: data.len() };
        let put = process_vm_writev(self.0, &[IoSlice::new(data)], &[there])?;
        ensure!(put == data.len(), "only {put} of {} bytes could be written at {address:#x}", data.len());
        Ok(())
    }

    pub fn word(self, address: u64) -> Result<u64> {
        Ok(ptrace::read(self.0, address as *mut _)? as u64)
    }

    /// Writes any memory, code too.
    pub fn set_word(self, address: u64, word: u64) -> Result<()> {
        Ok(ptrace::write(self.0, address as *mut _, word as libc::c_long)?)
    }

    /// Puts a byte into code, and returns what was there.
    fn patch(self, address: u64, byte: u8) -> Result<u8> {
        let word = self.word(address)?;
        self.set_word(address, word & !0xff | u64::from(byte))?;
        Ok(word as u8)
    }

    pub fn plant(self, address: u64) -> Result<Breakpoint> {
        Ok(Breakpoint { address, byte: self.patch(address, INT3)? })
    }

    pub fn remove(self, breakpoint: &Breakpoint) -> Result<()> {
        self.patch(breakpoint.address, breakpoint.byte).map(|_| ())
    }

    /// After a trap: the address of the breakpoint, to which the process is set back.
    pub fn at_breakpoint(self) -> Result<u64> {
        let mut registers = self.registers()?;
        registers.rip -= 1;
        self.set_registers(registers)?;
        Ok(registers.rip)
    }

    /// A copy of the process, stopped where it is, without timers. `syscall` is the address of such an
    /// instruction. The copy is our own child, and nothing of the process learns of it: it has the blinding
    /// pairs of the original.
    pub fn copy(self, syscall: u64) -> Result<Self> {
        let saved = self.registers()?;
        let flags = (libc::CLONE_PARENT | libc::SIGCHLD) as u64;
        let (rax, orig_rax) = (libc::SYS_clone as u64, u64::MAX);
        let call = user_regs_struct {
            rip: syscall,
            rax,
            orig_rax,
            rdi: flags,
            rsi: 0,
            rdx: 0,
            r10: 0,
            r8: 0,
            ..saved
        };
        self.set_registers(call)?;
        ensure!(self.step()? == Stop::Event, "the process could not copy itself");
        let copy = Self(Pid::from_raw(ptrace::getevent(self.0)?.try_into()?));
        ensure!(copy.wait()? == Stop::Event, "the copy did not stop");
        // In a group of its own: a damaged copy has jumped into this program's `kill`, and ended all of its
        // group.
        nix::unistd::setpgid(copy.0, copy.0)?;
        ensure!(self.step()? == Stop::Trap, "the process did not stop after it copied itself");
        self.set_registers(saved)?;
        copy.set_registers(saved)?;
        Ok(copy)
    }

    /// Ends the process.
    pub fn kill(self) -> Result<()> {
        nix::sys::signal::kill(self.0, Signal::SIGKILL)?;
        while !matches!(self.wait()?, Stop::Killed | Stop::Exited(_)) {}
        Ok(())
    }

    /// How long it has been computing.
    pub fn nanoseconds(self) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", self.0))?;
        text.split(' ').next().and_then(|word| word.parse().ok()).context("/proc/PID/schedstat has no number")
    }
}

/// A breakpoint in the code of a process, and of its copies.
#[derive(Clone, Copy)]
pub struct Breakpoint {
    pub address: u64,
    byte: u8,
}
