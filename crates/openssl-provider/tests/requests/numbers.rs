//! A queue whose computation returns numbers, so it is known which were computed.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use zariz::batcher::provider::{Compute, Kind, Limits, Queue, Request, Waiter};
use zariz::batcher::{PerProcessQueue, QueueError};

use crate::common::random::Random;
use crate::common::soak::{Report, amount};
use crate::run::{CHILDREN, Fate, Forks, Soak};
use crate::{meant_to, panics};

/// Returns numbers, and counts how often each was computed.
struct Numbers {
    computed: Arc<Vec<AtomicU8>>,
    /// Held while a worker starts, and while a caller forks.
    starting: Mutex<()>,
}

impl Numbers {
    fn new(computed: &Arc<Vec<AtomicU8>>) -> Self {
        Self { computed: computed.clone(), starting: Mutex::new(()) }
    }
}

struct Number {
    number: usize,
    kind: Kind,
    panics: bool,
}

impl Compute for Numbers {
    type Operation = Number;
    type Output = usize;
    type Waiter = Ring;

    fn kind(number: &Number) -> Kind {
        number.kind
    }

    fn compute(&self, batch: &[&Number]) -> Vec<usize> {
        let count = |number: &&Number| {
            self.computed[number.number].fetch_add(1, Ordering::SeqCst);
            number.number
        };
        let numbers = batch.iter().map(count).collect();
        if batch.iter().any(|number| number.panics) {
            meant_to();
        }
        numbers
    }

    fn start(&self, worker: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        let _starting = self.starting.lock().expect("no panic");
        let (begin, begun) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || {
            begin.send(()).expect("it is awaited");
            worker();
        })?;
        begun.recv().expect("it begins");
        Ok(thread)
    }
}

/// Rings when a result is there; some bells panic then.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
    panics: bool,
}

/// Rings a bell.
struct Ring(Arc<Bell>);

impl Bell {
    fn wait(&self) {
        let mut rung = self.rung.lock().expect("no panic");
        while !*rung {
            rung = self.changed.wait(rung).expect("no panic");
        }
    }
}

impl Waiter for Ring {
    fn wake(&self) {
        *self.0.rung.lock().expect("no panic") = true;
        self.0.changed.notify_one();
        if self.0.panics {
            meant_to();
        }
    }
}

/// A request that is withdrawn when dropped, and says how it ended.
struct Ticket<'a> {
    queue: &'a Queue<Numbers>,
    request: Arc<Request<Numbers>>,
    fate: &'a Cell<Fate>,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.fate.set(if self.queue.withdraw(&self.request) { Fate::Withdrawn } else { Fate::ThrownAway });
    }
}

/// The callers of a queue of numbers.
struct Callers {
    queues: PerProcessQueue<Numbers>,
    computed: Arc<Vec<AtomicU8>>,
    /// By number: the fate plus one, or zero if no request was made.
    fates: Vec<AtomicU8>,
    wanted: u64,
}

impl Callers {
    fn new(wanted: usize) -> Self {
        let [computed, fates] = [(); 2].map(|()| (0..wanted).map(|_| AtomicU8::new(1)).collect::<Vec<_>>());
        // Touch all of that memory at the beginning.
        computed.iter().chain(&fates).for_each(|count| count.store(0, Ordering::SeqCst));
        let computed = Arc::new(computed);
        let limits = Limits { threads: Some(2), max_batch: 16, lanes: 4, capacity: Some(6), linger: None };
        let numbers = computed.clone();
        let make = move || Queue::new(Numbers::new(&numbers), limits);
        Self { queues: PerProcessQueue::new(make), computed, fates, wanted: wanted as u64 }
    }

    fn number(random: &mut Random, number: usize) -> Number {
        Number { number, kind: Kind::ALL[random.below(4) as usize], panics: random.one_in(500) }
    }

    fn computed(&self, number: usize) -> u8 {
        self.computed[number].load(Ordering::SeqCst)
    }

    fn fate(&self, number: usize, outcome: Result<usize, QueueError>) -> Fate {
        match outcome {
            Ok(result) => {
                assert_eq!((result, self.computed(number)), (number, 1));
                Fate::Answered
            }
            Err(QueueError::Panicked) => Fate::Panicked,
            Err(QueueError::Expired) => Fate::Expired,
            Err(QueueError::Full) => Fate::Refused,
            Err(other) => panic!("{number}: {other:?}"),
        }
    }

    /// Makes the request of that number.
    fn one(&self, random: &mut Random, number: usize, forks: &Forks) -> Fate {
        let (queue, operation) = (self.queues.queue(), Self::number(random, number));
        match random.below(10) {
            0..5 => return self.fate(number, queue.call(operation, None)),
            5 => {
                let deadline = Instant::now() + Duration::from_micros(random.below(30));
                return self.fate(number, queue.call(operation, Some(deadline)));
            }
            _ => {}
        }
        let bell = Arc::new(Bell { panics: random.one_in(100), ..Bell::default() });
        let (way, forgets) = (random.below(4), random.one_in(10));
        // If nobody takes a result, nobody sees that it came too late.
        let hurries = way > 1 && !forgets && random.one_in(3);
        let deadline = hurries.then(|| Instant::now() + Duration::from_micros(random.below(30)));
        let request = Request::new(operation, Ring(bell.clone()), deadline);
        if queue.push(request.clone()) == Err(QueueError::Full) {
            return Fate::Refused;
        }
        let fate = Cell::new(Fate::Answered);
        let ticket = Ticket { queue, request: request.clone(), fate: &fate };
        match way {
            0 => drop(ticket),
            1 => panics(|| {
                let _ticket = ticket;
                queue.kick();
                meant_to();
            }),
            _ => {
                if random.below(self.wanted) < 4 * CHILDREN {
                    let starting = queue.compute().starting.lock().expect("no panic");
                    let child = forks.fork(|| self.in_a_child(number));
                    drop(starting);
                    if let Some(child) = child {
                        child.succeeds();
                    }
                }
                queue.kick();
                bell.wait();
                if forgets {
                    // The result is there, and nobody takes it.
                    drop(ticket);
                    return fate.get();
                }
                let outcome = request.collect().expect("a result");
                assert_eq!(request.collect(), None, "answered twice");
                assert!(!queue.withdraw(&request));
                drop(ticket);
                let fate = self.fate(number, outcome);
                assert!(
                    fate != Fate::Expired || self.computed(number) == 0,
                    "{number}: too late, and computed"
                );
                return fate;
            }
        }
        fate.get()
    }

    /// A child has its own queue, which computes; here, each number is computed once more.
    fn in_a_child(&self, from: usize) {
        let queue = self.queues.queue();
        assert_eq!((queue.metrics().operations, queue.waiting()), (0, 0));
        for number in (from..self.computed.len()).take(20) {
            self.computed[number].store(0, Ordering::SeqCst);
            let operation = || Number { number, kind: Kind::Private, panics: false };
            let outcome = if number % 2 == 0 {
                queue.call(operation(), None)
            } else {
                queue.call_elsewhere(operation(), None)
            };
            assert_eq!(self.fate(number, outcome), Fate::Answered);
        }
    }
}

pub fn soak_of_numbers() {
    let (wanted, report) = (amount("ZARIZ_SOAK_REQUESTS", 30_000), Report::new("-requests.md"));
    let callers = Box::new(Callers::new(wanted));
    let soak = Soak::run("numbers, given back", &report, wanted, |random, number, forks| {
        let fate = callers.one(random, number, forks);
        callers.fates[number].store(fate as u8 + 1, Ordering::SeqCst);
        if fate == Fate::Refused {
            // Let the threads run whose requests wait.
            thread::sleep(Duration::from_micros(50));
        }
        [fate]
    });
    let seen = Fate::ALL.into_iter().filter(|&fate| fate != Fate::GivenUp);
    soak.check(&report, &seen.collect::<Vec<_>>());
    let queue = callers.queues.queue();
    // Workers may still compute withdrawn requests.
    queue.close();
    let metrics = queue.metrics();
    println!("{metrics:?}");
    // For each number: whether it was computed must agree with its fate.
    let (mut made, mut computed) = (0, 0);
    for (number, fate) in callers.fates.iter().enumerate() {
        let (fate, count) = (fate.load(Ordering::SeqCst).checked_sub(1), callers.computed(number));
        let fate = fate.map(|fate| Fate::ALL[usize::from(fate)]);
        let expected = match fate {
            Some(Fate::Answered | Fate::ThrownAway | Fate::Panicked) => 1..=1,
            // A thread's deadline may pass while its request is computed.
            Some(Fate::Expired) => 0..=1,
            None | Some(Fate::Withdrawn | Fate::GivenUp | Fate::Refused) => 0..=0,
        };
        assert!(expected.contains(&count), "{number}, {fate:?}, was computed {count} times");
        (made, computed) = (made + usize::from(fate.is_some()), computed + u64::from(count));
    }
    assert_eq!((made, queue.waiting(), metrics.operations), (soak.done, 0, computed));
    let counted = [metrics.withdrawn, metrics.refused, metrics.expired];
    assert_eq!(counted, [Fate::Withdrawn, Fate::Refused, Fate::Expired].map(|fate| soak.of(fate)));
}
