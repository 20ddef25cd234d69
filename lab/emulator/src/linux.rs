//! The emulator on Linux, x86-64.

use std::arch::x86_64::{
    _mm256_madd52lo_avx_epu64, _mm256_set1_epi64x, _mm512_madd52lo_epu64, _mm512_set1_epi64,
};
use std::hint::black_box;

use zariz_machines::batch::{Avx512Ifma, AvxIfma};

use crate::form::Form;
pub use crate::handler::{Statistics, statistics};
use crate::mode::{Mode, Modes, Plan, hidden, plan};
use crate::{handler, patch, scan, sites};

/// Decides and installs, once in a process.
pub fn install(asked: bool) -> Modes {
    let hidden = hidden();
    let plan = |form: Form| plan(form.has_vectors(), form.is_announced() && !hidden, asked);
    let mut prepared = None;
    Modes::new(|form| {
        let plan = plan(form);
        match plan {
            Plan::Native => return Mode::Native,
            Plan::NoVectors => {
                return Mode::Unavailable(format!(
                    "the processor lacks {}, which are not emulated",
                    form.vectors()
                ));
            }
            Plan::Overwritten | Plan::Refused => {}
        }
        let Prepared { found, handler } = prepared.get_or_insert_with(prepare);
        let result = handler.clone().and_then(|()| match plan {
            // SAFETY: the sites come from this program's file (and are compared with memory), and the handler
            // is installed.
            Plan::Overwritten => found.clone().and_then(|()| unsafe { patch::overwrite(form) }),
            _ => emulate_traps(form, found),
        });
        result.map_or_else(Mode::Unavailable, |()| Mode::Emulated)
    })
}

/// What both forms need.
struct Prepared {
    /// Whether every VPMADD52 of this program is known.
    found: Result<(), String>,
    handler: Result<(), String>,
}

fn prepare() -> Prepared {
    let found = scan::running_program().map(|found| sites::add(patch::sites(found)));
    Prepared { found, handler: handler::install() }
}

/// Emulates the traps of a processor without the instructions; the handler is installed.
fn emulate_traps(form: Form, found: &Result<(), String>) -> Result<(), String> {
    // The sites serve to count; without them the emulation is the same.
    if let Err(reason) = found {
        eprintln!("emulated instructions are not counted: {reason}");
    }
    if !traps(form) {
        // The processor has the instructions, and only its flags do not say so, as in some virtual machines.
        // SAFETY: the sites come from this program's file (and are compared with memory), and the handler is
        // installed.
        unsafe { patch::overwrite(form) }?;
    }
    match form {
        // SAFETY: the handler is installed, and executes these instructions in every thread.
        Form::Evex => unsafe { Avx512Ifma::assume_vpmadd52() },
        // SAFETY: the same.
        Form::Vex => unsafe { AvxIfma::assume_vpmadd52() },
    }
    Ok(())
}

/// Whether the processor refuses VPMADD52 of this form, or this program's are overwritten: tried, with the
/// handler installed.
fn traps(form: Form) -> bool {
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline(never)]
    fn multiply_eight() {
        let three = _mm512_set1_epi64(black_box(3));
        black_box(_mm512_madd52lo_epu64(three, three, three));
    }
    #[target_feature(enable = "avx2,avxifma")]
    #[inline(never)]
    fn multiply_four() {
        let three = _mm256_set1_epi64x(black_box(3));
        black_box(_mm256_madd52lo_avx_epu64(three, three, three));
    }
    let before = statistics().traps;
    match form {
        // SAFETY: AVX-512F was detected; VPMADD52 is executed by the processor or by the handler.
        Form::Evex => unsafe { multiply_eight() },
        // SAFETY: AVX2 was detected; VPMADD52 is executed by the processor or by the handler.
        Form::Vex => unsafe { multiply_four() },
    }
    statistics().traps > before
}
