//! The signal handler: what it emulates, what it leaves to the handler that was installed before, and what it
//! counts.
//!
//! It does nothing that may not be done in a signal handler: no allocation (the decoder's tables and ours are
//! made before it is installed), no locks. A panic, which would be a mistake here, ends the process: it
//! cannot unwind out of `extern "C"`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{mem, ptr};

use crate::execute::execute;
use crate::frame::{Frame, Layout};
use crate::operation::{Function, LONGEST, Lanewise, Operation, decode, operation};
use crate::patch::{PAGE, UD2};
use crate::sites::Finder;

/// What the handler has done in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Signals that the handler has emulated.
    pub traps: u64,
    /// VPMADD52 instructions emulated.
    pub multiplications: u64,
    /// Other instructions between them emulated.
    pub others: u64,
}

static TRAPS: AtomicU64 = AtomicU64::new(0);
static MULTIPLICATIONS: AtomicU64 = AtomicU64::new(0);
static OTHERS: AtomicU64 = AtomicU64::new(0);

/// What was done so far, by all threads.
pub fn statistics() -> Statistics {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Statistics { traps: read(&TRAPS), multiplications: read(&MULTIPLICATIONS), others: read(&OTHERS) }
}

/// What the handler needs; set before it is installed.
struct Setting {
    layout: Layout,
    previous: libc::sigaction,
}

static SETTING: OnceLock<Setting> = OnceLock::new();

/// Installs the handler for SIGILL. Once in a process.
pub fn install() -> Result<(), String> {
    let layout = Layout::of_processor();
    layout.check()?;
    // The decoder makes its tables now, not in the handler.
    decode(&[0x90], 0).ok_or("the decoder does not know NOP")?;
    let error =
        |what: &str| format!("cannot {what} the handler of SIGILL: {}", std::io::Error::last_os_error());
    // SAFETY: all fields of a sigaction may be zero.
    let (mut previous, mut ours): (libc::sigaction, libc::sigaction) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    // SAFETY: a null action is not looked at; `previous` is a live sigaction.
    if unsafe { libc::sigaction(libc::SIGILL, ptr::null(), &raw mut previous) } != 0 {
        return Err(error("look at"));
    }
    if SETTING.set(Setting { layout, previous }).is_err() {
        return Err("the handler of SIGILL is installed already".into());
    }
    ours.sa_sigaction = on_illegal_instruction as *const () as libc::sighandler_t;
    // Not blocked while it runs: the handler of another signal that arrives then may multiply too. Ours keeps
    // no state but counters.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_NODEFER;
    // SAFETY: `ours` is a whole action: a handler of the type that SA_SIGINFO requires, and an empty mask
    // (all zero).
    if unsafe { libc::sigaction(libc::SIGILL, &raw const ours, ptr::null_mut()) } != 0 {
        return Err(error("install"));
    }
    Ok(())
}

extern "C" fn on_illegal_instruction(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: errno is the thread's own, and the kernel gives a handler its siginfo. A code above 0 means
    // that an instruction raised the signal, not `kill`.
    let (errno, by_instruction) = unsafe { (*libc::__errno_location(), (*info).si_code > 0) };
    // SAFETY: what the kernel gave us; it is looked at through this frame alone, which ends here.
    let emulated = by_instruction
        && SETTING.get().is_some_and(|s| unsafe { Frame::new(context, s.layout) }.is_some_and(run));
    if !emulated {
        pass_on(signal, info, context, by_instruction);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Emulates the thread's current instruction, and those after it as long as we support them; `false`, and
/// nothing done, if the first is not a VPMADD52.
fn run(mut frame: Frame) -> bool {
    let (mut multiplications, mut others, mut finder) = (0, 0, Finder::new());
    let start = frame.general(libc::REG_RIP);
    let mut at = start;
    // In one page: the processor finds out whether the next page exists.
    while at / PAGE == start / PAGE {
        // The processor has read all of the first instruction, wherever it ends.
        let whole = at == start;
        // SAFETY: code of this thread, which is about to run it.
        let (bytes, len) = unsafe { fetch(at, whole) };
        let mut site = if bytes[..2] == UD2 { finder.find(at) } else { None };
        let code = site.map_or(&bytes[..len], |site| &site.original);
        let Some(instruction) = decode(code, at) else { break };
        let Some(operation) = operation(&instruction, &frame) else { break };
        let multiplies =
            matches!(operation, Operation::Lanewise(Lanewise { function: Function::Multiply(_), .. }));
        if at == start && !multiplies {
            break;
        }
        // SAFETY: the thread is at this instruction, and all before it are done.
        if !unsafe { execute(&operation, &mut frame) } {
            break;
        }
        if multiplies {
            multiplications += 1;
            site = site.or_else(|| finder.find(at));
            if let Some(site) = site {
                site.executed.fetch_add(1, Ordering::Relaxed);
            }
        } else {
            others += 1;
        }
        at = instruction.next_ip();
        frame.set_general(libc::REG_RIP, at);
    }
    if multiplications > 0 {
        TRAPS.fetch_add(1, Ordering::Relaxed);
        MULTIPLICATIONS.fetch_add(multiplications, Ordering::Relaxed);
        OTHERS.fetch_add(others, Ordering::Relaxed);
    }
    multiplications > 0
}

/// The code at an address: as many bytes as the longest instruction has, or those up to the end of the page,
/// and how many these are. With `whole`, those in the next page too, if the instruction cannot be decoded
/// without them.
///
/// # Safety
/// There must be a readable instruction; with `whole`, it is readable to its end.
unsafe fn fetch(at: u64, whole: bool) -> ([u8; LONGEST], usize) {
    let code: *const [u8; LONGEST] = ptr::with_exposed_provenance(at as usize);
    let here = (PAGE - at % PAGE) as usize;
    if here >= LONGEST {
        // SAFETY: all in the page in which the instruction begins.
        return (unsafe { *code }, LONGEST);
    }
    let mut bytes = [0; LONGEST];
    // SAFETY: the same.
    unsafe { ptr::copy_nonoverlapping(code.cast(), bytes.as_mut_ptr(), here) };
    if !whole || bytes[..2] == UD2 || decode(&bytes[..here], at).is_some() {
        return (bytes, here);
    }
    // SAFETY: the instruction goes on in the next page, and is readable to its end by the caller's promise.
    (unsafe { *code }, LONGEST)
}

/// Does what would happen without the emulator: the earlier handler is called; or, if there was none, the
/// default action is restored, and the instruction raises its signal again.
fn pass_on(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
    by_instruction: bool,
) {
    let Some(Setting { previous, .. }) = SETTING.get() else { return };
    match previous.sa_sigaction {
        libc::SIG_IGN if !by_instruction => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: a zeroed action is SIG_DFL with an empty mask; both calls may be made in a handler.
            unsafe {
                let default: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
                if !by_instruction {
                    libc::raise(signal); // it comes when this handler returns
                }
            }
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: it was installed with SA_SIGINFO, so it is a function of this type.
            let handler = unsafe { mem::transmute::<libc::sighandler_t, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: it was installed without SA_SIGINFO, so it is a function of this type.
            let handler =
                unsafe { mem::transmute::<libc::sighandler_t, extern "C" fn(libc::c_int)>(handler) };
            handler(signal);
        }
    }
}
