//! Engines: which machine does the arithmetic.

mod table;

use std::fmt;
use std::str::FromStr;

use zariz_kernels::{limbs, pow};
use zariz_machines::scalar;

use crate::backend::{self, Backend, Power, Single};
use crate::prepared::Prepared;
use table::{Auto, Native, Row, TABLE, leaked};

/// A way to compute: how many numbers at once, and with which instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// The algorithms of the vector machines in 64-bit integer code for any processor, one number at a time.
    Portable,
    #[cfg(feature = "papers")]
    #[doc(hidden)]
    /// One number across a vector, its carries in masks (Zhao et al. 2016), with AVX-512F, else without
    /// vectors. It exists for comparison: [`Dispatch::Auto`](crate::Dispatch::Auto) never chooses it.
    CarryChains,
    /// RSAZ (Gueron and Krasnov 2012): one number across a vector in a redundant radix, with AVX2 and BMI2,
    /// or with NEON on 64-bit Arm.
    Rsaz,
    /// Limbs of 64 bits, for any processor: one number at a time. On 64-bit Arm, in assembly.
    Scalar,
    /// Limbs of 64 bits with MULX, ADCX and ADOX: one number at a time.
    ScalarAdx,
    /// Two numbers at once: one by RSAZ on AVX2, the other in limbs with MULX, ADCX and ADOX, in one stream of
    /// instructions. A number alone is in limbs.
    RsazAdx,
    /// One or two numbers across vectors, with products in double precision on AVX-512F and DQ.
    PairFma,
    /// One or two numbers across vectors, with AVX512-IFMA.
    PairIfma,
    /// AVX2 and FMA: four numbers at once, products in double precision.
    Avx2Fma,
    /// AVX-IFMA: four numbers at once, 52-bit integer products, on processors without AVX-512.
    AvxIfma,
    /// AVX-512F and DQ: eight numbers at once, products in double precision.
    Avx512Fma,
    /// AVX512-IFMA: eight numbers at once, 52-bit integer products.
    Avx512Ifma,
}

/// How an engine lays out the numbers that it computes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// One number in each lane; the value is the number of lanes.
    Lanes(usize),
    /// One or two numbers, not in lanes.
    Pair,
    /// One number at a time.
    Single,
}

/// Why an engine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineError {
    /// No engine has this name.
    Unknown(String),
    /// The processor, or the operating system, lacks the engine's instructions.
    Unavailable(Engine),
    /// The engine computed a wrong result: the processor, its memory or this build is faulty.
    WrongResult(Engine),
}

impl std::error::Error for EngineError {}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "there is no engine named {name:?}; choose auto")?;
                Engine::ALL.iter().try_for_each(|engine| write!(f, ", {engine}"))
            }
            Self::Unavailable(engine) => {
                write!(
                    f,
                    "engine {engine} needs {}, which this processor does not offer",
                    engine.requires()
                )?;
                if !zariz_machines::hidden().is_empty() {
                    write!(f, " or {}={} hides", zariz_machines::HIDE, zariz_machines::hidden().join(","))?;
                }
                write!(f, "; choose auto or {}", Engine::best())
            }
            Self::WrongResult(engine) => {
                write!(
                    f,
                    "engine {engine} fails its self-test: do not use it on this machine, and report this"
                )
            }
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = EngineError;

    /// The engine of that name, whether or not this processor can run it. An unknown name is
    /// [`EngineError::Unknown`].
    fn from_str(name: &str) -> Result<Self, EngineError> {
        let engine = Self::ALL.iter().copied().find(|engine| engine.name() == name);
        engine.ok_or_else(|| EngineError::Unknown(name.to_owned()))
    }
}

impl Engine {
    /// Every engine. With enough work for all its lanes, the last one that a processor can run is the
    /// fastest; on some cores of 64-bit Arm, [`Rsaz`](Self::Rsaz) is.
    pub const ALL: &'static [Self] = &{
        let mut all = [Self::Portable; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            assert!(TABLE[i].engine as usize == i, "rows are in the order of the variants");
            all[i] = TABLE[i].engine;
            i += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The engine's name on the command line and in results.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The fastest engine of this processor when there is enough work for all of its lanes.
    pub fn best() -> Self {
        let last = Self::ALL.iter().copied().rev().find(|engine| engine.is_available());
        match last {
            Some(Self::Scalar) if cfg!(target_arch = "aarch64") && Self::Rsaz.may_be_chosen() => Self::Rsaz,
            last => last.unwrap_or(Self::Portable),
        }
    }

    /// Whether this processor can run the engine.
    pub fn is_available(self) -> bool {
        self.check().is_ok()
    }

    /// Checks that this processor can run the engine.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where the processor lacks its instructions.
    pub fn check(self) -> Result<(), EngineError> {
        self.backend().map(|_| ())
    }

    /// The instruction sets the engine needs, in words.
    pub fn requires(self) -> &'static str {
        self.row().requires
    }

    /// How the engine lays out the numbers that it computes at once.
    #[doc(hidden)]
    pub fn layout(self) -> Layout {
        self.row().layout
    }

    /// How many exponentiations the engine does at once, at most.
    pub fn lanes(self) -> usize {
        match self.layout() {
            Layout::Lanes(lanes) => lanes,
            Layout::Pair => 2,
            Layout::Single => 1,
        }
    }

    /// Whether the engine works on many numbers side by side, one in each lane of its vectors.
    pub fn has_lanes(self) -> bool {
        matches!(self.layout(), Layout::Lanes(_))
    }

    /// Whether the engine uses vector instructions on this processor.
    pub fn uses_vectors(self) -> bool {
        matches!(&self.row().native, Native::Vectors(find) if find().is_some())
    }

    /// Whether the engine may be the cheapest one for few numbers on this processor.
    pub(crate) fn may_be_chosen(self) -> bool {
        match self.row().auto {
            Auto::Never => false,
            Auto::Native => self.row().native.machine().is_some(),
            Auto::Where(says_so) => says_so(),
            Auto::Without(better) => self.is_available() && !better.is_available(),
        }
    }

    /// The engine's machine on this processor.
    pub(crate) fn backend(self) -> Result<&'static dyn Backend, EngineError> {
        let Row { native, portable, .. } = self.row();
        native.machine().or_else(|| portable.map(|machine| machine())).ok_or(EngineError::Unavailable(self))
    }

    /// A machine for numbers of any length: it replaces engines whose length is limited.
    pub(crate) fn of_any_length() -> &'static dyn Backend {
        Self::ScalarAdx.backend().unwrap_or_else(|_| leaked(Single(scalar::Baseline::new())))
    }

    /// Compares the engine's powers, different in every lane, with those of the portable engine. The portable
    /// engine itself is checked by Fermat's theorem modulo `2^521 − 1`.
    ///
    /// # Errors
    /// [`EngineError::WrongResult`] if a result is wrong, [`EngineError::Unavailable`] where the processor
    /// lacks the engine.
    pub fn self_test(self) -> Result<(), EngineError> {
        let portable = Self::Portable.backend()?;
        let mersenne = mersenne_521();
        let exponent: Vec<u64> = [&[u64::MAX - 1], &mersenne[1..]].concat(); // 2^521 − 2
        let fermat = run_one(portable, &mersenne, &[0x1234_5678], &exponent);
        if !limbs::equal(&fermat, &[1]) {
            return Err(EngineError::WrongResult(Self::Portable));
        }

        let backend = self.backend()?;
        let lanes: Vec<(Vec<u64>, Vec<u64>, Vec<u64>)> = (0..backend.lanes() as u64)
            .map(|lane| {
                let word = |i: u64| (i + 17 * lane + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut modulus: Vec<u64> = (0..16).map(word).collect();
                modulus[0] |= 1;
                (modulus, (16..32).map(word).collect(), vec![word(40), u64::MAX, word(41)])
            })
            .collect();
        let moduli: Vec<_> = lanes.iter().map(|(m, _, _)| Prepared::new(m, 1024)).collect();
        let batch: Vec<_> = lanes.iter().zip(&moduli).map(|((_, b, e), c)| power(c, b, e)).collect();
        for compute in [pow::pow, pow::pow_vartime] {
            let results = backend::in_batches(backend, &batch, |power| power.modulus, compute);
            for (result, (modulus, base, exponent)) in results.iter().zip(&lanes) {
                if !limbs::equal(result, &run_one(portable, modulus, base, exponent)) {
                    return Err(EngineError::WrongResult(self));
                }
            }
        }
        Ok(())
    }
}

fn mersenne_521() -> [u64; 9] {
    let mut m = [u64::MAX; 9];
    m[8] = (1 << (521 - 512)) - 1;
    m
}

fn power<'a>(modulus: &'a Prepared, base: &'a [u64], exponent: &'a [u64]) -> Power<'a> {
    Power { modulus, base, base_bits: 64 * base.len(), exponent, exponent_bits: 64 * exponent.len() }
}

fn run_one(backend: &dyn Backend, modulus: &[u64], base: &[u64], exponent: &[u64]) -> limbs::Limbs {
    let modulus = Prepared::new(modulus, 64 * modulus.len());
    let power = power(&modulus, base, exponent);
    limbs::Limbs::new(backend::in_batches(backend, &[power], |power| power.modulus, pow::pow)[0].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for engine in Engine::ALL.iter().copied() {
            assert_eq!(engine.name().parse(), Ok(engine));
            let available =
                if engine.is_available() { Ok(()) } else { Err(EngineError::Unavailable(engine)) };
            assert_eq!(engine.check(), available);
        }
        let error = "sse9".parse::<Engine>().expect_err("no such engine").to_string();
        assert!(error.contains("sse9") && error.contains("avx2-fma"), "{error}");
    }

    #[test]
    fn every_available_engine_passes_its_self_test() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            assert_eq!(engine.self_test(), Ok(()), "{engine}");
        }
    }

    #[test]
    fn engines_say_whether_they_use_vectors() {
        assert!(
            ![Engine::Portable, Engine::Scalar, Engine::ScalarAdx].iter().any(|engine| engine.uses_vectors())
        );
        #[cfg(target_arch = "aarch64")]
        assert!(Engine::Rsaz.uses_vectors());
        #[cfg(target_arch = "x86_64")]
        {
            use zariz_machines::is_hidden;
            let avx2 = is_x86_feature_detected!("avx2") && !is_hidden("avx2");
            assert_eq!(Engine::Rsaz.uses_vectors(), avx2 && is_x86_feature_detected!("bmi2"));
            #[cfg(feature = "papers")]
            {
                let avx512 = avx2 && is_x86_feature_detected!("avx512f") && !is_hidden("avx512");
                assert_eq!(Engine::CarryChains.uses_vectors(), avx512);
            }
        }
        // Engines with more than one lane use vectors.
        for engine in Engine::ALL.iter().filter(|engine| engine.lanes() > 1) {
            assert_eq!(engine.uses_vectors(), engine.is_available(), "{engine}");
        }
    }

    #[test]
    fn engines_state_their_lanes() {
        for engine in Engine::ALL.iter().copied() {
            if let Ok(backend) = engine.backend() {
                assert_eq!(backend.lanes(), engine.lanes());
            }
        }
    }
}
