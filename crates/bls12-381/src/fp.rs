//! One element.

use std::fmt;
use std::hint::black_box;

use zariz_machines::bls12_381::{self as field, Fe, LIMBS};

use crate::FpError;

/// An element of the base field of BLS12-381.
///
/// Stored in Montgomery form with `R = 2^384`, always below the modulus, in six limbs. Comparing two elements
/// takes constant time.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Fp(pub(crate) Fe);

impl Fp {
    /// The number 0.
    pub const ZERO: Self = Self([0; LIMBS]);
    /// The number 1.
    pub const ONE: Self = Self(field::ONE);
    /// The modulus in limbs of 64 bits, the lowest first:
    /// `0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab`.
    pub const MODULUS: [u64; LIMBS] = field::MODULUS;
    /// The length of an encoded element in bytes.
    pub const BYTES: usize = 8 * LIMBS;

    /// Decodes an element from 48 big-endian bytes.
    ///
    /// # Errors
    /// [`FpError::OutOfRange`] for a number that is not below the modulus. The time reveals whether this
    /// happened, and nothing else about the number.
    pub fn from_be_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, FpError> {
        let mut limbs = [0; LIMBS];
        for (limb, chunk) in limbs.iter_mut().rev().zip(bytes.chunks_exact(8)) {
            *limb = chunk.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
        }
        let (_, borrow) = field::sub_limbs(&limbs, &field::MODULUS);
        if black_box(borrow) == 0 { Err(FpError::OutOfRange) } else { Ok(Self(limbs) * Self(field::ENTER)) }
    }

    /// Encodes the element as 48 big-endian bytes.
    pub fn to_be_bytes(&self) -> [u8; Self::BYTES] {
        // A product with a 1 that is not in Montgomery form takes a number out of that form.
        let Self(limbs) = *self * Self([1, 0, 0, 0, 0, 0]);
        let mut bytes = [0; Self::BYTES];
        for (limb, chunk) in limbs.iter().rev().zip(bytes.chunks_exact_mut(8)) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    /// The square of the element, a little faster than a product.
    #[inline]
    #[must_use]
    pub fn square(&self) -> Self {
        let mut out = *self;
        out.square_assign();
        out
    }

    /// Squares the element in place.
    #[inline]
    pub fn square_assign(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if let Some(adx) = field::Adx::new() {
            return adx.sqr_assign(&mut self.0);
        }
        self.0 = field::sqr_flat(&self.0);
    }

    /// The inverse of the element; `None` for 0. Inspecting the result may reveal by timing whether the
    /// element was 0; if that is secret, use [`invert_or_zero`](Self::invert_or_zero).
    #[must_use]
    pub fn invert(&self) -> Option<Self> {
        let inverse = self.invert_or_zero();
        (!self.is_zero()).then_some(inverse)
    }

    /// The inverse of the element, or 0 for 0, in constant time.
    #[must_use]
    pub fn invert_or_zero(&self) -> Self {
        Self(field::invert(&self.0))
    }

    /// Whether the element is 0.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

impl PartialEq for Fp {
    fn eq(&self, other: &Self) -> bool {
        let difference = self.0.iter().zip(&other.0).fold(0, |all, (a, b)| all | (a ^ b));
        black_box(difference) == 0
    }
}

impl Eq for Fp {}

impl From<u64> for Fp {
    fn from(number: u64) -> Self {
        Self([number, 0, 0, 0, 0, 0]) * Self(field::ENTER)
    }
}

impl TryFrom<&[u8]> for Fp {
    type Error = FpError;

    /// Like [`Fp::from_be_bytes`], for a slice: [`FpError::WrongLength`] unless it has 48 bytes.
    fn try_from(bytes: &[u8]) -> Result<Self, FpError> {
        let array = bytes.try_into().map_err(|_| FpError::WrongLength(bytes.len()))?;
        Self::from_be_bytes(array)
    }
}

impl fmt::Display for Fp {
    /// In hexadecimal, all 96 digits.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("0x")?;
        self.to_be_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Fp({self})")
    }
}

impl zeroize::DefaultIsZeroes for Fp {}
