//! Whether and how to emulate: by the processor, and by the environment.

use crate::form::Form;

/// The environment variable for emulation where the processor needs none: `1`. With `hidden`, the processor
/// is taken for one whose flags do not show what it has.
pub const VARIABLE: &str = "ZARIZ_EMULATE_IFMA";

/// See [`VARIABLE`].
const HIDDEN: &str = "hidden";

/// What [`install`](crate::install) has decided, for each form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes([Mode; 2]);

impl Modes {
    /// Decides for each form.
    pub(crate) fn new(decide: impl FnMut(Form) -> Mode) -> Self {
        Self(Form::ALL.map(decide))
    }

    /// What was decided for a form.
    pub fn of(&self, form: Form) -> &Mode {
        &self.0[form as usize]
    }
}

/// What was decided for one form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The processor has the instructions, and the environment does not request emulation: they are left
    /// alone.
    Native,
    /// Every VPMADD52 of this form in this program traps and is emulated.
    Emulated,
    /// There is no emulation here, and why. The processor may yet have the instructions.
    Unavailable(String),
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing: the processor does it.
    Native,
    /// The processor refuses the instructions; the handler emulates them.
    Refused,
    /// The processor has the instructions; they are overwritten by one that it refuses.
    Overwritten,
    /// Nothing: the vectors themselves are missing.
    NoVectors,
}

/// Decides for one form. `vectors`: those that it needs, which are never emulated.
pub(crate) fn plan(vectors: bool, ifma: bool, asked: bool) -> Plan {
    match (vectors, ifma, asked) {
        (false, ..) => Plan::NoVectors,
        (true, false, _) => Plan::Refused,
        (true, true, false) => Plan::Native,
        (true, true, true) => Plan::Overwritten,
    }
}

/// Whether the environment requests emulation.
pub(crate) fn asked() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether the environment hides what the processor has.
pub(crate) fn hidden() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == HIDDEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emulation_is_for_those_who_need_or_ask() {
        assert_eq!(plan(true, true, false), Plan::Native);
        assert_eq!(plan(true, true, true), Plan::Overwritten);
        for asked in [false, true] {
            assert_eq!(plan(true, false, asked), Plan::Refused);
            assert_eq!([false, true].map(|ifma| plan(false, ifma, asked)), [Plan::NoVectors; 2]);
        }
    }
}
