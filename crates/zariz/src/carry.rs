//! Vector carry propagation chains (paper `phirsa`) for measuring: single multiplications, and the private operation of a key
//! in raw form.
//!
//! No part of the public interface: no key or [`Modulus`](crate::Modulus) computes by them, since other ways are faster
//! (docs/notes/performance.md).

use pkcs1::RsaPrivateKeyRef;
use pkcs1::der::Decode;
use pkcs8::PrivateKeyInfoRef;
use zariz_kernels::carry::{CarryConstants, CarryDomain, CarryMachine};
use zariz_kernels::domain::Domain;
use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pow::{self, Power};
#[cfg(target_arch = "x86_64")]
use zariz_machines::CarryAvx512;
use zariz_machines::CarryPortable;

use crate::Engine;
use crate::rsa::{KeyError, PrivateKey};

/// A machine that has the chains.
#[derive(Clone, Copy, Debug)]
pub struct CarryChains(Machine);

#[derive(Clone, Copy, Debug)]
enum Machine {
    Portable(CarryPortable),
    #[cfg(target_arch = "x86_64")]
    Avx512(CarryAvx512),
}

/// Calls a generic function with the machine first.
macro_rules! on {
    ($chains:expr, $run:ident($($argument:expr),*)) => {
        match $chains.0 {
            Machine::Portable(m) => $run(m, $($argument),*),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx512(m) => $run(m, $($argument),*),
        }
    };
}

impl CarryChains {
    /// The machine that goes with an engine: AVX-512F with those that use AVX-512, else the portable one.
    pub fn of(engine: Engine) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let (Engine::Avx512Fma | Engine::Avx512Ifma, Some(machine)) = (engine, CarryAvx512::new()) {
            return Self(Machine::Avx512(machine));
        }
        let _ = engine;
        Self(Machine::Portable(CarryPortable::new()))
    }

    /// What it is called in results.
    pub fn name(self) -> &'static str {
        match self.0 {
            Machine::Portable(_) => "carry chains, portable",
            #[cfg(target_arch = "x86_64")]
            Machine::Avx512(_) => "carry chains, avx512f",
        }
    }

    /// Whether it has vector instructions.
    pub fn is_vector(self) -> bool {
        !matches!(self.0, Machine::Portable(_))
    }
}

/// Multiplications modulo one odd number, each by the result of the last.
pub struct Multiplication {
    chains: CarryChains,
    modulus: CarryConstants,
    x: Limbs,
    y: Limbs,
}

impl Multiplication {
    /// Prepares an odd modulus above 1 and two numbers, all big-endian bytes.
    ///
    /// # Panics
    /// If the modulus is even or 1.
    pub fn new(chains: CarryChains, modulus: &[u8], x: &[u8], y: &[u8]) -> Self {
        let [modulus, x, y] = [modulus, x, y].map(limbs::from_be_bytes);
        Self { chains, modulus: CarryConstants::new(&modulus), x, y }
    }

    /// `x·y^times mod M`, by that many multiplications in Montgomery's domain and a few more to enter and leave it.
    pub fn run(&self, times: usize) -> Vec<u8> {
        on!(self.chains, multiply(self, times))
    }
}

fn multiply<M: CarryMachine>(m: M, it: &Multiplication, times: usize) -> Vec<u8> {
    let mut domain = CarryDomain::new(m, &it.modulus);
    let mut enter = |x: &Limbs| domain.enter(&[x], 64 * x.len());
    let (mut x, y) = (enter(&it.x), enter(&it.y));
    for _ in 0..times {
        domain.amm(&mut x, &y);
    }
    let mut out = vec![0; it.modulus.bits().div_ceil(8)];
    limbs::to_be_bytes(&domain.leave(x)[0], &mut out);
    out
}

/// A key's private operation in raw form: two powers, Garner's formula, and a check with the public exponent.
pub struct Decryption {
    chains: CarryChains,
    n: CarryConstants,
    e: Limbs,
    p: CarryConstants,
    q: CarryConstants,
    dp: Limbs,
    dq: Limbs,
    qinv: Limbs,
}

impl Decryption {
    /// Prepares a key.
    pub fn new(chains: CarryChains, key: &PrivateKey) -> Result<Self, KeyError> {
        let bytes = key.to_pkcs8_der()?;
        let wrong = |error: pkcs1::der::Error| KeyError::Der(error.to_string());
        let info = PrivateKeyInfoRef::from_der(&bytes).map_err(wrong)?;
        let parts = RsaPrivateKeyRef::from_der(info.private_key.as_bytes()).map_err(wrong)?;
        let number = |part: pkcs1::UintRef| limbs::from_be_bytes(part.as_bytes());
        let constants = |part| CarryConstants::new(&number(part));
        Ok(Self {
            chains,
            n: constants(parts.modulus),
            e: number(parts.public_exponent),
            p: constants(parts.prime1),
            q: constants(parts.prime2),
            dp: number(parts.exponent1),
            dq: number(parts.exponent2),
            qinv: number(parts.coefficient),
        })
    }

    /// `x^d mod n`, big-endian bytes in and out; nothing if `x ≥ n`, or if the result is wrong (the processor or its memory is
    /// faulty). Not blinded.
    pub fn run(&self, x: &[u8]) -> Option<Vec<u8>> {
        let x = limbs::from_be_bytes(x);
        if !limbs::less(&x, self.n.limbs()) {
            return None;
        }
        let y = on!(self.chains, decrypt(self, &x))?;
        let mut out = vec![0; self.n.bits().div_ceil(8)];
        limbs::to_be_bytes(&y, &mut out);
        Some(out)
    }
}

fn decrypt<M: CarryMachine>(m: M, key: &Decryption, x: &[u64]) -> Option<Limbs> {
    let Decryption { n, e, p, q, dp, dq, qinv, .. } = key;
    let power = |modulus, exponent| {
        let exponent_bits = CarryConstants::bits(modulus);
        let power = Power { modulus, base: x, base_bits: n.bits(), exponent, exponent_bits };
        pow::pow(CarryDomain::new(m, modulus), &[power]).swap_remove(0)
    };
    let halves = [power(p, dp), power(q, dq)];
    // y = y_q + q·(q^{−1}·(y_p − y_q) mod p), each half multiplied by the inverse alone, which reduces it modulo p too.
    let by_inverse = |half: &Limbs| {
        let product = Product { modulus: p, a: half, a_bits: p.bits().max(q.bits()), b: qinv };
        mul::mul(CarryDomain::new(m, p), &[product]).swap_remove(0)
    };
    let [mut h, of_q] = [by_inverse(&halves[0]), by_inverse(&halves[1])];
    limbs::sub_mod(&mut h, &of_q, p.limbs());
    let mut y = limbs::mul(&h, q.limbs());
    limbs::add_assign(&mut y, &halves[1]);
    // y < n: what stands above n's limbs is zero.
    y.truncate(n.limbs().len());

    let public = Power { modulus: n, base: &y, base_bits: n.bits(), exponent: e, exponent_bits: 64 * e.len() };
    let opened = pow::pow_vartime(CarryDomain::new(m, n), &[public]);
    limbs::equal(&opened[0], x).then_some(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Modulus;

    fn machines() -> Vec<CarryChains> {
        // On a processor without AVX-512 both are the same.
        vec![CarryChains::of(Engine::Portable), CarryChains::of(Engine::Avx512Fma)]
    }

    #[test]
    fn multiplications_are_those_of_the_library() {
        let modulus = [[0xff; 90], [0xf1; 90]].concat();
        let (x, y) = (vec![0x77; 180], vec![0xee; 180]);
        let ours = Modulus::with_engine(&modulus, Engine::Portable).expect("odd");
        for chains in machines() {
            let of_y = ours.pow_vartime(&y, &[5]);
            let product = Multiplication::new(chains, &modulus, &x, &y).run(5);
            let one_more = Multiplication::new(chains, &modulus, &x, &of_y).run(1);
            assert_eq!(product, one_more, "{}", chains.name());
            assert_eq!(Multiplication::new(chains, &modulus, &y, &y).run(4), of_y);
        }
    }

    #[test]
    fn decryption_undoes_the_public_operation() {
        let key = PrivateKey::generate_with(1024, Engine::Portable).expect("a key");
        let public = key.public_key();
        let n = Modulus::with_engine(&public.n(), Engine::Portable).expect("odd");
        for chains in machines() {
            let decryption = Decryption::new(chains, &key).expect("a key");
            let of = |byte: u8| [vec![0; 3], vec![byte; 125]].concat();
            for message in [of(0), of(1), of(0xff), of(0x5a)] {
                let ciphertext = n.pow_vartime(&message, &public.e());
                assert_eq!(decryption.run(&ciphertext), Some(message), "{}", chains.name());
            }
            assert_eq!(decryption.run(&public.n()), None, "not below n");
        }
    }

    #[test]
    fn a_wrong_result_does_not_leave() {
        let key = PrivateKey::generate_with(1024, Engine::Portable).expect("a key");
        let mut decryption = Decryption::new(CarryChains::of(Engine::Avx512Fma), &key).expect("a key");
        decryption.dp[0] ^= 2;
        assert_eq!(decryption.run(&[7; 100]), None);
    }
}
