//! GMP, which has no RSA: the exponentiations that an RSA operation cannot do without, through `rug`.
//!
//! A signature is two `mpz_powm_sec`, one per prime, put together; there is no blinding and no check of the
//! result, so its time is a lower bound for a signature made with GMP. A verification is one `mpz_powm` and a
//! comparison.

use anyhow::{Result, bail, ensure};
use openssl::bn::BigNumRef;
use openssl::sha::sha256;
use rug::Integer;
use rug::integer::Order;

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
        let rsa = &key.rsa;
        let (Some(p), Some(q), Some(dp), Some(dq), Some(q_inverse)) =
            (rsa.p(), rsa.q(), rsa.dmp1(), rsa.dmq1(), rsa.iqmp())
        else {
            bail!("the key has no CRT values");
        };
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

/// EMSA-PKCS1-v1_5 with SHA-256 (RFC 8017, 9.2): 00 01 FF … FF 00, the DigestInfo of SHA-256, the digest.
fn pad(message: &[u8], size: usize) -> Vec<u8> {
    const DIGEST_INFO: [u8; 19] = [
        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
        0x20,
    ];
    let digest = sha256(message);
    let filled = size - DIGEST_INFO.len() - digest.len() - 1;
    let mut padded = Vec::with_capacity(size);
    padded.extend([0, 1]);
    padded.resize(filled, 0xff);
    padded.push(0);
    padded.extend(DIGEST_INFO);
    padded.extend(digest);
    padded
}
