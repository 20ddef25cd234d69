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
