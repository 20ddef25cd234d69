//! Two numbers at once: RSAZ on AVX2, and limbs with MULX, ADCX and ADOX. Numbers of other lengths than
//! primes of the usual keys are computed one after the other.

use zariz_kernels::mixed::Kernels;
use zariz_kernels::rsaz::{self, Kernels as _, Quotients, Workspace, steps_of_multiply, steps_of_square};

use crate::rsaz::Avx2;
use crate::scalar::{Adx, List, Running, Steps};

/// Proof that the processor has AVX2, BMI2 and ADX.
#[derive(Clone, Copy, Debug)]
pub struct RsazAdx(Avx2, Adx);

impl RsazAdx {
    /// The machine, if the processor (and the operating system) has it.
    pub fn new() -> Option<Self> {
        Some(Self(Avx2::new()?, Adx::new()?))
    }

    /// The machine, for tools that run the instructions without announcing them.
    ///
    /// # Safety
    /// The processor, or an emulator in its place, has BMI2 and ADX.
    #[doc(hidden)]
    pub unsafe fn assume(vectors: Avx2) -> Self {
        // SAFETY: the caller's.
        Self(vectors, unsafe { Adx::assume() })
    }
}

mod entry_points {
    use super::*;

    #[target_feature(enable = "avx2,bmi2,adx")]
    #[inline(never)]
    pub(super) fn multiply<const M: u32, const FRIENDLY: bool, const G: usize>(
        w: Avx2,
        space: &mut Workspace<Avx2>,
        x: &mut [u32],
        y: &[u32],
        list: &mut List,
    ) {
        rsaz::multiply::<Avx2, M, FRIENDLY, G>(w, space, x, y, &mut Running::new(list));
    }

    #[target_feature(enable = "avx2,bmi2,adx")]
    #[inline(never)]
    pub(super) fn square<const M: u32, const FRIENDLY: bool, const G: usize>(
        w: Avx2,
        space: &mut Workspace<Avx2>,
        x: &mut [u32],
        times: usize,
        list: &mut List,
    ) {
        rsaz::square::<Avx2, M, FRIENDLY, G>(w, space, x, times, &mut Running::new(list));
    }
}

/// The code for a working space's radix and fours of digits: for 1024, 1536 and 2048 bits.
macro_rules! choose {
    ($kernel:ident $space:ident) => {
        match ($space.quotients(), $space.digit_bits(), $space.groups()) {
            (Quotients::Friendly, 29, 9) => Some(entry_points::$kernel::<29, true, 9>),
            (Quotients::Friendly, 28, 14) => Some(entry_points::$kernel::<28, true, 14>),
            (Quotients::Friendly, 28, 19) => Some(entry_points::$kernel::<28, true, 19>),
            _ => None,
        }
    };
}

impl Kernels for RsazAdx {
    type Vectors = Avx2;
    type Limbs = Adx;
    type Steps = Steps;

    fn vectors(self) -> Avx2 {
        self.0
    }
    fn limbs(self) -> Adx {
        self.1
    }

    fn steps(self, m: &[u64], mu: u64, groups: usize) -> Steps {
        Steps::new(self.1, m, mu, steps_of_multiply(groups), steps_of_square(groups))
    }

    fn multiply(
        self,
        space: &mut Workspace<Avx2>,
        x: &mut [u32],
        y: &[u32],
        steps: &mut Steps,
        a: &mut [u64],
        b: &[u64],
    ) {
        let kernel: Option<unsafe fn(_, &mut _, &mut _, &_, &mut _)> = choose!(multiply space);
        steps.load(a, b);
        match kernel {
            // SAFETY: `self` proves that the processor has the target features.
            Some(kernel) => unsafe { kernel(self.0, space, x, y, &mut steps.multiply) },
            None => {
                self.0.multiply(space, x, y);
                steps.multiply.run();
            }
        }
        steps.result(a);
    }

    fn square(
        self,
        space: &mut Workspace<Avx2>,
        x: &mut [u32],
        times: usize,
        steps: &mut Steps,
        a: &mut [u64],
    ) {
        let kernel: Option<unsafe fn(_, &mut _, &mut _, _, &mut _)> = choose!(square space);
        steps.load(a, &[]);
        match kernel {
            // SAFETY: `self` proves that the processor has the target features.
            Some(kernel) => unsafe { kernel(self.0, space, x, times, &mut steps.square) },
            None => {
                self.0.square(space, x, times);
                (0..times).for_each(|_| steps.square.run());
            }
        }
        steps.result(a);
    }
}
