//! The numbers of a key, by OpenSSL's names (`EVP_PKEY-RSA(7)`).

use std::ffi::CStr;

use zariz::rsa::{Components, PrivateKey};
use zeroize::Zeroizing;

use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::params::{Built, Param, Params, Requested};

/// `OSSL_KEYMGMT_SELECT_…`.
pub mod select {
    use std::ffi::c_int;

    /// The private half.
    pub const PRIVATE: c_int = 1;
    /// The public half.
    pub const PUBLIC: c_int = 2;
    /// Both.
    pub const KEYPAIR: c_int = PRIVATE | PUBLIC;
    /// Parameters. An RSA key has none: a request for these only gives an empty list.
    pub const OTHER_PARAMETERS: c_int = 0x80;
}

/// A secret number, big-endian.
type Secret = Zeroizing<Vec<u8>>;

/// The primes, and the numbers of each.
const FACTORS: [&CStr; 10] = [
    c"rsa-factor1",
    c"rsa-factor2",
    c"rsa-factor3",
    c"rsa-factor4",
    c"rsa-factor5",
    c"rsa-factor6",
    c"rsa-factor7",
    c"rsa-factor8",
    c"rsa-factor9",
    c"rsa-factor10",
];
const EXPONENTS: [&CStr; 10] = [
    c"rsa-exponent1",
    c"rsa-exponent2",
    c"rsa-exponent3",
    c"rsa-exponent4",
    c"rsa-exponent5",
    c"rsa-exponent6",
    c"rsa-exponent7",
    c"rsa-exponent8",
    c"rsa-exponent9",
    c"rsa-exponent10",
];
const COEFFICIENTS: [&CStr; 9] = [
    c"rsa-coefficient1",
    c"rsa-coefficient2",
    c"rsa-coefficient3",
    c"rsa-coefficient4",
    c"rsa-coefficient5",
    c"rsa-coefficient6",
    c"rsa-coefficient7",
    c"rsa-coefficient8",
    c"rsa-coefficient9",
];

/// Describes the numbers of a public key.
pub static PUBLIC: [Param; 3] = [Param::describe_unsigned(c"n"), Param::describe_unsigned(c"e"), Param::END];

const ALL: usize = 3 + FACTORS.len() + EXPONENTS.len() + COEFFICIENTS.len();

/// Describes the numbers of a private key.
pub static KEYPAIR: [Param; ALL + 1] = described([Param::END; ALL + 1], 0);

/// Writes the descriptions of all numbers from index `from` on, then the end.
pub const fn described<const N: usize>(mut all: [Param; N], from: usize) -> [Param; N] {
    let mut at = from;
    let lists: [&[&'static CStr]; 4] = [&[c"n", c"e", c"d"], &FACTORS, &EXPONENTS, &COEFFICIENTS];
    let mut list = 0;
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[at] = Param::describe_unsigned(lists[list][i]);
            at += 1;
            i += 1;
        }
        list += 1;
    }
    assert!(at == N - 1, "the end has a place");
    all
}

/// How many entries [`described`] writes, including the end.
pub const DESCRIBED: usize = ALL + 1;

/// `OPENSSL_RSA_SMALL_MODULUS_BITS`: up to this length of the modulus, any public exponent is allowed.
const SMALL_MODULUS_BITS: usize = 3072;
/// `OPENSSL_RSA_MAX_PUBEXP_BITS`: the longest public exponent with a longer modulus.
const MAX_EXPONENT_BITS: usize = 64;

/// The numbers of a key, big-endian, without leading zeros.
pub struct Numbers {
    pub n: Vec<u8>,
    pub e: Vec<u8>,
    pub d: Option<Secret>,
    pub factors: Vec<Secret>,
    exponents: Vec<Secret>,
    coefficients: Vec<Secret>,
}

impl Numbers {
    /// Reads the numbers; the private ones only if requested. Like OpenSSL, takes a key without `d` as
    /// public, whatever else is given, and skips gaps in the lists.
    pub fn read(params: &Params, private: bool) -> Outcome<Self> {
        let number = |name: &CStr| match params.get(name) {
            None => Ok(None),
            Some(param) => param.number().map(Some).ok_or_else(|| {
                Failure::new(
                    Reason::Key,
                    format!("the number {} of the key is of the wrong type", name.to_string_lossy()),
                )
            }),
        };
        let needed = |name: &CStr| {
            let missing =
                || Failure::new(Reason::Key, format!("the key lacks the number {}", name.to_string_lossy()));
            number(name)?.map(|number| number.to_vec()).ok_or_else(missing)
        };
        let (n, e) = (needed(c"n")?, needed(c"e")?);
        let d = if private { number(c"d")? } else { None };
        let list = |names: &'static [&'static CStr]| {
            let names = if d.is_some() { names } else { &[] };
            names.iter().filter_map(|name| number(name).transpose()).collect::<Outcome<Vec<_>>>()
        };
        let [factors, exponents, coefficients] = [list(&FACTORS)?, list(&EXPONENTS)?, list(&COEFFICIENTS)?];
        let wrong = match factors.len() {
            1 => "one prime of the key is given: give all of them, or none".to_owned(),
            // OpenSSL 3.0 frees memory twice when it refuses such a key.
            primes @ 3.. if (primes, primes) != (exponents.len(), coefficients.len() + 1) => {
                format!(
                    "a key of {primes} primes needs an exponent for each, and a coefficient for each but the first"
                )
            }
            _ => return Ok(Self { n, e, d, factors, exponents, coefficients }),
        };
        Err(Failure::new(Reason::Key, wrong))
    }

    /// Like OpenSSL, drops exponents and coefficients whose count does not match the primes.
    pub fn settle(&mut self) {
        let primes = self.factors.len();
        if (primes, primes) != (self.exponents.len(), self.coefficients.len() + 1) {
            (self.exponents, self.coefficients) = (Vec::new(), Vec::new());
        }
    }

    /// The numbers of a key of zariz.
    pub fn of(key: &PrivateKey) -> Self {
        let key = key.components();
        let secret = |number: &Secret| Zeroizing::new(stripped(number).to_vec());
        Self {
            d: Some(secret(&key.d)),
            factors: vec![secret(&key.p), secret(&key.q)],
            exponents: vec![secret(&key.dp), secret(&key.dq)],
            coefficients: vec![secret(&key.qinv)],
            n: key.n,
            e: key.e,
        }
    }

    /// All numbers of a key with two primes, if all are given.
    pub fn components(&self) -> Option<Components> {
        let (Some(d), [p, q], [dp, dq], [qinv]) =
            (&self.d, &self.factors[..], &self.exponents[..], &self.coefficients[..])
        else {
            return None;
        };
        let [d, p, q, dp, dq, qinv] = [d, p, q, dp, dq, qinv].map(Secret::clone);
        Some(Components { n: self.n.clone(), e: self.e.clone(), d, p, q, dp, dq, qinv })
    }

    /// Only the public numbers.
    pub fn public(&self) -> Self {
        let (n, e) = (self.n.clone(), self.e.clone());
        Self { n, e, d: None, factors: Vec::new(), exponents: Vec::new(), coefficients: Vec::new() }
    }

    /// The length of the modulus in bits.
    pub fn bits(&self) -> usize {
        bits(&self.n)
    }

    /// Whether OpenSSL refuses to compute `x^e mod n`. Anyone can make such a key, and the computation takes
    /// long.
    pub fn is_refused(&self) -> bool {
        self.bits() > SMALL_MODULUS_BITS && bits(&self.e) > MAX_EXPONENT_BITS
    }

    fn each(&self, selection: i32, mut take: impl FnMut(&'static CStr, &[u8]) -> bool) -> bool {
        let lists = || {
            let named = |names: &'static [&'static CStr], numbers| std::iter::zip(names, numbers);
            let lists = [named(&FACTORS, &self.factors), named(&EXPONENTS, &self.exponents)];
            lists.into_iter().flatten().chain(named(&COEFFICIENTS, &self.coefficients))
        };
        let (public, private) = (selection & select::KEYPAIR != 0, selection & select::PRIVATE != 0);
        (!public || take(c"n", &self.n) && take(c"e", &self.e))
            && (!private
                || self.d.as_ref().is_none_or(|d| take(c"d", d))
                    && lists().all(|(name, number): (&&'static CStr, &Secret)| take(name, number)))
    }

    /// Writes the selected numbers.
    pub fn write(&self, selection: i32, params: &mut Built) {
        self.each(selection, |name, number| {
            params.number(name, number);
            true
        });
    }

    /// Writes each requested number.
    pub fn write_requested(&self, requested: &mut Requested) -> bool {
        self.each(select::KEYPAIR, |name, number| requested.put(name, |param| param.put_number(number)))
    }
}

/// The length of a number in bits.
fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |top| 8 * number.len() - top.leading_zeros() as usize)
}

fn stripped(number: &[u8]) -> &[u8] {
    &number[number.iter().take_while(|&&byte| byte == 0).count()..]
}
