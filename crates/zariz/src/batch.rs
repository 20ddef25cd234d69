//! Single products and squares in Montgomery's domain, one number in each lane.

use std::fmt;

use zariz_kernels::Domain;
use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::place::Placed;

use crate::backend::Arithmetic;
use crate::modulus::Modulus;
use crate::prepared::Prepared;

/// Numbers `x` and `y` in each lane of an engine, kept in Montgomery's domain: many products and squares in a
/// row need no conversions between them.
///
/// ```
/// use zariz::{Batch, Modulus};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let modulus = Modulus::new(&[35])?;
/// let mut batch = Batch::new(&[&modulus], &[&[2]], &[&[3]])?;
/// batch.square(); // 4
/// batch.multiply(); // 12
/// batch.square(); // 144 ≡ 4
/// assert_eq!(batch.into_results(), [[4]]);
/// # Ok(())
/// # }
/// ```
pub struct Batch<'a> {
    numbers: Box<dyn Numbers + 'a>,
    sizes: Vec<usize>,
    lanes: usize,
}

/// Why moduli and numbers cannot form a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchError {
    /// The list of moduli is empty.
    Empty,
    /// There are more moduli than the engine has lanes.
    TooMany {
        /// The number of moduli.
        moduli: usize,
        /// The number of lanes.
        lanes: usize,
    },
    /// The lists of moduli and numbers differ in length.
    Numbers {
        /// The number of moduli.
        moduli: usize,
        /// The number of numbers.
        numbers: usize,
    },
    /// A modulus differs from the first in its engine, its method or its length in digits.
    Mixed {
        /// Its index in the list.
        index: usize,
    },
}

impl std::error::Error for BatchError {}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there are no moduli; a batch needs at least one"),
            Self::TooMany { moduli, lanes } => {
                write!(f, "there are {moduli} moduli; the engine takes {lanes} at once: make several batches")
            }
            Self::Numbers { moduli, numbers } => {
                write!(f, "each modulus needs one number; there are {moduli} moduli and {numbers} numbers")
            }
            Self::Mixed { index } => write!(
                f,
                "modulus {index} (counted from 0) differs from the first in engine, method or length in digits; batch it apart"
            ),
        }
    }
}

impl fmt::Debug for Batch<'_> {
    /// Shows how many numbers the batch has, not the numbers: they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Batch").field("numbers", &self.sizes.len()).finish_non_exhaustive()
    }
}

impl<'a> Batch<'a> {
    /// A batch of `x[i]` and `y[i]` modulo `moduli[i]`, big-endian, of any length. Returns a [`BatchError`] unless
    /// there are 1 to [`Engine::lanes`](crate::Engine::lanes) moduli of one engine, method and length in digits.
    pub fn new(moduli: &[&'a Modulus], x: &[&[u8]], y: &[&[u8]]) -> Result<Self, BatchError> {
        let first = moduli.first().ok_or(BatchError::Empty)?;
        let backend = first.route.machine(&first.prepared);
        let lanes = backend.lanes();
        if moduli.len() > lanes {
            return Err(BatchError::TooMany { moduli: moduli.len(), lanes });
        }
        for numbers in [x.len(), y.len()] {
            if numbers != moduli.len() {
                return Err(BatchError::Numbers { moduli: moduli.len(), numbers });
            }
        }
        let kind =
            |modulus: &Modulus| (modulus.engine(), modulus.route.shape(&modulus.prepared), modulus.prepared.method());
        if let Some(index) = moduli.iter().position(|modulus| kind(modulus) != kind(first)) {
            return Err(BatchError::Mixed { index });
        }
        let prepared: Vec<&Prepared> = moduli.iter().map(|modulus| &*modulus.prepared).collect();
        let bits = x.iter().chain(y).map(|number| 8 * number.len()).max().unwrap_or(0);
        let [x, y] = [x, y].map(|numbers| numbers.iter().map(|n| limbs::from_be_bytes(n)).collect::<Vec<_>>());
        let [x, y] = [&x, &y].map(|numbers| numbers.iter().map(|n| &n[..]).collect::<Vec<_>>());
        let numbers = backend.numbers(&prepared, &x, &y, bits);
        Ok(Self { numbers, sizes: moduli.iter().map(|modulus| modulus.size()).collect(), lanes })
    }

    /// How many numbers the engine works on at once. This batch may hold fewer.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// `x ← x·y`, by the method of the moduli.
    pub fn multiply(&mut self) {
        self.numbers.multiply();
    }

    /// Like [`multiply`](Self::multiply), with `y` in the form of an exponentiation's table entry. With
    /// [`Method::AHMM`](crate::Method::AHMM) the product is half-reduced; with other methods there is no difference.
    pub fn multiply_entry(&mut self) {
        self.numbers.multiply_entry();
    }

    /// `x ← x²`, by the method of the moduli.
    pub fn square(&mut self) {
        self.numbers.square();
    }

    /// Takes the numbers `x` out of the domain: big-endian, each as long as its modulus.
    pub fn into_results(self) -> Vec<Vec<u8>> {
        let results = self.numbers.leave();
        let write = |(result, &size): (&Limbs, &usize)| {
            let mut out = vec![0; size];
            limbs::to_be_bytes(result, &mut out);
            out
        };
        results.iter().zip(&self.sizes).map(write).collect()
    }
}

/// A batch on one machine.
pub(crate) trait Numbers: Send + Sync {
    fn multiply(&mut self);
    fn multiply_entry(&mut self);
    fn square(&mut self);
    fn leave(self: Box<Self>) -> Vec<Limbs>;
}

pub(crate) struct InDomain<'a, A: Arithmetic> {
    machine: A,
    domain: A::Domain<'a>,
    x: Number<'a, A>,
    /// `y`, with what a table entry needs besides.
    entry: Number<'a, A>,
}

/// A number in the domain of an arithmetic.
type Number<'a, A> = Placed<<<A as Arithmetic>::Domain<'a> as Domain>::Word>;

impl<'a, A: Arithmetic> InDomain<'a, A> {
    /// Brings numbers of at most `bits` bits into the domain. Precondition: the machine is [held](Arithmetic::held).
    pub fn new(machine: A, mut domain: A::Domain<'a>, x: &[&[u64]], y: &[&[u64]], bits: usize) -> Self {
        let (x, y) = (domain.enter(x, bits), domain.enter(y, bits));
        let mut entry = domain.zeros(domain.entry_words());
        entry[..x.len()].copy_from_slice(&y);
        domain.complete_entry(&mut entry);
        Self { machine, domain, x, entry }
    }
}

impl<A: Arithmetic> Numbers for InDomain<'_, A> {
    fn multiply(&mut self) {
        let words = self.x.len();
        self.machine.held(|| self.domain.amm(&mut self.x, &self.entry[..words]));
    }
    fn multiply_entry(&mut self) {
        self.machine.held(|| self.domain.multiply_entry(&mut self.x, &self.entry));
    }
    fn square(&mut self) {
        self.machine.held(|| self.domain.ams(&mut self.x, 1));
    }
    fn leave(self: Box<Self>) -> Vec<Limbs> {
        let Self { machine, mut domain, x, .. } = *self;
        machine.held(|| domain.leave(x))
    }
}
