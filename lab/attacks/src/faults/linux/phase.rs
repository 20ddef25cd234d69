//! The steps of a private operation, as calls of the library's functions tell them.

use anyhow::Result;
use std::fmt::{self, Display, Formatter};

use super::program::Program;

/// What an operation is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Before,
    Mask,
    Masking,
    Powers,
    Together,
    Unmasking,
    Lanes,
    Check,
    Comparison,
    After,
}

/// All of them, in order.
pub const PHASES: [Phase; 10] = {
    use Phase::*;
    [Before, Mask, Masking, Powers, Together, Unmasking, Lanes, Check, Comparison, After]
};

impl Phase {
    /// Whether the padded number has entered, and the last comparison has not begun.
    pub fn is_guarded(self) -> bool {
        !matches!(self, Self::Before | Self::After)
    }
}

impl Display for Phase {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Before => "before entry: hash and padding",
            Self::Mask => "mask: taken, or made",
            Self::Masking => "masking",
            Self::Powers => "powers modulo p and q",
            Self::Together => "halves put together",
            Self::Unmasking => "unmasking",
            Self::Lanes => "in lanes: from masking to unmasking",
            Self::Check => "check: power",
            Self::Comparison => "check: comparison",
            Self::After => "last comparison, and after",
        })
    }
}

/// A function whose calls are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    /// Where an operation begins.
    Sign,
    /// Where the padded numbers are entered.
    Private,
    Product,
    Power,
    PublicPower,
    /// From the mask to the result, in lanes.
    RaiseInLanes,
    /// The check's power, in lanes.
    OpenInLanes,
    Equal,
    /// Where what leaves is compared once more.
    Leave,
}

/// The name of [`Function::Sign`].
pub const SIGN: &str = "zariz::rsa::sign::signatures";
/// The name of [`Function::Equal`].
pub const EQUAL: &str = "zariz_kernels::limbs::equal";

const NAMES: [(Function, &str); 9] = [
    (Function::Sign, SIGN),
    (Function::Private, "zariz::rsa::private_op::blinded"),
    (Function::Product, "zariz::jobs::mul"),
    (Function::Power, "zariz::jobs::pow"),
    (Function::PublicPower, "zariz::jobs::pow_reduced_vartime"),
    (Function::RaiseInLanes, "zariz::rsa::private_op::lanes::raise"),
    (Function::OpenInLanes, "zariz::rsa::private_op::lanes::open_vartime"),
    (Function::Equal, EQUAL),
    (Function::Leave, "zariz::rsa::private_op::leaving::Leaving::leave"),
];

/// The functions in a program's file.
pub fn functions(program: &Program) -> Result<Vec<(Function, u64)>> {
    NAMES.iter().map(|&(function, name)| Ok((function, program.one(name)?))).collect()
}

impl Phase {
    /// The phase that begins with a call of a function. `direct`: the private operation itself calls it.
    pub fn after_call(self, function: Function, direct: bool) -> Self {
        match (function, self) {
            // Of the first batch, or of the next. In between, results are kept and masks are given back.
            (Function::Private, Self::Before | Self::Comparison) => Self::Mask,
            (Function::Product, Self::Mask) if direct => Self::Masking,
            (Function::Power, Self::Masking) => Self::Powers,
            (Function::Product, Self::Powers) => Self::Together,
            (Function::Product, Self::Together) if direct => Self::Unmasking,
            (Function::PublicPower, Self::Unmasking) => Self::Check,
            (Function::RaiseInLanes, Self::Mask) => Self::Lanes,
            (Function::Leave, Self::Comparison) => Self::After,
            _ => self,
        }
    }

    /// The phase that begins when a function returns.
    pub fn after_return(self, function: Function) -> Self {
        match (function, self) {
            (Function::RaiseInLanes, Self::Lanes) => Self::Check,
            (Function::PublicPower | Function::OpenInLanes, Self::Check) => Self::Comparison,
            _ => self,
        }
    }
}
