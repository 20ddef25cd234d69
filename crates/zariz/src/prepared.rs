//! A modulus with everything that depends on it alone, for every arithmetic.

use std::fmt;

use once_cell::race::OnceBox;
use zariz_kernels::batch::{self, Method, MethodChoice};
#[cfg(feature = "papers")]
use zariz_kernels::carry;
use zariz_kernels::{OddModulus, limbs, pair, rsaz, scalar};

use crate::declassify;

/// The bits of a digit, of all machines of batches.
const RADICES: [u32; 2] = [51, 52];

/// An odd modulus above 1. The constants of an arithmetic are computed when they are first used, and kept.
///
/// The modulus may be secret: only its length shows in the time taken. Zeroised when dropped.
///
/// Threads that first need one arithmetic's constants at once each compute them, and all keep the first
/// result. So no thread waits for another, and a child of `fork` never waits for a thread that it does not
/// have.
pub(crate) struct Prepared {
    modulus: OddModulus,
    /// The length in bits to make room for: moduli of one `size` share batches.
    size: usize,
    method: MethodChoice,
    /// For digits of each of [`RADICES`].
    batch: [OnceBox<batch::Constants>; RADICES.len()],
    /// For any number of limbs, and for multiples of the longest step.
    scalar: [OnceBox<scalar::Constants>; 2],
    /// For one number, and for two side by side.
    pair: [OnceBox<pair::Constants>; pair::MAX_COUNT],
    #[cfg(feature = "papers")]
    carry: OnceBox<carry::Constants>,
    rsaz: OnceBox<batch::Constants>,
}

impl fmt::Debug for Prepared {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Prepared").field("bits", &self.bits()).finish_non_exhaustive()
    }
}

impl Prepared {
    /// Precondition: the modulus is odd, above 1, and at most `size` bits long.
    pub fn new(modulus: &[u64], size: usize) -> Self {
        let modulus = OddModulus::with_bits(modulus, declassify::modulus_bits(limbs::bits(modulus)));
        debug_assert!(modulus.bits() <= size);
        Self {
            modulus,
            size,
            method: None.into(),
            batch: Default::default(),
            scalar: Default::default(),
            pair: Default::default(),
            #[cfg(feature = "papers")]
            carry: OnceBox::new(),
            rsaz: OnceBox::new(),
        }
    }

    /// A copy of the modulus, with a method of the caller's choice, or the default one.
    pub fn with_method(&self, method: Option<Method>) -> Self {
        Self { method: method.into(), ..Self::new(self.limbs(), self.size) }
    }

    /// The modulus, in `⌈bits/64⌉` limbs.
    pub fn limbs(&self) -> &[u64] {
        self.modulus.limbs()
    }

    pub fn bits(&self) -> usize {
        self.modulus.bits()
    }

    /// The length in bits that arithmetics make room for.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The method of the caller's choice, if any.
    pub fn method(&self) -> Option<Method> {
        self.method.into()
    }

    /// How many digits the modulus has on a vector machine with digits of `digit_bits` bits.
    pub fn digits(&self, digit_bits: u32) -> usize {
        let digits = batch::Constants::digits_for(self.size, digit_bits);
        zariz_machines::batch::digits(self.method(), digits, digit_bits)
    }

    /// The constants for a vector machine with digits of `digit_bits` bits.
    pub fn batch(&self, digit_bits: u32) -> &batch::Constants {
        let place = &self.batch[RADICES.iter().position(|&bits| bits == digit_bits).unwrap_or_default()];
        let constants = place.get_or_init(|| {
            let constants = batch::Constants::new(&self.modulus, digit_bits, self.digits(digit_bits));
            Box::new(match self.method() {
                Some(method) => constants.with_method(method),
                None => constants,
            })
        });
        debug_assert_eq!(constants.digit_bits(), digit_bits);
        constants
    }

    /// The constants for a scalar machine whose lengths are multiples of `step` limbs.
    pub fn scalar(&self, step: usize) -> &scalar::Constants {
        let constants = self.scalar[usize::from(step > 1)]
            .get_or_init(|| Box::new(scalar::Constants::new(&self.modulus, step)));
        debug_assert!(constants.limbs().is_multiple_of(step));
        constants
    }

    /// The constants for `count` numbers across vectors. Precondition: [`pair::Constants::fits`].
    pub fn pair(&self, count: usize) -> &pair::Constants {
        self.pair[count - 1].get_or_init(|| Box::new(pair::Constants::new(&self.modulus, self.size, count)))
    }

    /// The constants for RSAZ. Precondition: at most [`rsaz::MAX_BITS`].
    pub fn rsaz(&self) -> &batch::Constants {
        self.rsaz.get_or_init(|| Box::new(rsaz::constants(&self.modulus)))
    }

    /// The constants for carry chains.
    #[cfg(feature = "papers")]
    pub fn carry(&self) -> &carry::Constants {
        self.carry.get_or_init(|| Box::new(carry::Constants::new(&self.modulus)))
    }
}
