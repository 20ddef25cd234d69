//! The engines, a row for each.

#[cfg(feature = "papers")]
use zariz_machines::carry;
#[cfg(target_arch = "x86_64")]
use zariz_machines::mixed;
use zariz_machines::{batch, rsaz, scalar};

use super::{Engine, Layout};
#[cfg(feature = "papers")]
use crate::backend::Carry;
#[cfg(target_arch = "x86_64")]
use crate::backend::Mixed;
use crate::backend::{Backend, Lanes, Pair, Rsaz, Single};

/// What there is to know of an engine.
pub struct Row {
    pub engine: Engine,
    /// On the command line and in results.
    pub name: &'static str,
    /// The instruction sets it needs, in words.
    pub requires: &'static str,
    pub layout: Layout,
    pub auto: Auto,
    /// Its machine with special instructions, where this processor has them.
    pub native: Native,
    /// Its machine for any processor, if it has one.
    pub portable: Option<fn() -> &'static dyn Backend>,
}

/// When [`Dispatch::Auto`](crate::Dispatch::Auto) may choose an engine that is not the best of all for many
/// numbers.
pub enum Auto {
    Never,
    /// Where the processor has its special instructions.
    Native,
    /// Where that function says so.
    Where(fn() -> bool),
    /// Where the processor cannot run that engine, which is better with as many numbers.
    Without(Engine),
}

/// What looks for a machine, by the kind of its instructions.
pub enum Native {
    None,
    Limbs(fn() -> Option<&'static dyn Backend>),
    Vectors(fn() -> Option<&'static dyn Backend>),
}

impl Native {
    pub fn machine(&self) -> Option<&'static dyn Backend> {
        match self {
            Self::None => None,
            Self::Limbs(find) | Self::Vectors(find) => find(),
        }
    }
}

/// A function that looks for a machine that only x86-64 has.
macro_rules! find {
    ($machine:expr) => {{
        #[cfg(target_arch = "x86_64")]
        fn find() -> Option<&'static dyn Backend> {
            $machine.map(leaked)
        }
        #[cfg(not(target_arch = "x86_64"))]
        fn find() -> Option<&'static dyn Backend> {
            None
        }
        find
    }};
}

#[allow(unreachable_code)] // where one of these returned
fn find_rsaz() -> Option<&'static dyn Backend> {
    #[cfg(target_arch = "x86_64")]
    return rsaz::Avx2::new().map(Rsaz).map(leaked);
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    return Some(leaked(Rsaz(rsaz::Neon::new())));
    None
}

impl Row {
    const fn new(
        engine: Engine,
        name: &'static str,
        requires: &'static str,
        layout: Layout,
        auto: Auto,
    ) -> Self {
        Self { engine, name, requires, layout, auto, native: Native::None, portable: None }
    }

    const fn native(mut self, native: Native) -> Self {
        self.native = native;
        self
    }

    const fn portable(mut self, machine: fn() -> &'static dyn Backend) -> Self {
        self.portable = Some(machine);
        self
    }
}

const NOTHING: &str = "nothing";
const AVX512: &str = "AVX-512F and AVX-512DQ";
const IFMA: &str = "AVX-512F, AVX-512DQ and AVX512-IFMA";

/// In the order of [`Engine`]'s variants. Of those that a processor can run, the last is the best for many
/// numbers, or `rsaz` where [`Engine::best`] says so.
pub static TABLE: &[Row] = &[
    Row::new(Engine::Portable, "portable", NOTHING, Layout::Lanes(1), Auto::Never)
        .portable(|| leaked(Lanes(batch::Portable::<1>::new()))),
    #[cfg(feature = "papers")]
    Row::new(Engine::CarryChains, "carry-chains", NOTHING, Layout::Single, Auto::Never)
        .native(Native::Vectors(find!(carry::Avx512::new().map(Carry))))
        .portable(|| leaked(Carry(carry::Portable::new()))),
    #[cfg(not(feature = "papers"))]
    Row::new(
        Engine::Rsaz,
        "rsaz",
        "AVX2 and BMI2, or 64-bit Arm",
        Layout::Single,
        Auto::Where(rsaz::is_fast),
    )
    .native(Native::Vectors(find_rsaz)),
    #[cfg(feature = "papers")]
    Row::new(Engine::Rsaz, "rsaz", NOTHING, Layout::Single, Auto::Where(rsaz::is_fast))
        .native(Native::Vectors(find_rsaz))
        .portable(|| leaked(Rsaz(rsaz::Portable::new()))),
    Row::new(Engine::Scalar, "scalar", NOTHING, Layout::Single, Auto::Without(Engine::ScalarAdx))
        .portable(|| leaked(Single(scalar::Baseline::new()))),
    Row::new(Engine::ScalarAdx, "scalar-adx", "BMI2 and ADX", Layout::Single, Auto::Native)
        .native(Native::Limbs(find!(scalar::Adx::new().map(Single)))),
    // On an Intel processor it is slower while the core's other thread is busy; AMD's were not measured.
    Row::new(Engine::RsazAdx, "rsaz-adx", "AVX2, BMI2 and ADX", Layout::Pair, Auto::Never)
        .native(Native::Vectors(find!(mixed::RsazAdx::new().map(Mixed)))),
    Row::new(Engine::PairFma, "pair-fma", AVX512, Layout::Pair, Auto::Without(Engine::PairIfma))
        .native(Native::Vectors(find!(batch::Avx512Fma::new().map(Pair)))),
    Row::new(Engine::PairIfma, "pair-ifma", IFMA, Layout::Pair, Auto::Native)
        .native(Native::Vectors(find!(batch::Avx512Ifma::new().map(Pair)))),
    Row::new(Engine::Avx2Fma, "avx2-fma", "AVX2 and FMA", Layout::Lanes(4), Auto::Without(Engine::AvxIfma))
        .native(Native::Vectors(find!(batch::Avx2Fma::new().map(Lanes)))),
    Row::new(
        Engine::AvxIfma,
        "avx-ifma",
        "AVX2 and AVX-IFMA",
        Layout::Lanes(4),
        Auto::Without(Engine::Avx512Ifma),
    )
    .native(Native::Vectors(find!(batch::AvxIfma::new().map(Lanes)))),
    Row::new(Engine::Avx512Fma, "avx512-fma", AVX512, Layout::Lanes(8), Auto::Without(Engine::Avx512Ifma))
        .native(Native::Vectors(find!(batch::Avx512Fma::new().map(Lanes)))),
    Row::new(Engine::Avx512Ifma, "avx512-ifma", IFMA, Layout::Lanes(8), Auto::Native)
        .native(Native::Vectors(find!(batch::Avx512Ifma::new().map(Lanes)))),
];

/// A machine for the life of the process: it has no size, so nothing is allocated.
pub fn leaked<B: Backend + 'static>(machine: B) -> &'static dyn Backend {
    const { assert!(size_of::<B>() == 0) };
    Box::leak(Box::new(machine))
}
