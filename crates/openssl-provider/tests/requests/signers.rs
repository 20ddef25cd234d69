//! Batchers with real keys: the callers' results are compared with the batchers' counters.

use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use zariz::batcher::{self, Batcher, Job, Pending, QueueError, WhenFull};
use zariz::rsa::{Algorithm, PrivateKey, check_failures};
use zariz::{Dispatch, Modulus};

use crate::common::keys::{PEM_1024, PEM_2048};
use crate::common::random::Random;
use crate::common::soak::{Report, amount};
use crate::run::{CHILDREN, Fate, Fates, Forks, Soak};
use crate::{meant_to, panics};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread until it is ready, but at most `most` times.
fn wait<F: Future>(future: F, most: u64) -> Option<F::Output> {
    let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Unpark(thread::current()))));
    for _ in 0..most {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        thread::park();
    }
    None
}

/// A batcher, and the fates of its requests, by their callers.
struct Service {
    batcher: Batcher,
    fates: Fates,
    /// The batcher's counters must agree exactly with the fates: it refuses requests when it is full, and no
    /// thread's deadline passes during a request. Without this, threads leave at any time, and nobody knows
    /// whether their requests were computed.
    is_exact: bool,
}

impl Service {
    fn new(is_exact: bool) -> Self {
        let when_full = if is_exact { WhenFull::Refuse } else { WhenFull::Wait };
        // Room for less than the longest burst, so that some requests are refused on every engine.
        let capacity = 2 * Dispatch::Auto.main().lanes();
        let batcher = Batcher::builder().threads(1).capacity(capacity).when_full(when_full).build();
        Self { batcher, fates: Fates::default(), is_exact }
    }

    /// A thread's deadline.
    fn deadline(&self, random: &mut Random) -> Instant {
        match (self.is_exact, random.below(2)) {
            (true, 0) => Instant::now(),
            (true, _) => Instant::now() + Duration::from_secs(3600),
            (false, _) => Instant::now() + Duration::from_micros(random.below(2000)),
        }
    }

    /// Compares the callers' fates with the batcher's counters. The test itself made `others` more requests.
    fn check(&self, others: u64) {
        let metrics = self.batcher.metrics();
        println!("{metrics:?}");
        let [answered, given_up, expired, refused] =
            [Fate::Answered, Fate::GivenUp, Fate::Expired, Fate::Refused].map(|fate| self.fates.of(fate));
        assert_eq!((metrics.refused, metrics.expired), (refused, expired), "refused and expired");
        // Requests that were given up were withdrawn, or computed and discarded. None was lost, and none was
        // computed twice.
        let (ended, least) = (metrics.operations - others + metrics.withdrawn, answered + given_up);
        if self.is_exact {
            assert_eq!(ended, least, "computed or withdrawn, and answered or given up");
            let thrown_away = metrics.operations - others - answered;
            println!("of {given_up} given up, {} withdrawn, {thrown_away} thrown away", metrics.withdrawn);
            assert!(
                metrics.withdrawn > 0 && thrown_away > 0 && refused > 0 && expired > 0,
                "something never happened"
            );
        } else {
            // Some of the expired requests were computed.
            assert!((least..=least + expired).contains(&ended), "{ended}: {least} to {}", least + expired);
            assert!(metrics.operations - others >= answered);
        }
    }
}

/// A wanted signature, of a message that no other request has.
#[derive(Clone, Copy)]
struct Wanted {
    key: usize,
    message: [u8; 8],
}

type Pinned = Pin<Box<Pending<Vec<u8>>>>;

/// Callers of batchers with real keys.
struct Signers {
    services: [Service; 2],
    keys: [PrivateKey; 3],
    modulus: Modulus,
    /// How many messages were made.
    messages: AtomicU64,
    lanes: u64,
    wanted: u64,
}

impl Signers {
    fn new(wanted: usize) -> Self {
        let [first, longer] = [PEM_1024, PEM_2048].map(|pem| PrivateKey::parse(pem).expect("a key"));
        let keys = [first, PrivateKey::generate(1024).expect("a key"), longer];
        let modulus = Modulus::new(&[0xfb; 64]).expect("an odd number");
        let services = [true, false].map(Service::new);
        let lanes = Dispatch::Auto.main().lanes() as u64;
        let signers =
            Self { services, keys, modulus, messages: AtomicU64::new(0), lanes, wanted: wanted as u64 };
        // Fill the keys' pools of blinding pairs, so that memory does not grow later.
        for key in &signers.keys {
            let signed = key.sign_batch(Algorithm::RS256, &[&b"message"[..]; 256]);
            assert!(signed.iter().all(Result::is_ok));
        }
        // Start the workers before any fork.
        for service in &signers.services {
            let wanted = signers.of_key(0);
            let outcome = wait(service.batcher.submit(signers.job(wanted)), u64::MAX).expect("a result");
            assert_eq!(signers.fate(wanted, outcome), Fate::Answered);
        }
        signers
    }

    fn wanted(&self, random: &mut Random) -> Wanted {
        self.of_key(random.below(self.keys.len() as u64) as usize)
    }

    fn of_key(&self, key: usize) -> Wanted {
        Wanted { key, message: self.messages.fetch_add(1, Ordering::Relaxed).to_be_bytes() }
    }

    fn job(&self, wanted: Wanted) -> Job<Vec<u8>> {
        Job::sign(&self.keys[wanted.key], Algorithm::RS256, &wanted.message).expect("a job")
    }

    fn fate(&self, wanted: Wanted, outcome: Result<Vec<u8>, batcher::Error>) -> Fate {
        let key = self.keys[wanted.key].public_key();
        Self::fate_of(outcome, |signature| key.verify(Algorithm::RS256, &wanted.message, signature).is_ok())
    }

    fn fate_of(outcome: Result<Vec<u8>, batcher::Error>, is_right: impl Fn(&[u8]) -> bool) -> Fate {
        match outcome {
            Ok(result) => {
                assert!(is_right(&result), "a wrong result, or another's");
                Fate::Answered
            }
            Err(batcher::Error::Queue(QueueError::Expired)) => Fate::Expired,
            Err(batcher::Error::Queue(QueueError::Full)) => Fate::Refused,
            Err(error) => panic!("{error}"),
        }
    }

    /// The requests of a round.
    fn round(&self, random: &mut Random, forks: &Forks) -> Vec<Fate> {
        let service = &self.services[usize::from(random.one_in(3))];
        let batcher = &service.batcher;
        let wanted = self.wanted(random);
        let fates = match random.below(10) {
            0 => vec![self.fate(wanted, batcher.call(self.job(wanted)))],
            1 => {
                let (base, exponent) = (&wanted.message, &[0xa5; 64]);
                let power = batcher.pow(&self.modulus, base, exponent);
                vec![Self::fate_of(power, |power| *power == self.modulus.pow(base, exponent)[..])]
            }
            2 => {
                let job = self.job(wanted).with_deadline(service.deadline(random));
                vec![self.fate(wanted, batcher.call(job))]
            }
            3 => {
                let result = wait(batcher.submit(self.job(wanted)), 1 + random.below(3));
                vec![result.map_or(Fate::GivenUp, |outcome| self.fate(wanted, outcome))]
            }
            4 => vec![self.panic_meanwhile(wanted, batcher.submit(self.job(wanted)))],
            5 => vec![self.awaited(random, wanted, batcher, forks)],
            _ => self.burst(random, batcher),
        };
        service.fates.add(&fates);
        fates
    }

    /// A caller that panics with a request in the queue.
    fn panic_meanwhile(&self, wanted: Wanted, pending: Pending<Vec<u8>>) -> Fate {
        let fate = Cell::new(Fate::GivenUp);
        panics(|| {
            let mut pending = pin!(pending);
            for _ in 0..2 {
                if let Poll::Ready(outcome) = pending.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    fate.set(self.fate(wanted, outcome));
                    break;
                }
            }
            meant_to();
        });
        fate.get()
    }

    /// A caller that awaits one request, and may fork meanwhile.
    fn awaited(&self, random: &mut Random, wanted: Wanted, batcher: &Batcher, forks: &Forks) -> Fate {
        let mut pending = pin!(batcher.submit(self.job(wanted)));
        let outcome = match pending.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => {
                if random.below(self.wanted) < 8 * CHILDREN {
                    let child = forks.fork(|| {
                        // In the child, the parent's request fails, and new ones are computed.
                        let lost = Err(batcher::Error::Queue(QueueError::Forked));
                        assert_eq!(wait(pending.as_mut(), 1), Some(lost));
                        self.in_a_child(batcher, wanted);
                    });
                    if let Some(child) = child {
                        child.succeeds();
                    }
                }
                wait(pending, u64::MAX).expect("a result")
            }
        };
        self.fate(wanted, outcome)
    }

    /// Requests of one task, up to two for each lane and a few more: of one key or of all, some with
    /// deadlines. Some of the others are given up on the way.
    fn burst(&self, random: &mut Random, batcher: &Batcher) -> Vec<Fate> {
        let key = random.one_in(2).then(|| self.wanted(random).key);
        let gives_up = random.one_in(2);
        let mut left: Vec<(Wanted, bool, Pinned)> = (0..1 + random.below(2 * self.lanes + 4))
            .map(|_| {
                let wanted = self.wanted(random);
                let wanted = Wanted { key: key.unwrap_or(wanted.key), ..wanted };
                let (job, hurries) = (self.job(wanted), random.one_in(8));
                let deadline = Instant::now() + Duration::from_micros(random.below(3000));
                let job = if hurries { job.with_deadline(deadline) } else { job };
                (wanted, hurries, Box::pin(batcher.submit(job)))
            })
            .collect();
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let (mut context, mut fates) = (Context::from_waker(&waker), Vec::new());
        loop {
            left.retain_mut(|(wanted, hurries, pending)| {
                let fate = match pending.as_mut().poll(&mut context) {
                    Poll::Ready(outcome) => Some(self.fate(*wanted, outcome)),
                    // If a request is given up, nobody sees that it came too late.
                    Poll::Pending => (gives_up && !*hurries && random.one_in(16)).then_some(Fate::GivenUp),
                };
                fates.extend(fate);
                fate.is_none()
            });
            if left.is_empty() {
                return fates;
            }
            thread::park();
        }
    }

    /// A child has a queue of its own.
    fn in_a_child(&self, batcher: &Batcher, wanted: Wanted) {
        let awaited = |job| wait(batcher.submit(job), u64::MAX).expect("a result");
        for outcome in [batcher.call(self.job(wanted)), awaited(self.job(wanted))] {
            assert_eq!(self.fate(wanted, outcome), Fate::Answered);
        }
        assert_eq!((batcher.metrics().operations, check_failures()), (2, 0));
    }
}

pub fn soak_of_signatures_and_powers() {
    // A round makes three or four requests.
    let wanted = amount("ZARIZ_SOAK_REQUESTS", 30_000) / 20;
    let (signers, report) = (Box::new(Signers::new(wanted)), Report::new("-signatures.md"));
    let title = "RS256 with two keys of 1024 bits and one of 2048, and powers modulo 512 bits";
    let soak = Soak::run(title, &report, wanted, |random, _, forks| signers.round(random, forks));
    soak.check(&report, &[Fate::Answered, Fate::GivenUp, Fate::Expired, Fate::Refused]);
    for service in &signers.services {
        // When this has its result, all requests taken from the queue before were counted.
        let last = signers.of_key(0);
        assert_eq!(signers.fate(last, service.batcher.call(signers.job(last))), Fate::Answered);
        service.check(2);
    }
    let largest = signers.services[0].batcher.metrics().largest_batch;
    assert!(largest >= signers.lanes, "the largest batch has {largest} requests for {} lanes", signers.lanes);
    // A wrong intermediate result would have been computed again.
    assert_eq!(check_failures(), 0, "wrong results on the way");
}
