//! The RSA primitives, which the queue computes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use zariz::rsa::hazmat::primitive::{PrivateJob, PublicJob, private_many, public_many_vartime};
use zariz::rsa::{Error, PrivateKey, PublicKey};
use zeroize::Zeroizing;

/// An RSA primitive, with its key and its number.
pub enum Primitive {
    /// `x^d mod n` of a number as long as the key.
    Private(PrivateKey, Zeroizing<Vec<u8>>),
    /// `x^e mod n` of a number as long as the key.
    Public(PublicKey, Zeroizing<Vec<u8>>),
}

/// The kind of a batch; the kinds are computed in this order.
///
/// All requests of a batch are of one kind. Private operations are first: the program chose their keys.
/// Public keys come from anyone who connects. Long public operations are last; at most half of the turns, but
/// at least one, compute them at a time. So a signature waits for at most one such batch in each turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Private operations.
    Private,
    /// Public operations with a modulus and an exponent of usual lengths.
    Public,
    /// Public operations with a longer modulus or exponent: they cost up to about 200 times as much as at
    /// 2048 bits.
    LongPublic,
}

impl Kind {
    /// All kinds, in their order.
    pub const ALL: [Self; 3] = [Self::Private, Self::Public, Self::LongPublic];
}

/// The longest modulus of a usual public operation, in bytes: 4096 bits.
const USUAL_MODULUS: usize = 512;
/// The longest exponent of a usual public operation, in bytes: that of 65,537.
const USUAL_EXPONENT: usize = 3;

impl Primitive {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Private(..) => Kind::Private,
            Self::Public(key, _) if key.size() <= USUAL_MODULUS && key.e().len() <= USUAL_EXPONENT => Kind::Public,
            Self::Public(..) => Kind::LongPublic,
        }
    }

    fn private(&self) -> Option<PrivateJob<'_>> {
        if let Self::Private(key, number) = self { Some(PrivateJob { key, number }) } else { None }
    }

    fn public(&self) -> Option<PublicJob<'_>> {
        if let Self::Public(key, number) = self { Some(PublicJob { key, number }) } else { None }
    }
}

/// The resulting number, as long as the key; or why there is none.
pub type ComputeResult = Result<Zeroizing<Vec<u8>>, ComputeError>;

/// Why a request has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeError {
    /// An error of the computation.
    Failed(Error),
    /// No thread could be started to compute it.
    NoThread,
    /// The process that made the request has forked, and its child ran the job.
    Forked,
    /// A bug in this crate.
    Panic,
}

/// The results of a batch, in order. All its requests are of one kind.
pub fn compute(primitives: &[&Primitive]) -> Vec<ComputeResult> {
    let Some(first) = primitives.first() else { return Vec::new() };
    debug_assert!(
        primitives.iter().all(|primitive| primitive.kind() == first.kind()),
        "a batch has requests of one kind"
    );
    let results = catch_unwind(AssertUnwindSafe(|| match first {
        Primitive::Private(..) => {
            private_many(&primitives.iter().filter_map(|primitive| primitive.private()).collect::<Vec<_>>())
        }
        Primitive::Public(..) => {
            let results =
                public_many_vartime(&primitives.iter().filter_map(|primitive| primitive.public()).collect::<Vec<_>>());
            results.into_iter().map(|result| result.map(Zeroizing::new)).collect()
        }
    }));
    match results {
        Ok(results) => results.into_iter().map(|result| result.map_err(ComputeError::Failed)).collect(),
        // A bug in this crate.
        Err(_) => primitives.iter().map(|_| Err(ComputeError::Panic)).collect(),
    }
}
