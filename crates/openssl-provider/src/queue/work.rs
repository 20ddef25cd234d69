//! What is asked for, and computing it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use zariz::rsa::{Error, PrivateKey, PublicKey, primitive};
use zeroize::Zeroizing;

/// Something to compute.
pub enum Work {
    /// `x^d mod n` of a number as long as the key.
    Private(PrivateKey, Zeroizing<Vec<u8>>),
    /// `x^e mod n`, likewise.
    Public(PublicKey, Zeroizing<Vec<u8>>),
}

/// A batch has requests of one kind; the kinds are computed in this order.
///
/// Private operations are first: the program chose their keys. Public keys come from anybody who connects, and must not delay a
/// signature. Long public operations are last, so that they delay no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Private operations.
    Private,
    /// Public operations with numbers as most keys have them.
    Public,
    /// Public operations with a longer modulus or exponent: they cost up to 60 times as much.
    LongPublic,
}

/// The longest modulus of a usual public operation, in bytes: 4096 bits.
const USUAL_MODULUS: usize = 512;
/// The longest exponent of a usual public operation, in bytes: that of 65,537.
const USUAL_EXPONENT: usize = 3;

impl Work {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Private(..) => Kind::Private,
            Self::Public(key, _) if key.size() <= USUAL_MODULUS && key.e().len() <= USUAL_EXPONENT => Kind::Public,
            Self::Public(..) => Kind::LongPublic,
        }
    }
}

/// The number that was asked for, as long as the key.
pub type Answer = Result<Zeroizing<Vec<u8>>, Lost>;

/// Why a request has no number for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The computation says why.
    Failed(Error),
    /// No thread could be started to compute it.
    NoThread,
    /// The process that asked has forked, and its child ran the job.
    Forked,
    /// A mistake of ours.
    Panic,
}

/// How many of a batch there were.
#[derive(Default)]
pub struct Count {
    pub private: u64,
    pub public: u64,
}

/// The answers to a batch, in order.
pub fn compute(works: &[&Work]) -> (Vec<Answer>, Count) {
    let mut answers: Vec<Answer> = works.iter().map(|_| Err(Lost::Panic)).collect();
    let (mut private, mut public) = (Vec::new(), Vec::new());
    for (i, work) in works.iter().enumerate() {
        match work {
            Work::Private(key, number) => private.push((i, (key, &number[..]))),
            Work::Public(key, number) => public.push((i, (key, &number[..]))),
        }
    }
    let count = Count { private: private.len() as u64, public: public.len() as u64 };
    let (places, jobs): (Vec<_>, Vec<_>) = private.into_iter().unzip();
    fill(&mut answers, &places, || primitive::private_many(&jobs));
    let (places, jobs): (Vec<_>, Vec<_>) = public.into_iter().unzip();
    fill(&mut answers, &places, || {
        primitive::public_many(&jobs).into_iter().map(|result| result.map(Zeroizing::new)).collect()
    });
    (answers, count)
}

/// Puts results into their places. A panic, which is a mistake of ours, leaves those places as they are.
fn fill(answers: &mut [Answer], places: &[usize], results: impl FnOnce() -> Vec<Result<Zeroizing<Vec<u8>>, Error>>) {
    if places.is_empty() {
        return;
    }
    let results = catch_unwind(AssertUnwindSafe(results)).unwrap_or_default();
    for (&place, result) in places.iter().zip(results) {
        answers[place] = result.map_err(Lost::Failed);
    }
}
