//! The candidates of a search: an arithmetic progression. Everything here is public.

use crypto_bigint::{BoxedUint, Gcd, NonZero, Resize};
use zariz_kernels::limbs::{self, Limbs};

use super::error::PrimeError;

/// Fewer candidates than `2^64` are no random search.
const MIN_COUNT_BITS: usize = 65;

/// The numbers `first + step·k`, `0 ≤ k < count`.
#[derive(Clone, Debug)]
pub(crate) struct Progression {
    pub first: Limbs,
    pub step: Limbs,
    pub count: Limbs,
    /// The last number.
    pub last: Limbs,
}

/// The residue class `remainder mod modulus`.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    remainder: BoxedUint,
    modulus: BoxedUint,
}

/// A number in `bits` bits of room.
fn uint(number: &[u64], bits: u32) -> BoxedUint {
    BoxedUint::from_words(number.iter().copied()).resize(bits)
}

/// A number without leading zero limbs.
fn trim(number: &BoxedUint) -> Limbs {
    limbs::trimmed_vartime(number.as_words())
}

/// A divisor. Precondition: not zero.
fn divisor(number: &BoxedUint) -> NonZero<BoxedUint> {
    Option::from(NonZero::new(number.clone())).expect("a divisor is not zero")
}

impl Class {
    /// The class of `remainder mod modulus`, in which there are primes: the two have no common factor.
    pub fn new(remainder: &[u64], modulus: &[u64]) -> Result<Self, PrimeError> {
        let modulus = limbs::trimmed_vartime(modulus);
        let remainder = if modulus.is_empty() { Limbs::default() } else { limbs::rem(remainder, &modulus) };
        let bits = 64 * modulus.len().max(1) as u32;
        let (remainder, modulus) = (uint(&remainder, bits), uint(&modulus, bits));
        if bool::from(modulus.is_zero()) {
            return Err(PrimeError::Congruence("a modulus is zero; it must be at least 1"));
        }
        let class = Self { remainder: remainder.rem_vartime(&divisor(&modulus)), modulus };
        if class.modulus.gcd(&class.remainder) != BoxedUint::one() {
            return Err(PrimeError::Congruence("a remainder and its modulus have a common factor"));
        }
        Ok(class)
    }

    /// The numbers in both classes (the Chinese remainder theorem, for moduli that may have a common factor).
    pub fn and(&self, other: &Self) -> Result<Self, PrimeError> {
        // Room for sums of products of two moduli.
        let bits = 2 * self.modulus.bits_precision().max(other.modulus.bits_precision()) + 64;
        let [r, m, s, n] = [&self.remainder, &self.modulus, &other.remainder, &other.modulus]
            .map(|number| number.resize(bits));
        let common = divisor(&m.gcd(&n));
        let (n_reduced, _) = n.div_rem_vartime(&common);
        let n_reduced = divisor(&n_reduced);
        // (s − r) mod n, which the common factor must divide.
        let difference =
            s.wrapping_add(&n).wrapping_sub(r.rem_vartime(&divisor(&n))).rem_vartime(&divisor(&n));
        let (quotient, rest) = difference.div_rem_vartime(&common);
        if !bool::from(rest.is_zero()) {
            return Err(PrimeError::Congruence("two congruences contradict each other"));
        }
        let (m_reduced, _) = m.div_rem_vartime(&common);
        // With a modulus of 1 everything is congruent.
        let inverse: Option<BoxedUint> = m_reduced.rem_vartime(&n_reduced).invert_mod(&n_reduced).into();
        let k = match inverse {
            Some(inverse) => quotient.wrapping_mul(&inverse).rem_vartime(&n_reduced),
            None => BoxedUint::zero_with_precision(bits),
        };
        let remainder = r.wrapping_add(m.wrapping_mul(&k));
        let modulus = m.wrapping_mul(&*n_reduced);
        // In no more room than they need: classes may be put together many times.
        let bits = modulus.bits_vartime().next_multiple_of(64);
        let remainder = remainder.rem_vartime(&divisor(&modulus));
        Ok(Self { remainder: remainder.resize(bits), modulus: modulus.resize(bits) })
    }

    /// Whether `(x − 1)/2` has a factor in common with the modulus for every `x` of a class of odd numbers
    /// that are 3 modulo 4.
    pub fn halves_have_a_factor(&self) -> bool {
        let one = BoxedUint::one_with_precision(self.remainder.bits_precision());
        // The modulus is even, and so is x − 1.
        self.modulus.gcd(&self.remainder.wrapping_sub(&one)).bits_vartime() > 2
    }

    /// The numbers of the class from `low` to `high`, both inclusive.
    pub fn between(&self, low: &[u64], high: &[u64]) -> Result<Progression, PrimeError> {
        let bits = 64 * (low.len().max(high.len()) as u32 + 2) + self.modulus.bits_precision();
        let [low, high] = [low, high].map(|number| uint(number, bits));
        let [r, m] = [&self.remainder, &self.modulus].map(|number| number.resize(bits));
        let step = divisor(&m);
        // low + ((r − low) mod m)
        let distance = r.wrapping_add(&m).wrapping_sub(low.rem_vartime(&step)).rem_vartime(&step);
        let first = low.wrapping_add(&distance);
        if first > high {
            return Err(PrimeError::Range("the range has no number of the wanted kind"));
        }
        let (quotient, rest) = high.wrapping_sub(&first).div_rem_vartime(&step);
        let count = trim(&quotient.wrapping_add(BoxedUint::one_with_precision(bits)));
        if limbs::bits_vartime(&count) < MIN_COUNT_BITS {
            return Err(PrimeError::Range("the range has fewer than 2^64 numbers of the wanted kind"));
        }
        Ok(Progression { first: trim(&first), step: trim(&m), count, last: trim(&high.wrapping_sub(&rest)) })
    }
}

impl Progression {
    /// How many numbers it has, over a divisor: rounded down, without leading zero limbs.
    pub fn count_over(&self, divisor_limbs: &[u64]) -> Limbs {
        let bits = 64 * self.count.len().max(divisor_limbs.len()) as u32;
        trim(&uint(&self.count, bits).div_rem_vartime(&divisor(&uint(divisor_limbs, bits))).0)
    }

    /// The number at `k`, in as many limbs as the last has. Precondition: `k < count`.
    pub fn at(&self, k: &[u64]) -> Limbs {
        sum(&self.first, &limbs::mul(&self.step, k), self.last.len())
    }
}

/// `a + b` in `len` limbs, in which it has room. Nothing is left of it elsewhere: it never grows.
pub(super) fn sum(a: &[u64], b: &[u64], len: usize) -> Limbs {
    let mut out = limbs::zero(len);
    out.iter_mut().zip(a).for_each(|(out, a)| *out = *a);
    limbs::add_assign(&mut out, &b[..b.len().min(len)]);
    out
}

/// `⌈√2·2^(bits − 1)⌉`: two factors from there on have a product of all bits (FIPS 186-5, A.1.3).
#[cfg(feature = "keygen")]
pub(crate) fn root_two(bits: usize) -> Limbs {
    let precision = (2 * bits as u32).next_multiple_of(64);
    let square = BoxedUint::one_with_precision(precision).shl(2 * bits as u32 - 1);
    // 2^(2·bits−1) is no square, so its root is above the integer below it.
    trim(&square.floor_sqrt_vartime().wrapping_add(BoxedUint::one_with_precision(precision)))
}
