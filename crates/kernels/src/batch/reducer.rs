//! Reductions by every method.

use alloc::boxed::Box;

use super::bias::Bias;
use super::constants::Constants;
use super::interleaved::Interleaved;
use super::kernels::{Kernels, load};
use super::method::Reduction;
#[cfg(feature = "papers")]
use super::separated::Separated;
use super::tiled::{STEP, Tiled};

/// A reduction: it adds multiples of the modulus to a product, to make it divisible by `R` or by another
/// power of `2^w`.
///
/// Variants are in boxes. Otherwise, a move of a short one would copy as many bytes as the longest has, the
/// rest of them from the stack, where digits may be.
pub(crate) enum Reducer<M: Kernels> {
    Interleaved(Box<Interleaved<M>>),
    Tiled(Box<Tiled<M>>),
    #[cfg(feature = "papers")]
    Separated(Box<Separated<M>>),
}

impl<M: Kernels> Reducer<M> {
    /// For a modulus in each lane.
    pub fn new(machine: M, reduction: Reduction, lanes: &[&Constants]) -> Self {
        let l = lanes[0].digits();
        let load = |count, digits: &dyn for<'c> Fn(&'c Constants) -> &'c [u64]| {
            load(machine, count, |lane| digits(lanes[lane]))
        };
        let modulus = load(l, &|c| &c.digits);
        match reduction {
            Reduction::Interleaved => {
                let friendly = load(l, &|c| if M::TWO_ROWS { &c.friendly_pair } else { &c.friendly });
                let mu = load(1, &|c| &c.mu[..1]);
                Self::Interleaved(Box::new(Interleaved::new(machine, modulus, friendly, mu)))
            }
            Reduction::Tiled => {
                let (friendly, mu) = (load(l, &|c| &c.friendly_tile), load(STEP, &|c| &c.mu[..STEP]));
                Self::Tiled(Box::new(Tiled::new(machine, modulus, friendly, mu)))
            }
            #[cfg(feature = "papers")]
            Reduction::Separated { levels, truncated } => {
                let inverse = load(l, &|c| &c.inverse);
                Self::Separated(Box::new(Separated::new(machine, modulus, inverse, levels, truncated)))
            }
        }
    }

    /// `bias`, plus that which a reduction of `l` digits by `rows` rows adds to the number's own columns.
    pub fn bias(reduction: Reduction, bias: Bias<M>, rows: usize, l: usize) -> Bias<M> {
        match reduction {
            Reduction::Interleaved => Interleaved::bias(bias, rows, l),
            Reduction::Tiled => Tiled::bias(bias, rows, l),
            #[cfg(feature = "papers")]
            Reduction::Separated { .. } => bias,
        }
    }

    /// The moduli.
    pub fn modulus(&self) -> &[M::Digit] {
        match self {
            Self::Interleaved(reduction) => &reduction.modulus,
            Self::Tiled(reduction) => &reduction.modulus,
            #[cfg(feature = "papers")]
            Self::Separated(reduction) => &reduction.modulus,
        }
    }

    /// Reduces `columns` by `rows` digits and normalises those above them. Separated reductions always reduce
    /// by all digits.
    pub fn reduce(&mut self, columns: &mut [M::Column], rows: usize, out: &mut [M::Digit]) {
        match self {
            Self::Interleaved(reduction) => reduction.reduce(columns, rows, out),
            Self::Tiled(reduction) => reduction.reduce(columns, rows, out),
            #[cfg(feature = "papers")]
            Self::Separated(reduction) => {
                debug_assert_eq!(rows, out.len());
                reduction.reduce(columns, out);
            }
        }
    }
}
