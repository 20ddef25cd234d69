//! The client's side: Blind and Finalize.

use std::fmt;

use zariz_kernels::limbs::{self, Limbs};
use zariz_machines::memcheck;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::error::Error;
use super::public::{PublicKey, Signed};
use crate::backend::Product;
use crate::declassify;
use crate::inverse::invert;
use crate::jobs;
use crate::rsa::blinding::random_below;
use crate::rsa::hazmat::pss;
use crate::rsa::{Algorithm, Hash};
use crate::zeroize_stack::zeroize_stack;

/// What blinding a message gives.
#[derive(Clone, Debug)]
pub struct Blinded {
    /// The blinded message for the server: `⌈bits/8⌉` bytes.
    pub message: Vec<u8>,
    /// What [`PublicKey::finalize`] needs, and the server must not see.
    pub inverse: Inverse,
}

/// The inverse of a blind: secret, as it links a request to its signature. Zeroised when dropped.
#[derive(Clone)]
pub struct Inverse(Zeroizing<Vec<u8>>);

impl ZeroizeOnDrop for Inverse {}

impl fmt::Debug for Inverse {
    /// Shows nothing: it is secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Inverse").finish_non_exhaustive()
    }
}

impl Inverse {
    /// An inverse that was stored: big-endian, of at most `⌈bits/8⌉` bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }

    /// The number, big-endian, `⌈bits/8⌉` bytes if it came from [`PublicKey::blind`].
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// One blind signature to finalize.
#[derive(Clone, Copy, Debug)]
pub struct FinalizeJob<'a> {
    /// The prepared message that was blinded.
    pub prepared: &'a [u8],
    /// The server's answer, as long as the key's modulus.
    pub blind_signature: &'a [u8],
    /// What blinding gave.
    pub inverse: &'a Inverse,
}

impl PublicKey {
    /// Blind (RFC 9474 section 4.2): encodes a prepared message
    /// ([`Variant::prepare`](super::Variant::prepare)) and blinds it.
    ///
    /// # Errors
    /// [`Error::Blinding`] or [`Error::InvalidInput`], which do not happen with an honest key;
    /// [`Error::Random`].
    pub fn blind(&self, prepared: &[u8]) -> Result<Blinded, Error> {
        self.blind_batch(&[prepared]).swap_remove(0)
    }

    /// [`blind`](Self::blind) for many prepared messages, in order, in batches: all blinds share one
    /// inversion.
    #[must_use]
    pub fn blind_batch(&self, prepared: &[&[u8]]) -> Vec<Result<Blinded, Error>> {
        zeroize_stack(|| {
            let salt = || -> Result<_, Error> {
                let mut salt = Zeroizing::new(vec![0; self.variant().salt_len()]);
                getrandom::fill(&mut salt).map_err(|_| Error::Random)?;
                memcheck::secret(&mut salt);
                Ok(salt)
            };
            let random = prepared.iter().map(|message| {
                let blind = random_below(self.key.modulus()).map_err(|_| Error::Random)?;
                Ok((self.encode(message, &salt()?)?, blind))
            });
            self.blind_with(&random.collect::<Vec<_>>())
        })
    }

    /// Finalize (RFC 9474 section 4.4): takes the blind off the server's answer, and verifies the signature.
    ///
    /// # Errors
    /// [`Error::InputSize`] for an answer of another length than the modulus; [`Error::InvalidSignature`] if
    /// the server gave a wrong one; [`Error::InvalidInput`] for an inverse that is not below the modulus.
    pub fn finalize(
        &self,
        prepared: &[u8],
        blind_signature: &[u8],
        inverse: &Inverse,
    ) -> Result<Vec<u8>, Error> {
        self.finalize_batch(&[FinalizeJob { prepared, blind_signature, inverse }]).swap_remove(0)
    }

    /// [`finalize`](Self::finalize) for many answers, in order, in batches.
    #[must_use]
    pub fn finalize_batch(&self, jobs: &[FinalizeJob]) -> Vec<Result<Vec<u8>, Error>> {
        let signatures = zeroize_stack(|| self.unblind(jobs));
        let present = jobs.iter().zip(&signatures).filter_map(|(job, signature)| {
            Some(Signed { prepared: job.prepared, signature: signature.as_deref().ok()? })
        });
        let mut verified = self.verify_batch(&present.collect::<Vec<_>>()).into_iter();
        let mut verify =
            |signature| verified.next().unwrap_or(Err(Error::InvalidSignature)).map(|()| signature);
        signatures.into_iter().map(|signature| signature.and_then(&mut verify)).collect()
    }

    /// EMSA-PSS-ENCODE with this salt: secret, as it shows which signature came of the blinded message.
    pub(super) fn encode(&self, prepared: &[u8], salt: &[u8]) -> Result<Limbs, Error> {
        let Algorithm::Pss { hash, mgf, .. } = self.variant().algorithm() else {
            return Err(Error::Encoding);
        };
        let digest = Zeroizing::new(Hash::digest(hash, &[prepared]));
        let encoded = pss::encode_with(hash, mgf, salt, &digest, self.bits()).map(Zeroizing::new);
        encoded.map(|encoded| limbs::from_be_bytes(&encoded)).map_err(|_| Error::Encoding)
    }

    /// `m·r^e mod n` and `r^{−1} mod n` for each encoded message `m` and blind `r` below the modulus.
    pub(super) fn blind_with(&self, random: &[Result<(Limbs, Limbs), Error>]) -> Vec<Result<Blinded, Error>> {
        let (route, modulus) = (self.key.route(), self.key.modulus());
        let good: Vec<(&[u64], &[u64])> =
            random.iter().flatten().map(|(message, blind)| (&message[..], &blind[..])).collect();
        let powers: Vec<_> = good.iter().map(|(_, blind)| self.key.power(blind)).collect();
        let powers = jobs::pow_reduced_vartime(route, &powers);
        let product = |(&(a, _), b)| Product { modulus, a, a_bits: modulus.bits(), b };
        let products: Vec<_> = good.iter().zip(powers.iter()).map(product).collect();
        let blinded = jobs::mul(route, &products);
        // Inverting the messages along with the blinds costs three products each, and tells whether they have
        // inverses.
        let all: Vec<&[u64]> = good.iter().flat_map(|&(message, blind)| [blind, message]).collect();
        let inverses = invert(route, modulus, &all, modulus.bits());
        let mut results = blinded.iter().zip(inverses.chunks_exact(2)).map(|(blinded, inverses)| {
            let inverse = inverses[0].as_ref().ok_or(Error::Blinding)?;
            inverses[1].as_ref().ok_or(Error::InvalidInput)?;
            let bytes = |number: &[u64]| {
                let mut out = vec![0; self.size()];
                limbs::to_be_bytes(number, &mut out);
                out
            };
            Ok(Blinded { message: bytes(blinded), inverse: Inverse(Zeroizing::new(bytes(inverse))) })
        });
        let result = |random: &Result<_, Error>| match random {
            Ok(_) => results.next().unwrap_or(Err(Error::Blinding)),
            Err(error) => Err(*error),
        };
        random.iter().map(result).collect()
    }

    /// `z·r^{−1} mod n` for each answer `z`.
    fn unblind(&self, jobs: &[FinalizeJob]) -> Vec<Result<Vec<u8>, Error>> {
        let (modulus, size) = (self.key.modulus(), self.size());
        let number = |job: &FinalizeJob| {
            let actual = job.blind_signature.len();
            if actual != size {
                return Err(Error::InputSize { expected: size, actual });
            }
            let inverse = limbs::from_be_bytes(job.inverse.as_bytes());
            let fits = job.inverse.as_bytes().len() == size && limbs::less(&inverse, modulus.limbs());
            if !declassify::blind_fits(fits) {
                return Err(Error::InvalidInput);
            }
            Ok((limbs::from_be_bytes(job.blind_signature), inverse))
        };
        let numbers: Vec<Result<(Limbs, Limbs), _>> = jobs.iter().map(number).collect();
        // The answer may be above the modulus: the product reduces it.
        let product = |(answer, inverse)| Product { modulus, a: answer, a_bits: 8 * size, b: inverse };
        let good = numbers.iter().flatten().map(|(answer, inverse)| (&answer[..], &inverse[..]));
        let signatures = jobs::mul(self.key.route(), &good.map(product).collect::<Vec<_>>());
        let mut signatures = signatures.iter();
        let result = |number: &Result<_, Error>| {
            number.as_ref().map_err(|error| *error)?;
            let mut out = vec![0; size];
            limbs::to_be_bytes(signatures.next().ok_or(Error::InvalidSignature)?, &mut out);
            out.iter_mut().for_each(|byte| *byte = declassify::signature_byte(*byte));
            Ok(out)
        };
        numbers.iter().map(result).collect()
    }
}
