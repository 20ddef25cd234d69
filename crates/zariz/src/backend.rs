//! An engine behind `dyn`: Montgomery arithmetic for some moduli, on a machine that the caller does not name.

use zariz_kernels::batch::{self, Method};
#[cfg(feature = "papers")]
use zariz_kernels::carry;
use zariz_kernels::limbs::Numbers;
#[cfg(target_arch = "x86_64")]
use zariz_kernels::mixed;
use zariz_kernels::place::Pool;
use zariz_kernels::{Montgomery, mul, multi_pow, pair, pow, rsaz, scalar};
use zariz_machines::mxcsr::DefaultMxcsr;

use crate::prepared::Prepared;

/// A power modulo a prepared modulus.
pub(crate) type Power<'a> = pow::Power<'a, Prepared>;
/// A product of powers modulo a prepared modulus.
pub(crate) type MultiPower<'a> = multi_pow::MultiPower<'a, Prepared>;
/// A product modulo a prepared modulus.
pub(crate) type Product<'a> = mul::Product<'a, Prepared>;

/// A machine together with the arithmetic that it runs.
pub(crate) trait Backend: Send + Sync {
    /// How many numbers it works on at once.
    fn lanes(&self) -> usize {
        1
    }
    /// How many numbers it works on at once if they share a table.
    fn lanes_sharing(&self) -> usize {
        self.lanes()
    }
    /// Whether it takes moduli of `bits` bits.
    fn fits(&self, bits: usize) -> bool {
        let _ = bits;
        true
    }
    /// What moduli must have in common to share a batch: digits or limbs. It follows from lengths alone. It
    /// prepares nothing of the modulus for this machine, since another one may do the work.
    fn shape(&self, modulus: &Prepared) -> usize;
    /// The method it computes by. Only vector machines have a choice.
    fn method(&self, modulus: &Prepared) -> Method {
        let _ = modulus;
        Method::AMM
    }
    /// Whether it needs the default floating-point environment: see [`default_mxcsr`].
    fn rounds(&self) -> bool {
        false
    }
    /// Montgomery arithmetic for 1 to [`lanes`](Self::lanes) moduli of one shape and method.
    fn montgomery<'a>(&self, moduli: &[&'a Prepared]) -> Box<dyn Montgomery + 'a>;
}

/// Numbers in the lanes of vectors.
pub(crate) struct Lanes<M>(pub M);

impl<M: batch::Kernels> Backend for Lanes<M> {
    fn lanes(&self) -> usize {
        M::LANES
    }
    fn shape(&self, modulus: &Prepared) -> usize {
        modulus.digits(M::DIGIT_BITS)
    }
    fn method(&self, modulus: &Prepared) -> Method {
        modulus.batch(M::DIGIT_BITS).method_on(self.0)
    }
    fn rounds(&self) -> bool {
        M::ROUNDS
    }
    fn montgomery<'a>(&self, moduli: &[&'a Prepared]) -> Box<dyn Montgomery + 'a> {
        let constants: Vec<_> = moduli.iter().map(|modulus| modulus.batch(M::DIGIT_BITS)).collect();
        Box::new(batch::Context::new(self.0, &constants))
    }
}

/// Numbers one at a time, in limbs.
pub(crate) struct Single<S>(pub S);

impl<S: scalar::Kernels> Backend for Single<S> {
    fn shape(&self, modulus: &Prepared) -> usize {
        modulus.limbs().len().next_multiple_of(S::STEP)
    }
    fn montgomery<'a>(&self, moduli: &[&'a Prepared]) -> Box<dyn Montgomery + 'a> {
        Box::new(scalar::Context::new(self.0, moduli[0].scalar(S::STEP)))
    }
}

/// One number across a vector, or two.
pub(crate) struct Pair<M>(pub M);

impl<M: pair::Kernels> Backend for Pair<M> {
    fn lanes(&self) -> usize {
        pair::MAX_COUNT
    }
    fn lanes_sharing(&self) -> usize {
        1
    }
    fn fits(&self, bits: usize) -> bool {
        pair::Constants::fits(bits)
    }
    fn shape(&self, modulus: &Prepared) -> usize {
        pair::Shape::new(modulus.size(), pair::MAX_COUNT).vectors
    }
    fn montgomery<'a>(&self, moduli: &[&'a Prepared]) -> Box<dyn Montgomery + 'a> {
        let constants: Vec<_> = moduli.iter().map(|modulus| modulus.pair(moduli.len())).collect();
        Box::new(pair::Context::new(self.0, &constants))
    }
}

/// One number across a vector, carries in masks.
#[cfg(feature = "papers")]
pub(crate) struct Carry<M>(pub M);

#[cfg(feature = "papers")]
impl<M: carry::Kernels> Backend for Carry<M> {
    fn shape(&self, modulus: &Prepared) -> usize {
        carry::Constants::words_for(modulus.bits())
    }
    fn montgomery<'a>(&self, moduli: &[&'a Prepared]) -> Box<dyn Montgomery + 'a> {
        Box::new(carry::Context::new(self.0, moduli[0].carry()))
    }
}

/// One number across a vector, in a redundant radix.
pub(crate) struct Rsaz<M>(pub M);

impl<M: rsaz::Kernels> Backend for Rsaz<M> {
    fn fits(&self, bits: usize) -> bool {
        bits <= rsaz::MAX_BITS
    }
    fn shape(&self, modulus: &Prepared) -> usize {
        rsaz::digits_for(modulus.bits(), rsaz::digit_bits_for(modulus.bits()))
    }
    fn montgomery<'a>(&self, moduli: &[&'a Prepared]) -> Box<dyn Montgomery + 'a> {
        Box::new(rsaz::Context::new(self.0, moduli[0].rsaz()))
    }
}

/// Two numbers at once, one across a vector and one in limbs.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Mixed<M>(pub M);

#[cfg(target_arch = "x86_64")]
impl<M: mixed::Kernels> Backend for Mixed<M> {
    fn lanes(&self) -> usize {
        2
    }
    fn lanes_sharing(&self) -> usize {
        1
    }
    fn fits(&self, bits: usize) -> bool {
        bits <= mixed::MAX_BITS
    }
    fn shape(&self, modulus: &Prepared) -> usize {
        Single(self.0.limbs()).shape(modulus)
    }
    /// One number alone is in limbs.
    fn montgomery<'a>(&self, moduli: &[&'a Prepared]) -> Box<dyn Montgomery + 'a> {
        match *moduli {
            [first, second] => {
                let limbs = second.scalar(<M::Limbs as scalar::Kernels>::STEP);
                Box::new(mixed::Context::new(self.0, first.rsaz(), limbs))
            }
            _ => Single(self.0.limbs()).montgomery(moduli),
        }
    }
}

/// The default floating-point environment for a machine that needs it, until the result is dropped. The host
/// program may have another one. Keep it around all batches of a call.
pub(crate) fn default_mxcsr(backend: &dyn Backend) -> DefaultMxcsr {
    DefaultMxcsr::if_needed(backend.rounds())
}

/// Computes jobs in batches of the machine's lanes. Batches leave the memory of their numbers to the next one;
/// consecutive ones with the same moduli share all working space.
pub(crate) fn in_batches<'a, J>(
    backend: &dyn Backend,
    jobs: &[J],
    modulus: impl Fn(&J) -> &'a Prepared,
    compute: impl Fn(&mut dyn Montgomery, &[J]) -> Numbers,
) -> Numbers {
    let _default = default_mxcsr(backend);
    let moduli: Vec<_> = jobs.iter().map(modulus).collect();
    // The results of a single batch stay where they are.
    let (mut out, mut pool) = (Numbers::default(), Pool::default());
    if jobs.len() > backend.lanes() {
        let limbs = moduli.iter().map(|modulus| modulus.limbs().len()).sum();
        out = Numbers::with_capacity(jobs.len(), limbs);
    }
    let mut used: Option<(&[&Prepared], Box<dyn Montgomery + '_>)> = None;
    for (batch, moduli) in jobs.chunks(backend.lanes()).zip(moduli.chunks(backend.lanes())) {
        // To make working space costs one or two squarings.
        let same = |last: &[&Prepared]| {
            last.len() == moduli.len() && last.iter().zip(moduli).all(|(a, b)| std::ptr::eq(*a, *b))
        };
        let last = used.take().filter(|(last, _)| same(last));
        let (_, montgomery) = used.insert(last.unwrap_or_else(|| (moduli, backend.montgomery(moduli))));
        montgomery.swap_pool(&mut pool);
        out.append(compute(&mut **montgomery, batch));
        montgomery.swap_pool(&mut pool);
    }
    out
}

/// The arithmetic of one modulus, for `count` numbers, at most one for each lane.
pub(crate) fn repeated<'a>(
    backend: &dyn Backend,
    modulus: &'a Prepared,
    count: usize,
) -> Box<dyn Montgomery + 'a> {
    backend.montgomery(&vec![modulus; count.clamp(1, backend.lanes())])
}

/// Like [`repeated`], for numbers that share a table.
pub(crate) fn repeated_sharing<'a>(
    backend: &dyn Backend,
    modulus: &'a Prepared,
    count: usize,
) -> Box<dyn Montgomery + 'a> {
    repeated(backend, modulus, count.min(backend.lanes_sharing()))
}
