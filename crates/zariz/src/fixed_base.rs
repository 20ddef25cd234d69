//! Many powers of one base.

use std::fmt;
use std::hint::black_box;

use once_cell::race::OnceBox;
use zariz_kernels::Montgomery;
use zariz_kernels::fixed_base::{self, Access, Table};
use zariz_kernels::limbs::{self, Limbs, Numbers};

use crate::backend;
use crate::modulus::Modulus;
use crate::zeroize_stack::zeroize_stack;

/// A base, prepared for many powers: a table of its powers, so that a power costs products alone and no
/// squarings. With it, powers cost a quarter to a fifth of what [`Modulus::pow_batch`] takes.
///
/// ```
/// use zariz::{FixedBase, Modulus};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let modulus = Modulus::new(&[0xff; 128])?;
/// let generator = FixedBase::new(&modulus, &[2], 256)?; // exponents of up to 256 bits
/// let powers = generator.pow_batch(&[&[3], &[0xa5; 32]])?;
/// assert_eq!(powers[1], modulus.pow(&[2], &[0xa5; 32]));
/// assert!(generator.pow(&[1; 33]).is_err()); // 257 bits
/// # Ok(())
/// # }
/// ```
///
/// The modulus's main engine computes ([`Modulus::engine`]), also where there is one exponent alone. All of
/// its lanes read one copy of the table. To build it costs as much as some tens of powers; the window is the
/// one that is cheapest for about a thousand powers, or narrower where the table would exceed its bound.
///
/// The method is that of Brickell, Gordon, McCurley and Wilson (Eurocrypt 1992), with a table entry for each
/// value of each window. Constant time: for each window all of its entries are read, and the time depends on
/// lengths and on the number of exponents. [`pow_batch_vartime`](Self::pow_batch_vartime) reads one entry of
/// a table of its own, with wider windows; that table is built at its first use. Base and tables are zeroised
/// when dropped.
pub struct FixedBase {
    modulus: Modulus,
    base: Limbs,
    base_bits: usize,
    max_exponent_bits: usize,
    most: usize,
    table: Table,
    /// For public exponents, where another size is cheaper for these.
    public: OnceBox<Table>,
}

/// Why a base cannot be prepared, or an exponent not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixedBaseError {
    /// The exponents' greatest length is zero.
    NoExponentBits,
    /// Even the smallest table for exponents of this length takes more memory than it may.
    TooLarge {
        /// The exponents' greatest length in bits.
        max_exponent_bits: usize,
        /// How many bytes the table may take.
        memory: usize,
    },
    /// An exponent is longer than the table was made for.
    ExponentTooLong {
        /// Its index in the list.
        index: usize,
        /// The exponents' greatest length in bits.
        max_exponent_bits: usize,
    },
}

impl std::error::Error for FixedBaseError {}

impl fmt::Display for FixedBaseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoExponentBits => {
                f.write_str("exponents may have 0 bits; the table needs a length of at least 1")
            }
            Self::TooLarge { max_exponent_bits, memory } => write!(
                f,
                "a table for exponents of {max_exponent_bits} bits needs more than {memory} bytes; choose shorter \
                 exponents, or allow more memory (at most {} bytes)",
                FixedBase::MAX_MEMORY
            ),
            Self::ExponentTooLong { index, max_exponent_bits } => write!(
                f,
                "exponent {index} (counted from 0) has more than the {max_exponent_bits} bits that the table was \
                 made for; shorten it (modulo the base's order), or prepare the base for longer exponents"
            ),
        }
    }
}

impl fmt::Debug for FixedBase {
    /// Shows modulus, lengths and memory, not the base: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut out = f.debug_struct("FixedBase");
        out.field("modulus", &self.modulus).field("max_exponent_bits", &self.max_exponent_bits);
        out.field("memory", &self.memory()).finish_non_exhaustive()
    }
}

impl FixedBase {
    /// How many bytes a table of [`new`](Self::new) takes at most: 64 MiB.
    pub const MEMORY: usize = 64 << 20;

    /// How many bytes a table takes at most, whatever [`new_within`](Self::new_within) is told: 1 GiB.
    pub const MAX_MEMORY: usize = 1 << 30;

    /// Prepares a big-endian base for exponents of up to `max_exponent_bits` bits. The base may have any
    /// length; if it is above the modulus, it is reduced.
    ///
    /// # Errors
    /// A [`FixedBaseError`] if `max_exponent_bits` is zero, or so large that a table with windows of one bit
    /// would take more than [`MEMORY`](Self::MEMORY).
    pub fn new(modulus: &Modulus, base: &[u8], max_exponent_bits: usize) -> Result<Self, FixedBaseError> {
        Self::new_within(modulus, base, max_exponent_bits, Self::MEMORY)
    }

    /// Like [`new`](Self::new), with a table of at most `memory` bytes, at most
    /// [`MAX_MEMORY`](Self::MAX_MEMORY). Less memory means narrower windows, so that each power takes longer.
    ///
    /// # Errors
    /// As [`new`](Self::new), for this bound.
    pub fn new_within(
        modulus: &Modulus,
        base: &[u8],
        max_exponent_bits: usize,
        memory: usize,
    ) -> Result<Self, FixedBaseError> {
        if max_exponent_bits == 0 {
            return Err(FixedBaseError::NoExponentBits);
        }
        let (modulus, most) = (modulus.clone(), memory.min(Self::MAX_MEMORY));
        let (base_bits, base) = (8 * base.len(), limbs::from_be_bytes(base));
        let table = zeroize_stack(|| {
            on_main(&modulus, usize::MAX, |montgomery| {
                let size = fixed_base::size(montgomery, max_exponent_bits, Access::Scan, most)?;
                Some(fixed_base::build(montgomery, &base, base_bits, size))
            })
        });
        let table = table.ok_or(FixedBaseError::TooLarge { max_exponent_bits, memory: most })?;
        Ok(Self { modulus, base, base_bits, max_exponent_bits, most, table, public: OnceBox::new() })
    }

    /// The modulus.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The length of the longest exponent, in bits.
    pub fn max_exponent_bits(&self) -> usize {
        self.max_exponent_bits
    }

    /// The bytes of the tables. The first public exponent may add a second table, of at most as many bytes as
    /// the first is allowed to have.
    pub fn memory(&self) -> usize {
        self.table.bytes() + self.public.get().map_or(0, |table| table.bytes())
    }

    /// `base^exponent mod modulus`, big-endian; the result has as many bytes as the modulus. `base^0 = 1`.
    ///
    /// Constant time: the time depends on the lengths of modulus and exponent (leading zero bytes included,
    /// up to [`max_exponent_bits`](Self::max_exponent_bits)), not on their values. Only whether an exponent
    /// is too long shows.
    ///
    /// # Errors
    /// [`FixedBaseError::ExponentTooLong`] if the exponent, without leading zeros, has more than
    /// [`max_exponent_bits`](Self::max_exponent_bits) bits.
    pub fn pow(&self, exponent: &[u8]) -> Result<Vec<u8>, FixedBaseError> {
        Ok(self.pow_batch(&[exponent])?.swap_remove(0))
    }

    /// [`pow`](Self::pow) with many exponents, results in order. Several at once cost less than one by one.
    ///
    /// # Errors
    /// [`FixedBaseError::ExponentTooLong`] for the first exponent that is too long; nothing is computed then.
    pub fn pow_batch(&self, exponents: &[&[u8]]) -> Result<Vec<Vec<u8>>, FixedBaseError> {
        zeroize_stack(|| {
            self.run(exponents, |exponents, bits| {
                on_main(&self.modulus, exponents.len(), |montgomery| {
                    fixed_base::pow(montgomery, &self.table, exponents, bits)
                })
            })
        })
    }

    /// Like [`pow_batch`](Self::pow_batch), for public exponents: faster, in time that depends on them. The
    /// first call may build a table of its own, with wider windows.
    ///
    /// # Errors
    /// As [`pow_batch`](Self::pow_batch).
    pub fn pow_batch_vartime(&self, exponents: &[&[u8]]) -> Result<Vec<Vec<u8>>, FixedBaseError> {
        self.run(exponents, |exponents, bits| {
            let table = self.public_table();
            on_main(&self.modulus, exponents.len(), |montgomery| {
                fixed_base::pow_vartime(montgomery, table, exponents, bits)
            })
        })
    }

    fn public_table(&self) -> &Table {
        let bits = self.max_exponent_bits;
        let size = on_main(&self.modulus, 1, |montgomery| {
            fixed_base::size(montgomery, bits, Access::Direct, self.most)
        });
        match size.filter(|&size| size != self.table.size()) {
            None => &self.table,
            // Threads that come here at once each make the table, and all keep the first.
            Some(size) => self.public.get_or_init(|| {
                Box::new(on_main(&self.modulus, usize::MAX, |montgomery| {
                    fixed_base::build(montgomery, &self.base, self.base_bits, size)
                }))
            }),
        }
    }

    fn run(
        &self,
        exponents: &[&[u8]],
        pow: impl Fn(&[&[u64]], usize) -> Numbers,
    ) -> Result<Vec<Vec<u8>>, FixedBaseError> {
        let most = self.max_exponent_bits;
        let numbers = Numbers::from_be_bytes(exponents.iter().copied());
        if let Some(index) = numbers.iter().position(|number| is_longer(number, most)) {
            return Err(FixedBaseError::ExponentTooLong { index, max_exponent_bits: most });
        }
        let bits = exponents.iter().map(|exponent| 8 * exponent.len()).max().unwrap_or(0).min(most);
        let numbers: Vec<&[u64]> = numbers.iter().collect();
        Ok(pow(&numbers, bits).iter().map(|power| self.modulus.to_bytes(power)).collect())
    }
}

/// Runs `work` with the arithmetic of `count` numbers, or as many as the main engine has lanes for, of one
/// modulus.
fn on_main<T>(modulus: &Modulus, count: usize, work: impl FnOnce(&mut dyn Montgomery) -> T) -> T {
    let backend = modulus.route.machine(&modulus.prepared);
    let _default = backend::default_mxcsr(backend);
    work(&mut *backend::repeated_sharing(backend, &modulus.prepared, count))
}

/// Whether a number has more than `bits` bits: nothing else of it shows in the time.
fn is_longer(number: &[u64], bits: usize) -> bool {
    let above = |(i, limb): (usize, &u64)| match bits.saturating_sub(64 * i) {
        64.. => 0,
        below => limb >> below,
    };
    black_box(number.iter().enumerate().map(above).fold(0, |acc, bits| acc | bits)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_numbers() {
        for bits in 0..200 {
            let mut number = [0u64; 4];
            assert!(!is_longer(&number, bits));
            number[bits / 64] = 1 << (bits % 64);
            assert!(is_longer(&number, bits) && !is_longer(&number, bits + 1));
        }
        assert!(!is_longer(&[], 1) && !is_longer(&[u64::MAX], usize::MAX));
    }
}
