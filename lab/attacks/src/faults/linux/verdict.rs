//! The criterion: what a number that left as a result tells of the keys.

use num_bigint::BigUint;

/// The public exponent of all keys.
const E: u32 = 65_537;

/// What a process was asked for: `x^d mod n`.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    pub n: BigUint,
    pub x: BigUint,
}

/// What a result is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    Right,
    /// Wrong, and no more.
    Damaged,
    /// Wrong, and `gcd(y^e − x, n)` is a factor of `n`.
    Revealing,
}

/// Judges `y`, which left as the result of request `i`. A fault may give it to another request than its own,
/// so a wrong one is compared with all of them.
pub fn judge(requests: &[Request], i: usize, y: &BigUint) -> Verdict {
    let difference = |Request { n, x }: &Request| (y.modpow(&E.into(), n) + n - x) % n;
    if requests.get(i).is_some_and(|mine| difference(mine) == BigUint::ZERO) {
        return Verdict::Right;
    }
    // A number has no inverse if it shares a factor with n.
    let reveals = |request: &Request| {
        let difference = difference(request);
        difference != BigUint::ZERO && difference.modinv(&request.n).is_none()
    };
    if requests.iter().any(reveals) { Verdict::Revealing } else { Verdict::Damaged }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zariz::rsa::PrivateKey;

    /// A key, and the halves of `x^d` modulo its primes.
    struct Planted {
        primes: [BigUint; 2],
        qinv: BigUint,
        halves: [BigUint; 2],
        request: Request,
    }

    impl Planted {
        fn new(x: u32) -> Self {
            let key = PrivateKey::generate(1024).expect("a key").components();
            let [n, p, q, d, qinv] =
                [&key.n, &*key.p, &*key.q, &*key.d, &*key.qinv].map(|it| BigUint::from_bytes_be(it));
            let request = Request { n, x: x.into() };
            let halves = [&p, &q].map(|prime| request.x.modpow(&d, prime));
            Self { primes: [p, q], qinv, halves, request }
        }

        /// The result, by Garner's formula and without a check.
        fn result(&self, [y_p, y_q]: &[BigUint; 2]) -> BigUint {
            let [p, q] = &self.primes;
            y_q + q * ((y_p + p - y_q % p) * &self.qinv % p)
        }
    }

    #[test]
    fn a_result_without_a_check_reveals_the_key() {
        let (one, other) = (Planted::new(2), Planted::new(3));
        // Several requests of a key, and of another.
        let again = Request { x: 5_u32.into(), ..one.request.clone() };
        let requests = [one.request.clone(), again, other.request.clone()];
        let right = one.result(&one.halves);
        let verdicts: Vec<_> = (0..4).map(|i| judge(&requests, i, &right)).collect();
        assert_eq!(verdicts, [Verdict::Right, Verdict::Damaged, Verdict::Damaged, Verdict::Damaged]);
        for bit in 0..512 {
            for half in 0..2 {
                let mut halves = one.halves.clone();
                halves[half].set_bit(bit, !halves[half].bit(bit));
                let wrong = one.result(&halves);
                // Also where another request gets it.
                for i in 0..4 {
                    assert_eq!(judge(&requests, i, &wrong), Verdict::Revealing, "bit {bit} of half {half}");
                }
            }
            let mut damaged = right.clone();
            damaged.set_bit(bit, !damaged.bit(bit));
            assert_eq!(judge(&requests, 0, &damaged), Verdict::Damaged, "bit {bit} of the result");
        }
        assert_eq!(judge(&requests, 0, &BigUint::ZERO), Verdict::Damaged);
    }
}
