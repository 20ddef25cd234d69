//! Products and squares of numbers that stay in Montgomery form, one number in each lane.

use std::fmt;

use zariz_kernels::place::AlignedBuf;
use zariz_kernels::{Montgomery, limbs};

use crate::backend::{Backend, default_mxcsr};
use crate::counts;
use crate::engine::Engine;
use crate::modulus::Modulus;
use crate::prepared::Prepared;

/// Numbers, each with its own modulus, kept in Montgomery form: products and squares in a row need no
/// conversions. All lanes are multiplied at once, in constant time.
///
/// ```
/// use zariz::{Modulus, Residues};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let modulus = Modulus::new(&[35])?;
/// let mut x = Residues::new(&[&modulus], &[&[2]])?;
/// let y = Residues::new(&[&modulus], &[&[3]])?;
/// x.square(); // 4
/// x.multiply(&y)?; // 12
/// x.square(); // 144 ≡ 4
/// assert_eq!(x.to_bytes(), [[4]]);
/// # Ok(())
/// # }
/// ```
pub struct Residues<'a> {
    montgomery: Box<dyn Montgomery + 'a>,
    numbers: AlignedBuf,
    moduli: Vec<&'a Prepared>,
    engine: Engine,
    backend: &'static dyn Backend,
}

/// Residues in the form of an exponentiation's table entry, for [`Residues::multiply_entry`].
#[cfg(feature = "papers")]
pub struct TableEntry<'a> {
    entry: AlignedBuf,
    moduli: Vec<&'a Prepared>,
    engine: Engine,
}

/// Why residues cannot be made, or cannot be multiplied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResiduesError {
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
    Lengths {
        /// The number of moduli.
        moduli: usize,
        /// The number of numbers.
        numbers: usize,
    },
    /// A modulus differs from the first in its engine or its length in digits.
    Mixed {
        /// Its index in the list.
        index: usize,
    },
    /// The factors differ in their moduli or engine.
    Different,
}

impl std::error::Error for ResiduesError {}

impl fmt::Display for ResiduesError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there are no moduli; residues need at least one"),
            Self::TooMany { moduli, lanes } => {
                write!(
                    f,
                    "there are {moduli} moduli; the engine takes {lanes} at once: split them into several `Residues`"
                )
            }
            Self::Lengths { moduli, numbers } => {
                write!(f, "each modulus needs one number; there are {moduli} moduli and {numbers} numbers")
            }
            Self::Mixed { index } => write!(
                f,
                "modulus {index} (counted from 0) differs from the first in engine or length in digits; put it into separate \
                 `Residues`"
            ),
            Self::Different => f.write_str("the factors differ in their moduli or their engine"),
        }
    }
}

impl Clone for Residues<'_> {
    fn clone(&self) -> Self {
        let _default = default_mxcsr(self.backend);
        let montgomery = self.backend.montgomery(&self.moduli);
        Self { montgomery, numbers: self.numbers.clone(), moduli: self.moduli.clone(), ..*self }
    }
}

#[cfg(feature = "papers")]
impl fmt::Debug for TableEntry<'_> {
    /// Shows how many numbers there are and where, not the numbers: they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (engine, numbers) = (&self.engine, &self.moduli.len());
        f.debug_struct("TableEntry").field("engine", engine).field("numbers", numbers).finish_non_exhaustive()
    }
}

impl fmt::Debug for Residues<'_> {
    /// Shows how many numbers there are and where, not the numbers: they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (engine, numbers) = (&self.engine, &self.moduli.len());
        f.debug_struct("Residues").field("engine", engine).field("numbers", numbers).finish_non_exhaustive()
    }
}

impl<'a> Residues<'a> {
    /// `numbers[i] mod moduli[i]`, in lane `i`. Numbers are big-endian and of any length. The moduli's main
    /// engine computes ([`Modulus::engine`]).
    ///
    /// # Errors
    /// A [`ResiduesError`] unless there are 1 to [`Engine::lanes`] moduli of one engine and length in
    /// digits, and a number for each.
    pub fn new(moduli: &[&'a Modulus], numbers: &[&[u8]]) -> Result<Self, ResiduesError> {
        let first = moduli.first().ok_or(ResiduesError::Empty)?;
        let backend = first.route.machine(&first.prepared);
        let lanes = backend.lanes();
        if moduli.len() > lanes {
            return Err(ResiduesError::TooMany { moduli: moduli.len(), lanes });
        }
        if numbers.len() != moduli.len() {
            return Err(ResiduesError::Lengths { moduli: moduli.len(), numbers: numbers.len() });
        }
        let kind = |modulus: &Modulus| {
            (modulus.engine(), modulus.route.shape(&modulus.prepared), modulus.prepared.method())
        };
        if let Some(index) = moduli.iter().position(|modulus| kind(modulus) != kind(first)) {
            return Err(ResiduesError::Mixed { index });
        }
        let moduli: Vec<&Prepared> = moduli.iter().map(|modulus| &*modulus.prepared).collect();
        let bits = numbers.iter().map(|number| 8 * number.len()).max().unwrap_or(0);
        let numbers: Vec<_> = numbers.iter().map(|number| limbs::from_be_bytes(number)).collect();
        let numbers: Vec<_> = numbers.iter().map(|number| &number[..]).collect();
        counts::products(moduli.len());
        let _default = default_mxcsr(backend);
        let mut montgomery = backend.montgomery(&moduli);
        let numbers = montgomery.enter(&numbers, bits);
        // It is kept as long as the numbers, which change.
        montgomery.forget();
        Ok(Self { montgomery, numbers, moduli, engine: first.engine(), backend })
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.moduli.len()
    }

    /// Whether there are no numbers: never, since [`new`](Self::new) needs at least one.
    pub fn is_empty(&self) -> bool {
        self.moduli.is_empty()
    }

    /// How many numbers the engine multiplies at once. There may be fewer.
    pub fn lanes(&self) -> usize {
        self.backend.lanes()
    }

    /// `x ← x·y mod M` in each lane.
    ///
    /// # Errors
    /// [`ResiduesError::Different`] if `y` has other moduli or another engine. Nothing
    /// changes then.
    pub fn multiply(&mut self, y: &Residues) -> Result<(), ResiduesError> {
        self.check(&y.moduli, y.engine)?;
        let _default = default_mxcsr(self.backend);
        self.montgomery.amm(&mut self.numbers, &y.numbers);
        Ok(())
    }

    /// `x ← x² mod M` in each lane.
    pub fn square(&mut self) {
        let _default = default_mxcsr(self.backend);
        self.montgomery.ams(&mut self.numbers, 1);
    }

    /// The numbers in order: big-endian, each as long as its modulus.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<Vec<u8>> {
        let write = |(number, modulus): (&[u64], &&Prepared)| {
            let mut out = vec![0; modulus.bits().div_ceil(8)];
            limbs::to_be_bytes(number, &mut out);
            out
        };
        let _default = default_mxcsr(self.backend);
        let numbers = self.backend.montgomery(&self.moduli).leave(self.numbers.clone(), self.moduli.len());
        numbers.iter().zip(&self.moduli).map(write).collect()
    }

    /// Checks that moduli, engine and method are those of these residues.
    fn check(&self, moduli: &[&Prepared], engine: Engine) -> Result<(), ResiduesError> {
        let same = |(a, b): (&&Prepared, &&Prepared)| {
            std::ptr::eq(*a, *b) || a.method() == b.method() && limbs::equal(a.limbs(), b.limbs())
        };
        let alike = engine == self.engine && moduli.len() == self.moduli.len();
        if alike && self.moduli.iter().zip(moduli).all(same) { Ok(()) } else { Err(ResiduesError::Different) }
    }
}

#[cfg(feature = "papers")]
impl<'a> Residues<'a> {
    /// The numbers as a table entry.
    #[doc(hidden)]
    pub fn to_entry(&self) -> TableEntry<'a> {
        let _default = default_mxcsr(self.backend);
        let mut montgomery = self.backend.montgomery(&self.moduli);
        let mut entry = montgomery.zeros(montgomery.entry_words());
        entry[..self.numbers.len()].copy_from_slice(&self.numbers);
        montgomery.complete_entry(&mut entry);
        TableEntry { entry, moduli: self.moduli.clone(), engine: self.engine }
    }

    /// Like [`multiply`](Self::multiply), by a table entry. With [`Method::AHMM`](crate::Method::AHMM) the
    /// product is half-reduced; with other methods there is no difference.
    ///
    /// # Errors
    /// [`ResiduesError::Different`] if the entry has other moduli, another engine or another method. Nothing
    /// changes then.
    #[doc(hidden)]
    pub fn multiply_entry(&mut self, y: &TableEntry) -> Result<(), ResiduesError> {
        self.check(&y.moduli, y.engine)?;
        let _default = default_mxcsr(self.backend);
        self.montgomery.multiply_entry(&mut self.numbers, &y.entry);
        Ok(())
    }
}
