//! The primitives that a batch computes: powers with an RSA key or any modulus.

use std::fmt;

use zeroize::Zeroizing;

use super::queue::Kind;
use crate::rsa::hazmat::primitive::{PrivateJob, PublicJob, private_results, public_many_vartime};
use crate::rsa::{Error, PrivateKey, PublicKey};
use crate::{Modulus, PowJob, pow_many};

/// A power to compute: the key or modulus, and the number. **Hazardous material**, as
/// [`rsa::hazmat`](crate::rsa::hazmat) says: the caller must pad before or unpad after.
#[derive(Clone)]
pub enum Primitive {
    /// `x^d mod n`, for a number as long as the key.
    Private(PrivateKey, Zeroizing<Vec<u8>>),
    /// `x^e mod n`, for a number as long as the key. The time depends on `e`.
    Public(PublicKey, Zeroizing<Vec<u8>>),
    /// `base^exponent` modulo the modulus, in constant time.
    Power(Modulus, Zeroizing<Vec<u8>>, Zeroizing<Vec<u8>>),
}

/// The resulting number, as long as the key or modulus.
pub type PrimitiveResult = Result<Zeroizing<Vec<u8>>, Error>;

/// The longest modulus of a usual operation, in bytes: 4096 bits. Above, the operation is [`Kind::Long`].
const USUAL_MODULUS: usize = 512;
/// The longest exponent of a usual public operation, in bytes: 3, the length of 65,537.
const USUAL_EXPONENT: usize = 3;

impl Primitive {
    /// The kind of the operation. Compared with 2048 bits, an operation with a longer modulus or exponent
    /// than usual can cost up to about 200 times as much if public, 500 times if private.
    #[doc(hidden)]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Private(key, _) if key.size() <= USUAL_MODULUS => Kind::Private,
            Self::Public(key, _) if key.size() <= USUAL_MODULUS && key.e().len() <= USUAL_EXPONENT => {
                Kind::Public
            }
            Self::Power(modulus, base, exponent)
                if modulus.size() <= USUAL_MODULUS && base.len().max(exponent.len()) <= USUAL_MODULUS =>
            {
                Kind::Power
            }
            Self::Private(..) | Self::Public(..) | Self::Power(..) => Kind::Long,
        }
    }

    fn private(&self) -> Option<PrivateJob<'_>> {
        if let Self::Private(key, number) = self { Some(PrivateJob { key, number }) } else { None }
    }

    fn public(&self) -> Option<PublicJob<'_>> {
        if let Self::Public(key, number) = self { Some(PublicJob { key, number }) } else { None }
    }

    fn power(&self) -> Option<PowJob<'_>> {
        if let Self::Power(modulus, base, exponent) = self {
            Some(PowJob { modulus, base, exponent })
        } else {
            None
        }
    }
}

impl fmt::Debug for Primitive {
    /// Shows lengths only: the numbers may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Private(key, number) => PrivateJob { key, number }.fmt(f),
            Self::Public(key, number) => PublicJob { key, number }.fmt(f),
            Self::Power(modulus, base, exponent) => PowJob { modulus, base, exponent }.fmt(f),
        }
    }
}

/// The results of primitives, in order. Primitives of one variant are computed together.
#[must_use]
pub fn primitive_many(primitives: &[&Primitive]) -> Vec<PrimitiveResult> {
    let all = || primitives.iter().copied();
    let mut private = private_results(all().filter_map(Primitive::private)).into_iter();
    let mut public =
        public_many_vartime(&all().filter_map(Primitive::public).collect::<Vec<_>>()).into_iter();
    let mut powers = pow_many(&all().filter_map(Primitive::power).collect::<Vec<_>>()).into_iter();
    let result = |primitive: &&Primitive| match primitive {
        Primitive::Private(..) => private.next().unwrap_or(Err(Error::Fault)),
        Primitive::Public(..) => public.next().unwrap_or(Err(Error::Fault)).map(Zeroizing::new),
        Primitive::Power(..) => powers.next().ok_or(Error::Fault).map(Zeroizing::new),
    };
    primitives.iter().map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batcher::Job;

    #[test]
    fn kinds_of_operations() {
        let private = |pem: &[u8]| {
            Primitive::Private(PrivateKey::parse(pem).expect("a key"), Zeroizing::default()).kind()
        };
        assert_eq!(private(include_bytes!("../../../cli/keys/bench-4096.pem")), Kind::Private);
        assert_eq!(private(include_bytes!("../../../cli/keys/bench-8192.pem")), Kind::Long);
        let public = |size: usize, e: &[u8]| {
            let key = PublicKey::from_components(&vec![0xff; size], e).expect("a public key");
            Primitive::Public(key, Vec::new().into()).kind()
        };
        let usual = [public(128, &[3]), public(256, &[1, 0, 1]), public(512, &[0xff; 3])];
        assert_eq!(usual, [Kind::Public; 3]);
        let long = [public(128, &[1; 4]), public(384, &[1; 32]), public(513, &[3]), public(2048, &[1, 0, 1])];
        assert_eq!(long, [Kind::Long; 4]);
        let power = |size: usize, base: usize, exponent: usize| {
            let modulus = Modulus::new(&vec![0xff; size]).expect("an odd number");
            Primitive::Power(modulus, vec![1; base].into(), vec![1; exponent].into()).kind()
        };
        assert_eq!([power(1, 0, 0), power(512, 512, 512), power(128, 300, 128)], [Kind::Power; 3]);
        assert_eq!([power(513, 1, 1), power(64, 1, 513), power(64, 513, 1)], [Kind::Long; 3]);
    }

    /// The debug output of a request shows lengths, but none of its numbers.
    #[test]
    fn numbers_are_not_shown() {
        let key = PrivateKey::parse(include_bytes!("../../../cli/keys/bench-1024.pem")).expect("a key");
        let secret = || Zeroizing::new(vec![0xab; 77]);
        let public = Primitive::Public(key.public_key().clone(), secret());
        let power =
            Primitive::Power(Modulus::new(&[35]).expect("an odd number"), secret(), vec![0xab; 66].into());
        for (primitive, shown) in [(Primitive::Private(key, secret()), "77"), (public, "77"), (power, "66")] {
            for text in [format!("{primitive:?}"), format!("{:?}", Job::primitive(primitive.clone()))] {
                assert!(
                    text.contains(shown) && !["171", "0xab", "abab"].iter().any(|it| text.contains(it)),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn mixed_results_are_in_order() {
        let key = PrivateKey::parse(include_bytes!("../../../cli/keys/bench-1024.pem")).expect("a key");
        let modulus = Modulus::new(&[35]).expect("an odd number");
        let number = |name: u8| {
            let mut number = vec![0; 128];
            number[127] = name;
            Zeroizing::new(number)
        };
        let mixed = [
            Primitive::Power(modulus.clone(), vec![2].into(), vec![10].into()),
            Primitive::Private(key.clone(), number(7)),
            Primitive::Public(key.public_key().clone(), number(2)),
            Primitive::Private(key.clone(), vec![1].into()),
            Primitive::Power(modulus, vec![3].into(), vec![10].into()),
        ];
        let results = primitive_many(&mixed.each_ref());
        let opened = primitive_many(&[&Primitive::Public(
            key.public_key().clone(),
            results[1].clone().expect("a power"),
        )]);
        assert_eq!(
            (results[0].as_ref().expect("a power")[..].to_vec(), opened[0].clone()),
            (vec![9], Ok(number(7)))
        );
        assert!(results[2].is_ok() && results[3] == Err(Error::Length { expected: 128, actual: 1 }));
        assert_eq!(results[4].as_ref().expect("a power")[..], [4]);
    }
}
