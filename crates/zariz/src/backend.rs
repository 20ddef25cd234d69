//! A machine behind a `dyn` interface: whole batches in, canonical numbers out.

pub(crate) mod counts;
mod form;
#[cfg(feature = "rsa")]
mod private;
mod table;

use zariz_kernels::batch::{self, Method};
#[cfg(feature = "papers")]
use zariz_kernels::carry;
use zariz_kernels::fixed_base::{self, Access};
use zariz_kernels::limbs::{Limbs, Numbers};
use zariz_kernels::{Domain, Shared, invert, mul, multi_pow, pair, pow, rsaz, scalar};

pub(crate) use form::MontgomeryForm;
#[cfg(feature = "rsa")]
pub(crate) use private::{KeyNumbers, PrivateOperations};

use crate::prepared::Prepared;
use form::InDomain;
pub(crate) use table::PowerTable;
use table::TableOf;

/// A power modulo a prepared modulus.
pub(crate) type Power<'a> = pow::Power<'a, Prepared>;
/// A product of powers modulo a prepared modulus.
pub(crate) type MultiPower<'a> = multi_pow::MultiPower<'a, Prepared>;
/// A product modulo a prepared modulus.
pub(crate) type Product<'a> = mul::Product<'a, Prepared>;

/// What the library needs from a machine. Jobs of one call are of one size and method; there may be any number.
pub(crate) trait Backend: Sync {
    /// How many jobs the machine computes at once.
    fn lanes(&self) -> usize;
    /// Whether the machine takes moduli of `bits` bits.
    fn fits(&self, bits: usize) -> bool;
    /// What moduli must have in common to share a batch: digits or limbs. It follows from lengths alone. It
    /// prepares nothing of the modulus for this machine, since another one may do the work.
    fn shape(&self, modulus: &Prepared) -> usize;
    fn method(&self, modulus: &Prepared) -> Method;
    fn pow(&self, jobs: &[Power]) -> Numbers;
    /// Powers of 2: every base is 2.
    #[cfg(feature = "primes")]
    fn pow_of_two(&self, jobs: &[Power]) -> Numbers;
    fn pow_vartime(&self, jobs: &[Power]) -> Numbers;
    /// Of bases below their moduli.
    #[cfg(feature = "rsa")]
    fn pow_reduced_vartime(&self, jobs: &[Power]) -> Numbers;
    /// All have equally many bases.
    fn multi_pow(&self, jobs: &[MultiPower]) -> Numbers;
    fn multi_pow_vartime(&self, jobs: &[MultiPower]) -> Numbers;
    fn mul(&self, jobs: &[Product]) -> Numbers;
    /// Private operations with a key in each lane; `None` where the machine does not have one in each lane, or the
    /// keys cannot share a batch.
    #[cfg(feature = "rsa")]
    fn private<'a>(&self, keys: &[KeyNumbers<'a>]) -> Option<Box<dyn PrivateOperations + 'a>>;
    /// Brings numbers of at most `bits` bits into Montgomery's domain.
    fn enter<'a>(&self, moduli: &[&'a Prepared], numbers: &[&[u64]], bits: usize) -> Box<dyn MontgomeryForm + 'a>;
    /// Any number of numbers of at most `bits` bits and one modulus, with one call of `inverse`, which gets a
    /// number below the modulus. `None` where that returns `None`.
    fn invert(
        &self,
        modulus: &Prepared,
        numbers: &[&[u64]],
        bits: usize,
        inverse: &dyn Fn(&[u64]) -> Option<Limbs>,
    ) -> Option<Numbers>;
    /// How many windows a table of a base's powers has, for exponents of `bits` bits; `None` if it cannot do
    /// with `most` bytes.
    fn table_size(&self, modulus: &Prepared, bits: usize, access: Access, most: usize) -> Option<fixed_base::Size>;
    /// The table of a base of at most `base_bits` bits.
    fn table(&self, modulus: &Prepared, base: &[u64], base_bits: usize, size: fixed_base::Size) -> Box<dyn PowerTable>;
}

/// A machine together with the arithmetic it runs.
pub(crate) trait Arithmetic: Copy + Send + Sync + 'static {
    /// What it needs of a modulus.
    type Constants;
    /// An element of its numbers.
    type Word: Copy + Send + Sync + 'static;
    /// An element of the tables that its numbers share.
    type Element: Copy + Send + Sync + 'static;
    /// Numbers of some moduli.
    type Domain<'a>: Domain<Word = Self::Word> + Shared<Element = Self::Element> + Send + Sync + 'a;

    /// What it needs of a modulus in a domain of `count` moduli.
    fn constants(self, modulus: &Prepared, count: usize) -> &Self::Constants;
    /// A domain of 1 to [`lanes`](Self::lanes) moduli.
    fn domain<'a>(self, moduli: &[&'a Self::Constants]) -> Self::Domain<'a>;
    /// How many numbers the machine works on at once.
    fn lanes(self) -> usize {
        1
    }
    /// How many numbers it works on at once if they share a table.
    fn lanes_sharing(self) -> usize {
        self.lanes()
    }
    /// Whether the machine takes moduli of `bits` bits.
    fn fits(self, bits: usize) -> bool {
        let _ = bits;
        true
    }
    /// What moduli must have in common to share a batch.
    fn shape(self, modulus: &Prepared) -> usize;
    /// Runs `work`, which computes on the machine, in the floating-point environment that the machine needs,
    /// then restores the caller's. Called once for all batches of a call; private operations call it at each step.
    fn held<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
    /// Private operations, see [`Backend::private`].
    #[cfg(feature = "rsa")]
    fn private<'a>(self, keys: &[KeyNumbers<'a>]) -> Option<Box<dyn PrivateOperations + 'a>> {
        let _ = keys;
        None
    }
    /// The method it computes by. Only vector machines have a choice.
    fn method(self, modulus: &Prepared) -> Method {
        let _ = modulus;
        Method::AMM
    }
}

/// Numbers in the lanes of vectors.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<M>(pub M);

impl<M: batch::Kernels> Arithmetic for Lanes<M> {
    type Constants = batch::Constants;
    type Word = M::Digit;
    type Element = u64;
    type Domain<'a> = batch::Domain<'a, M>;

    fn constants(self, modulus: &Prepared, _: usize) -> &batch::Constants {
        modulus.batch(M::DIGIT_BITS)
    }
    fn domain<'a>(self, moduli: &[&'a batch::Constants]) -> batch::Domain<'a, M> {
        batch::Domain::new(self.0, moduli)
    }
    fn lanes(self) -> usize {
        M::LANES
    }
    fn shape(self, modulus: &Prepared) -> usize {
        modulus.digits(M::DIGIT_BITS)
    }
    fn held<R>(self, work: impl FnOnce() -> R) -> R {
        self.0.held(work)
    }
    fn method(self, modulus: &Prepared) -> Method {
        self.constants(modulus, M::LANES).method_on(self.0)
    }
    #[cfg(feature = "rsa")]
    fn private<'a>(self, keys: &[KeyNumbers<'a>]) -> Option<Box<dyn PrivateOperations + 'a>> {
        private::in_lanes(self, keys)
    }
}

/// Numbers one at a time, in limbs.
#[derive(Clone, Copy)]
pub(crate) struct Single<S>(pub S);

impl<S: scalar::Kernels> Arithmetic for Single<S> {
    type Constants = scalar::Constants;
    type Word = u64;
    type Element = u64;
    type Domain<'a> = scalar::Domain<'a, S>;

    fn constants(self, modulus: &Prepared, _: usize) -> &scalar::Constants {
        modulus.scalar(S::STEP)
    }
    fn domain<'a>(self, moduli: &[&'a scalar::Constants]) -> scalar::Domain<'a, S> {
        scalar::Domain::new(self.0, moduli[0])
    }
    fn shape(self, modulus: &Prepared) -> usize {
        modulus.limbs().len().next_multiple_of(S::STEP)
    }
}

/// One number across a vector, or two.
#[derive(Clone, Copy)]
pub(crate) struct Pair<M>(pub M);

impl<M: pair::Kernels> Arithmetic for Pair<M> {
    type Constants = pair::Constants;
    type Word = M::Vector;
    type Element = M::Vector;
    type Domain<'a> = pair::Domain<'a, M>;

    fn constants(self, modulus: &Prepared, count: usize) -> &pair::Constants {
        modulus.pair(count)
    }
    fn domain<'a>(self, moduli: &[&'a pair::Constants]) -> pair::Domain<'a, M> {
        pair::Domain::new(self.0, moduli)
    }
    fn lanes(self) -> usize {
        pair::MAX_COUNT
    }
    fn lanes_sharing(self) -> usize {
        1
    }
    fn fits(self, bits: usize) -> bool {
        pair::Constants::fits(bits)
    }
    fn shape(self, modulus: &Prepared) -> usize {
        pair::Shape::new(modulus.size(), pair::MAX_COUNT).vectors
    }
}

/// One number across a vector, carries in masks.
#[cfg(feature = "papers")]
#[derive(Clone, Copy)]
pub(crate) struct Carry<M>(pub M);

#[cfg(feature = "papers")]
impl<M: carry::Kernels> Arithmetic for Carry<M> {
    type Constants = carry::Constants;
    type Word = carry::Digits;
    type Element = carry::Digits;
    type Domain<'a> = carry::Domain<'a, M>;

    fn constants(self, modulus: &Prepared, _: usize) -> &carry::Constants {
        modulus.carry()
    }
    fn domain<'a>(self, moduli: &[&'a carry::Constants]) -> carry::Domain<'a, M> {
        carry::Domain::new(self.0, moduli[0])
    }
    fn shape(self, modulus: &Prepared) -> usize {
        carry::Constants::words_for(modulus.bits())
    }
}

/// One number across a vector, in a redundant radix.
#[derive(Clone, Copy)]
pub(crate) struct Rsaz<M>(pub M);

impl<M: rsaz::Kernels> Arithmetic for Rsaz<M> {
    type Constants = batch::Constants;
    type Word = M::Digit;
    type Element = M::Digit;
    type Domain<'a> = rsaz::Domain<'a, M>;

    fn constants(self, modulus: &Prepared, _: usize) -> &batch::Constants {
        modulus.rsaz()
    }
    fn domain<'a>(self, moduli: &[&'a batch::Constants]) -> rsaz::Domain<'a, M> {
        rsaz::Domain::new(self.0, moduli[0])
    }
    fn fits(self, bits: usize) -> bool {
        bits <= rsaz::MAX_BITS
    }
    fn shape(self, modulus: &Prepared) -> usize {
        rsaz::digits_for(modulus.bits(), rsaz::digit_bits_for(modulus.bits()))
    }
}

impl<A: Arithmetic> Backend for A {
    fn lanes(&self) -> usize {
        Arithmetic::lanes(*self)
    }
    fn fits(&self, bits: usize) -> bool {
        Arithmetic::fits(*self, bits)
    }
    fn shape(&self, modulus: &Prepared) -> usize {
        Arithmetic::shape(*self, modulus)
    }
    fn method(&self, modulus: &Prepared) -> Method {
        Arithmetic::method(*self, modulus)
    }
    fn pow(&self, jobs: &[Power]) -> Numbers {
        counts::powers(jobs.len());
        in_batches(*self, jobs, pow::moduli, pow::pow)
    }
    #[cfg(feature = "primes")]
    fn pow_of_two(&self, jobs: &[Power]) -> Numbers {
        counts::powers(jobs.len());
        in_batches(*self, jobs, pow::moduli, pow::pow_of_two)
    }
    fn pow_vartime(&self, jobs: &[Power]) -> Numbers {
        in_batches(*self, jobs, pow::moduli, pow::pow_vartime)
    }
    #[cfg(feature = "rsa")]
    fn pow_reduced_vartime(&self, jobs: &[Power]) -> Numbers {
        in_batches(*self, jobs, pow::moduli, pow::pow_reduced_vartime)
    }
    fn multi_pow(&self, jobs: &[MultiPower]) -> Numbers {
        in_batches(*self, jobs, multi_pow::moduli, multi_pow::multi_pow)
    }
    fn multi_pow_vartime(&self, jobs: &[MultiPower]) -> Numbers {
        in_batches(*self, jobs, multi_pow::moduli, multi_pow::multi_pow_vartime)
    }
    fn mul(&self, jobs: &[Product]) -> Numbers {
        counts::products(jobs.len());
        in_batches(*self, jobs, mul::moduli, mul::mul)
    }
    #[cfg(feature = "rsa")]
    fn private<'a>(&self, keys: &[KeyNumbers<'a>]) -> Option<Box<dyn PrivateOperations + 'a>> {
        Arithmetic::private(*self, keys)
    }
    fn enter<'a>(&self, moduli: &[&'a Prepared], numbers: &[&[u64]], bits: usize) -> Box<dyn MontgomeryForm + 'a> {
        counts::products(moduli.len());
        Box::new(self.held(|| InDomain::new(*self, moduli, numbers, bits)))
    }
    fn invert(
        &self,
        modulus: &Prepared,
        numbers: &[&[u64]],
        bits: usize,
        inverse: &dyn Fn(&[u64]) -> Option<Limbs>,
    ) -> Option<Numbers> {
        self.held(|| invert::invert(repeated(*self, modulus, numbers.len()), numbers, bits, inverse))
    }
    fn table_size(&self, modulus: &Prepared, bits: usize, access: Access, most: usize) -> Option<fixed_base::Size> {
        fixed_base::size(&repeated_sharing(*self, modulus, 1), bits, access, most)
    }
    fn table(&self, modulus: &Prepared, base: &[u64], base_bits: usize, size: fixed_base::Size) -> Box<dyn PowerTable> {
        Box::new(self.held(|| TableOf::new(*self, modulus, base, base_bits, size)))
    }
}

fn domain<'a, A: Arithmetic>(machine: A, moduli: &[&'a Prepared]) -> A::Domain<'a> {
    let constants: Vec<&'a A::Constants> =
        moduli.iter().map(|modulus| machine.constants(modulus, moduli.len())).collect();
    machine.domain(&constants)
}

/// Computes jobs in batches of at most as many as the machine has lanes. Batches of the same moduli in a row share a
/// domain.
fn in_batches<'a, A: Arithmetic, J>(
    machine: A,
    jobs: &[J],
    moduli: impl Fn(&[J]) -> Vec<&'a Prepared>,
    compute: impl Fn(&mut A::Domain<'a>, &[J]) -> Numbers,
) -> Numbers {
    machine.held(|| {
        let moduli = moduli(jobs);
        let limbs = moduli.iter().map(|modulus| modulus.limbs().len()).sum();
        let mut out = Numbers::with_capacity(jobs.len(), limbs);
        let mut used: Option<(&[&Prepared], A::Domain<'_>)> = None;
        for (batch, moduli) in jobs.chunks(machine.lanes()).zip(moduli.chunks(machine.lanes())) {
            // A domain costs as much as a squaring or two, and its numbers need no new memory.
            let last = used.take().filter(|(last, _)| are_same(last, moduli, |a, b| std::ptr::eq(a, b)));
            let (_, domain) = used.insert(last.unwrap_or_else(|| (moduli, domain(machine, moduli))));
            out.append(compute(domain, batch));
        }
        out
    })
}

/// Whether two batches have the same moduli or keys, each in its lane. `same` compares two.
pub(crate) fn are_same<T>(a: &[&T], b: &[&T], same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// A domain of one modulus, for `count` numbers, at most one for each lane.
fn repeated<'a, A: Arithmetic>(machine: A, modulus: &'a Prepared, count: usize) -> A::Domain<'a> {
    domain(machine, &vec![modulus; count.clamp(1, machine.lanes())])
}

/// Like [`repeated`], for numbers that share a table.
fn repeated_sharing<'a, A: Arithmetic>(machine: A, modulus: &'a Prepared, count: usize) -> A::Domain<'a> {
    repeated(machine, modulus, count.min(machine.lanes_sharing()))
}
