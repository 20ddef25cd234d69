//! What a batcher costs and gains: RSA-2048 signatures on one core. Run it as
//! `taskset -c 0 cargo run --release -p zariz --example batcher_costs`. All that is compared takes turns in
//! short rounds, and every ratio or difference is the median of those of single rounds.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use zariz::Dispatch;
use zariz::batcher::provider::{Compute, Kind, Limits, Queue};
use zariz::batcher::{Batcher, Primitive, PrimitiveResult, primitive_many};
use zariz::rsa::{Algorithm, PrivateKey};

/// How many callers sign at once.
const CALLERS: usize = 64;
/// How many messages each of them signs in a round. With few, some threads of one core sign all of theirs
/// before others begin.
const EACH: usize = 100;
/// The default size of a batcher's full batch.
const FULL: usize = 16;

const ALG: Algorithm = Algorithm::RS256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = PrivateKey::generate(2048)?;
    let processors = thread::available_parallelism()?;
    println!(
        "RSA-2048, RS256, engine {}, {processors} processor(s) for this process\n",
        Dispatch::Auto.main().name()
    );
    let rate = many_callers(&key, 10);
    one_caller(&key, 1000);
    arrivals(&key, rate / 2.0, 10_000, 9);
    Ok(())
}

/// 64 callers at once beside `sign_batch` of 64. Returns that one's rate.
fn many_callers(key: &PrivateKey, rounds: usize) -> f64 {
    println!(
        "| {CALLERS} at once | signatures/s | of sign_batch({CALLERS}) | mean batch |\n|---|---:|---:|---:|"
    );
    let messages = [b"message".as_slice(); CALLERS];
    let (mut direct, mut rows) = (Vec::new(), Vec::new());
    for max_batch in [FULL, CALLERS] {
        let batchers = [(); 2].map(|()| Batcher::builder().max_batch(max_batch).build());
        let (mut blocking, mut awaiting) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for _ in 0..rounds {
            let seconds = timed(|| {
                for _ in 0..EACH {
                    assert!(key.sign_batch(ALG, &messages).iter().all(Result::is_ok), "a signature failed");
                }
            });
            let rate = |seconds: f64| (CALLERS * EACH) as f64 / seconds;
            direct.push(rate(seconds));
            for (of, other) in
                [(&mut blocking, threads(&batchers[0], key)), (&mut awaiting, futures(&batchers[1], key))]
            {
                of.0.push(rate(other));
                of.1.push(seconds / other);
            }
        }
        for (name, (rates, ratios), batcher) in
            [("threads", blocking, &batchers[0]), ("futures, one thread", awaiting, &batchers[1])]
        {
            rows.push((
                format!("{name}, batches of up to {max_batch}"),
                rates,
                ratios,
                batcher.metrics().mean_batch(),
            ));
        }
    }
    let direct = median(direct);
    println!("| sign_batch | {direct:.0} | 1.00 | {CALLERS} |");
    for (name, rates, ratios, batch) in rows {
        println!("| {name} | {:.0} | {:.3} | {batch:.1} |", median(rates), median(ratios));
    }
    println!();
    direct
}

/// The seconds that 64 threads need to sign, from when the first of them begins until the last is done.
fn threads(batcher: &Batcher, key: &PrivateKey) -> f64 {
    let barrier = Barrier::new(CALLERS);
    let caller = || {
        barrier.wait();
        let begin = Instant::now();
        for _ in 0..EACH {
            batcher.sign(key, ALG, b"message").expect("the batcher signs");
        }
        (begin, Instant::now())
    };
    let (begins, ends): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        let callers = [(); CALLERS].map(|()| scope.spawn(caller));
        callers.map(|caller| caller.join().expect("the caller has signed")).into_iter().unzip()
    });
    let (begin, end) = (begins.into_iter().min(), ends.into_iter().max());
    end.zip(begin).map_or(f64::NAN, |(end, begin)| (end - begin).as_secs_f64())
}

/// The seconds that 64 tasks of one thread need to sign.
fn futures(batcher: &Batcher, key: &PrivateKey) -> f64 {
    let signer = batcher.signer(key, ALG);
    let task = || async {
        for _ in 0..EACH {
            signer.sign(b"message").await.expect("the batcher signs");
        }
    };
    timed(|| run_all((0..CALLERS).map(|_| Box::pin(task()) as Task).collect()))
}

/// One caller alone: through a batcher, and without.
fn one_caller(key: &PrivateKey, rounds: usize) {
    let batcher = Batcher::new();
    let signer = batcher.signer(key, ALG);
    let ways: [(&str, &dyn Fn()); 3] = [
        ("PrivateKey::sign", &|| drop(key.sign(ALG, b"message").expect("the key signs"))),
        ("Batcher::sign", &|| drop(batcher.sign(key, ALG, b"message").expect("the batcher signs"))),
        ("Signer::sign, awaited", &|| {
            let task = async { drop(signer.sign(b"message").await.expect("the batcher signs")) };
            run_all(vec![Box::pin(task)]);
        }),
    ];
    let mut micros = [(); 3].map(|()| Vec::with_capacity(rounds));
    for round in 0..rounds {
        for turn in 0..ways.len() {
            let way = (round + turn) % ways.len();
            micros[way].push(timed(ways[way].1) * 1e6);
        }
    }
    println!("| one at a time | median µs | median difference, µs |\n|---|---:|---:|");
    for (of, (name, _)) in micros.iter().zip(ways) {
        let differences = of.iter().zip(&micros[0]).map(|(this, direct)| this - direct).collect();
        println!("| {name} | {:.1} | {:+.1} |", median(of.clone()), median(differences));
    }
    println!();
}

/// Computes primitives as a batcher does, and notes how many microseconds each waited: since it should have
/// come, and since it was asked for.
struct Noting(Mutex<Vec<[f64; 2]>>);

impl Compute for Noting {
    type Operation = ([Instant; 2], Primitive);
    type Output = PrimitiveResult;
    type Waiter = ();

    fn kind((_, primitive): &Self::Operation) -> Kind {
        primitive.kind()
    }

    fn compute(&self, batch: &[&Self::Operation]) -> Vec<PrimitiveResult> {
        let now = Instant::now();
        let waits = batch
            .iter()
            .map(|(times, _)| times.map(|time| now.saturating_duration_since(time).as_secs_f64() * 1e6));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(waits);
        let primitives: Vec<_> = batch.iter().map(|(_, primitive)| primitive).collect();
        primitive_many(&primitives)
    }
}

/// The shares of requests whose longest wait is shown.
const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Poisson arrivals, each taken by a thread that sleeps until its time, and how long they wait until their
/// batch begins: from the call, and from the time that the thread slept for. Between the two, the system
/// wakes the thread, on the processor that computes.
fn arrivals(key: &PrivateKey, rate: f64, count: usize, rounds: usize) {
    let messages = [b"message".as_slice(); FULL];
    let full = median((0..100).map(|_| timed(|| drop(key.sign_batch(ALG, &messages))) * 1e6).collect());
    let lanes = Dispatch::Auto.main().lanes();
    let limits = Limits { threads: Some(1), max_batch: FULL, lanes, capacity: None, linger: None };
    let queue = Queue::new(Noting(Mutex::default()), limits);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut found = [(); 2].map(|()| PERCENTILES.map(|_| Vec::new()));
    for _ in 0..rounds {
        arrive(&queue, key, &poisson(&mut random, rate, count));
        let waits = std::mem::take(&mut *queue.compute().0.lock().unwrap_or_else(PoisonError::into_inner));
        for (found, from) in found.iter_mut().zip([1, 0]) {
            let mut waits: Vec<_> = waits.iter().map(|wait| wait[from]).collect();
            waits.sort_by(f64::total_cmp);
            for (found, share) in found.iter_mut().zip(PERCENTILES) {
                found.push(waits[((waits.len() - 1) as f64 * share) as usize]);
            }
        }
    }
    let heads = format!("median µs | worst | median, of a full batch ({FULL}: {full:.0} µs)");
    println!("| {rounds} times {count} Poisson arrivals, {rate:.0} per second | {heads} |");
    println!("|---|---:|---:|---:|");
    for (found, name) in found.into_iter().zip(["call", "arrival"]) {
        for (found, share) in found.into_iter().zip(PERCENTILES) {
            let (worst, wait) = (found.iter().copied().fold(0.0, f64::max), median(found));
            let share = share * 100.0;
            println!(
                "| {share}th percentile, {name} to begin of batch | {wait:.0} | {worst:.0} | {:.2} |",
                wait / full
            );
        }
    }
    let metrics = queue.metrics();
    println!("\nmean batch {:.2}, largest {}", metrics.mean_batch(), metrics.largest_batch);
}

/// So many times of arrivals, in seconds.
fn poisson(random: &mut u64, rate: f64, count: usize) -> Vec<f64> {
    let mut at = 0.1;
    let mut next = || {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        at -= ((*random >> 11) as f64 + 1.0).ln() / rate - 53.0 * std::f64::consts::LN_2 / rate;
        at
    };
    (0..count).map(|_| next()).collect()
}

/// Makes a request at each of these times.
fn arrive(queue: &Arc<Queue<Noting>>, key: &PrivateKey, times: &[f64]) {
    let (next, start, number) = (AtomicUsize::new(0), Instant::now(), vec![0x55; 256]);
    let number = &number;
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                while let Some(time) = times.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let due = start + Duration::from_secs_f64(*time);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    let primitive = Primitive::Private(key.clone(), number.clone().into());
                    let result =
                        queue.call(([due, Instant::now()], primitive), None).expect("the queue computes");
                    result.expect("the number is below the modulus");
                }
            });
        }
    });
}

type Task<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The tasks that can go on.
#[derive(Default)]
struct Ready {
    tasks: Mutex<VecDeque<usize>>,
    some: Condvar,
    /// The executor's thread sleeps until there are some. To wake it otherwise would be a needless system
    /// call.
    asleep: AtomicBool,
}

struct TaskWaker {
    task: usize,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.tasks.lock().unwrap_or_else(PoisonError::into_inner).push_back(self.task);
        if self.ready.asleep.load(Ordering::Relaxed) {
            self.ready.some.notify_one();
        }
    }
}

/// An executor: runs tasks on this thread until all are done.
fn run_all(mut tasks: Vec<Task>) {
    let ready = Arc::new(Ready::default());
    let wakers: Vec<_> = (0..tasks.len())
        .map(|task| Waker::from(Arc::new(TaskWaker { task, ready: ready.clone() })))
        .collect();
    wakers.iter().for_each(Waker::wake_by_ref);
    let mut left = tasks.len();
    let mut done = vec![false; left];
    while left > 0 {
        let mut queue = ready.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let task = loop {
            match queue.pop_front() {
                Some(task) => break task,
                None => {
                    ready.asleep.store(true, Ordering::Relaxed);
                    queue = ready.some.wait(queue).unwrap_or_else(PoisonError::into_inner);
                    ready.asleep.store(false, Ordering::Relaxed);
                }
            }
        };
        drop(queue);
        if !done[task]
            && let Poll::Ready(()) = tasks[task].as_mut().poll(&mut Context::from_waker(&wakers[task]))
        {
            done[task] = true;
            left -= 1;
        }
    }
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
