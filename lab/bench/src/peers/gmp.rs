//! GMP, which has no RSA: the exponentiations that an RSA operation cannot do without, through `rug`.
//!
//! A signature is two `mpz_powm_sec`, one per prime, put together; there is no blinding and no check of the
//! result, so its time is a lower bound for a signature made with GMP. A verification is one `mpz_powm` and a
//! comparison.

use anyhow::{Result, ensure};
use openssl::bn::BigNumRef;
use rug::Integer;
use rug::integer::Order;

use super::padding::pad;
use super::{Library, Signed, Signer, Verifier};
use crate::keys::Key;

/// GMP.
pub struct Gmp;

impl Library for Gmp {
    fn name(&self) -> &'static str {
        "gmp"
    }

    fn version(&self) -> String {
        use gmp_mpfr_sys::gmp::{VERSION, VERSION_MINOR, VERSION_PATCHLEVEL};
        format!("{VERSION}.{VERSION_MINOR}.{VERSION_PATCHLEVEL} (rug {})", env!("VERSION_OF_RUG"))
    }

    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>> {
        let [p, q, dp, dq, q_inverse] = key.crt()?;
        Ok(Box::new(Private {
            size: key.size,
            p: integer(p),
            q: integer(q),
            dp: integer(dp),
            dq: integer(dq),
            q_inverse: integer(q_inverse),
        }))
    }

    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>> {
        Ok(Box::new(Public { size: key.size, n: integer(key.rsa.n()), e: integer(key.rsa.e()) }))
    }
}

/// The numbers of a private key.
struct Private {
    size: usize,
    p: Integer,
    q: Integer,
    dp: Integer,
    dq: Integer,
    q_inverse: Integer,
}

impl Signer for Private {
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let one = |message: &&[u8]| {
            let padded = Integer::from_digits(&pad(message, self.size), Order::Msf);
            let half_p = Integer::from(&padded % &self.p).secure_pow_mod(&self.dp, &self.p);
            let half_q = (padded % &self.q).secure_pow_mod(&self.dq, &self.q);
            // Garner: half_q + q · ((half_p − half_q) / q mod p).
            let mut signature = (half_p - &half_q) * &self.q_inverse;
            signature = signature.modulo(&self.p);
            signature *= &self.q;
            signature += half_q;
            let mut bytes = vec![0; self.size];
            signature.write_digits(&mut bytes, Order::Msf);
            Ok(bytes)
        };
        messages.iter().map(one).collect()
    }
}

/// The numbers of a public key.
struct Public {
    size: usize,
    n: Integer,
    e: Integer,
}

impl Verifier for Public {
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()> {
        for Signed { message, signature } in signed {
            let padded = Integer::from_digits(&pad(message, self.size), Order::Msf);
            let opened = Integer::from_digits(signature, Order::Msf).pow_mod(&self.e, &self.n);
            ensure!(opened == Ok(padded), "GMP rejects a signature");
        }
        Ok(())
    }
}

/// The same number for GMP.
fn integer(number: &BigNumRef) -> Integer {
    Integer::from_digits(&number.to_vec(), Order::Msf)
}
