//! No emulator: not Linux, or not x86-64.

use crate::mode::{Mode, Modes};

/// What the handler has done in this process: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Signals that the handler has emulated.
    pub traps: u64,
    /// VPMADD52 instructions emulated.
    pub multiplications: u64,
    /// Other instructions between them emulated.
    pub others: u64,
}

/// What was done so far.
pub fn statistics() -> Statistics {
    Statistics::default()
}

/// Says that there is no emulator.
pub fn install(asked: bool) -> Modes {
    let _ = (asked, crate::mode::plan, crate::form::Form::vectors);
    Modes::new(|_| Mode::Unavailable("the emulator is for Linux on x86-64".into()))
}
