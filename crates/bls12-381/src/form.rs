//! Ways to multiply one element.

use std::fmt;

use zariz_machines::bls12_381 as field;

use crate::Fp;

/// A way to multiply one element. All forms give the same results; they differ in speed and requirements.
///
/// They follow a paper (NCC Group: *Optimizing Pairing-Based Cryptography: Montgomery Multiplication in
/// Assembly*, 2021), the simplest first. The operators of [`Fp`] use the last one, or [`Flat`](Self::Flat).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// Two nested loops in plain Rust.
    Loops,
    /// Plain Rust without loops: all limbs in registers.
    Flat,
    /// MULX by an intrinsic function.
    Intrinsics,
    /// Assembly with MULX, and two carry chains with ADCX and ADOX.
    Assembly,
}

impl Form {
    /// Every form, in the paper's order.
    pub const ALL: &'static [Self] = &[Self::Loops, Self::Flat, Self::Intrinsics, Self::Assembly];

    /// The form's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loops => "loops",
            Self::Flat => "flat",
            Self::Intrinsics => "intrinsics",
            Self::Assembly => "assembly",
        }
    }

    /// The instruction sets that the form needs, as text.
    pub fn requires(self) -> &'static str {
        match self {
            Self::Loops | Self::Flat => "nothing",
            Self::Intrinsics => "BMI2",
            Self::Assembly => "BMI2 and ADX",
        }
    }

    /// Whether this processor can run the form.
    pub fn is_available(self) -> bool {
        self.multiplier().is_some()
    }

    /// The form's function `a ← a·b`; `None` if the processor lacks what the form needs.
    pub fn multiplier(self) -> Option<fn(&mut Fp, &Fp)> {
        match self {
            Self::Loops => Some(|a, b| a.0 = field::mul_loops(&a.0, &b.0)),
            Self::Flat => Some(|a, b| a.0 = field::mul_flat(&a.0, &b.0)),
            #[cfg(target_arch = "x86_64")]
            Self::Intrinsics => field::Mulx::new().map(|_| intrinsics as fn(&mut Fp, &Fp)),
            #[cfg(target_arch = "x86_64")]
            Self::Assembly => field::Adx::new().map(|_| assembly as fn(&mut Fp, &Fp)),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        }
    }
}

/// A function pointer cannot carry the proof that its instructions exist. It checks again, in less than a
/// nanosecond.
#[cfg(target_arch = "x86_64")]
fn intrinsics(a: &mut Fp, b: &Fp) {
    match field::Mulx::new() {
        Some(mulx) => a.0 = mulx.mul(&a.0, &b.0),
        None => *a *= b,
    }
}

#[cfg(target_arch = "x86_64")]
fn assembly(a: &mut Fp, b: &Fp) {
    match field::Adx::new() {
        Some(adx) => adx.mul_assign(&mut a.0, &b.0),
        None => *a *= b,
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}
