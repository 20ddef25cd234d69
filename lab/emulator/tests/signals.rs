//! Other causes of SIGILL have the effect that they have without the emulator. Each case runs in its own
//! process.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::arch::asm;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{mem, ptr};
use zariz_emulator::{Form, Mode};

const CASE: &str = "ZARIZ_SIGNAL_CASE";

/// Runs this test program again, for one case alone.
fn status_of(case: &str) -> ExitStatus {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args(["--exact", "child", "--nocapture"]).env(CASE, case).output();
    let output = output.expect("this program runs");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    output.status
}

fn available() -> bool {
    // The first decision of this process; the children make their own.
    match zariz_emulator::emulate().of(Form::Vex) {
        Mode::Emulated => true,
        mode => {
            assert!(!zariz_machines::has_avx2(), "no emulation, though the processor allows it: {mode:?}");
            eprintln!("skipped: {mode:?}");
            false
        }
    }
}

#[test]
fn an_illegal_instruction_kills() {
    assert!(!available() || status_of("ud2").signal() == Some(libc::SIGILL));
}

#[test]
fn a_signal_that_was_sent_kills() {
    assert!(!available() || status_of("raise").signal() == Some(libc::SIGILL));
}

#[test]
fn an_ignored_signal_is_ignored_but_an_instruction_is_not() {
    assert!(!available() || status_of("ignored raise").code() == Some(0));
    assert!(!available() || status_of("ignored ud2").signal() == Some(libc::SIGILL));
}

#[test]
fn earlier_handlers_are_called() {
    assert!(!available() || status_of("handler with siginfo").code() == Some(0));
    assert!(!available() || status_of("plain handler").code() == Some(42));
}

#[test]
fn handlers_of_other_signals_may_multiply() {
    assert!(!available() || status_of("alarm").code() == Some(0));
}

static CALLS: AtomicU32 = AtomicU32::new(0);

/// Steps over UD2.
extern "C" fn step_over(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: what the kernel gave to a handler with SA_SIGINFO.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let at = registers[libc::REG_RIP as usize];
        if signal == libc::SIGILL && (*info).si_addr() as i64 == at {
            CALLS.fetch_add(1, Ordering::Relaxed);
        }
        registers[libc::REG_RIP as usize] = at + 2;
    }
}

extern "C" fn leave(_: libc::c_int) {
    // SAFETY: ends the process at once, as a handler may.
    unsafe { libc::_exit(42) }
}

/// Multiplies, perhaps while the emulator does.
extern "C" fn multiply_too(_: libc::c_int) {
    let product = square_of_three();
    CALLS.fetch_add(u32::from(product == EXPECTED), Ordering::Relaxed);
}

/// Multiplies until a timer's handler, which multiplies too, has interrupted it often enough to have met the
/// emulator at work.
fn alarms() {
    const WANTED: u32 = 3000;
    // SAFETY: a whole action and a whole time, as the types ask.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = multiply_too as *const () as libc::sighandler_t;
        assert_eq!(libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut()), 0);
        let every = libc::timeval { tv_sec: 0, tv_usec: 200 };
        let timer = libc::itimerval { it_interval: every, it_value: every };
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()), 0);
    }
    while CALLS.load(Ordering::Relaxed) < WANTED {
        assert_eq!(square_of_three(), EXPECTED);
    }
}

fn handle(handler: libc::sighandler_t, flags: libc::c_int) {
    // SAFETY: a whole action: zeros, and a handler of the type that the flags require.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        assert_eq!(libc::sigaction(libc::SIGILL, &raw const action, ptr::null_mut()), 0);
    }
}

fn ud2() {
    // SAFETY: it raises SIGILL; it is an error of the test to come back but over it.
    unsafe { asm!("ud2") }
}

fn raise() {
    // SAFETY: sends a signal to this thread.
    assert_eq!(unsafe { libc::raise(libc::SIGILL) }, 0);
}

/// What [`square_of_three`] returns in each lane.
const EXPECTED: [u64; 4] = [9; 4];

/// A multiplication in each form that is emulated, so that the handler is seen to work.
fn square_of_three() -> [u64; 4] {
    use std::arch::x86_64::*;
    #[target_feature(enable = "avx2,avxifma")]
    #[inline(never)]
    fn vex() -> [u64; 4] {
        let three = _mm256_set1_epi64x(std::hint::black_box(3));
        let square = _mm256_madd52lo_avx_epu64(_mm256_setzero_si256(), three, three);
        // SAFETY: four words are as large as a vector, and valid for any bits.
        unsafe { std::mem::transmute::<__m256i, [u64; 4]>(square) }
    }
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline(never)]
    fn evex() -> i64 {
        let three = _mm512_set1_epi64(std::hint::black_box(3));
        _mm512_reduce_add_epi64(_mm512_madd52lo_epu64(_mm512_setzero_si512(), three, three))
    }
    if zariz_emulator::is_emulating(Form::Evex) {
        // SAFETY: AVX-512F is there, and VPMADD52 is emulated.
        assert_eq!(unsafe { evex() }, 72);
    }
    // SAFETY: AVX2 is there, and VPMADD52 is emulated.
    unsafe { vex() }
}

/// The body of the other tests' processes; without a case, nothing.
#[test]
fn child() {
    let Ok(case) = std::env::var(CASE) else { return };
    match case.as_str() {
        "ignored raise" | "ignored ud2" => handle(libc::SIG_IGN, 0),
        "handler with siginfo" => handle(step_over as *const () as libc::sighandler_t, libc::SA_SIGINFO),
        "plain handler" => handle(leave as *const () as libc::sighandler_t, 0),
        _ => {}
    }
    assert_eq!(*zariz_emulator::emulate().of(Form::Vex), Mode::Emulated);
    assert_eq!(square_of_three(), EXPECTED);
    assert!(zariz_emulator::statistics().multiplications > 0);
    match case.as_str() {
        "ud2" | "ignored ud2" => {
            ud2();
            unreachable!("UD2 was executed");
        }
        "raise" => {
            raise();
            unreachable!("SIGILL was ignored");
        }
        "ignored raise" => raise(),
        "handler with siginfo" => {
            ud2();
            ud2();
            assert_eq!(CALLS.load(Ordering::Relaxed), 2);
        }
        "plain handler" => ud2(),
        "alarm" => {
            alarms();
            return; // the timer goes on
        }
        _ => unreachable!("{case}"),
    }
    assert_eq!(square_of_three(), EXPECTED);
}
