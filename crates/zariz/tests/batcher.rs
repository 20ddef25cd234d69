//! Batchers: every sort of request has the result that it has alone; callers block, await, give up and come
//! late.
#![cfg(feature = "keygen")]

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use zariz::Modulus;
use zariz::batcher::{Batcher, Error, Job, Pending, Policy, Primitive, QueueError, Signer, WhenFull};
use zariz::rsa::blind::{self, Variant};
use zariz::rsa::{self, Algorithm, Hash, Message, Padding, PrivateKey, PublicKey};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls all futures in turn until they are ready, as an executor with one thread does.
fn wait_all<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut results: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    while results.iter().any(Option::is_none) {
        for (future, result) in futures.iter_mut().zip(&mut results).filter(|(_, result)| result.is_none()) {
            if let Poll::Ready(output) = Pin::new(future).poll(&mut context) {
                *result = Some(output);
            }
        }
        if results.iter().any(Option::is_none) {
            thread::park();
        }
    }
    results.into_iter().flatten().collect()
}

fn key() -> PrivateKey {
    PrivateKey::generate(1024).expect("a key")
}

#[test]
fn every_sort_of_request_has_its_result() {
    let (batcher, key) = (Batcher::new(), key());
    let public: &PublicKey = key.public_key();
    for algorithm in [Algorithm::RS256, Algorithm::PS256] {
        let signature = batcher.sign(&key, algorithm, b"message").expect("a signature");
        public.verify(algorithm, b"message", &signature).expect("it is right");
    }
    let digest = Hash::Sha256.digest(&[b"message"]);
    let job = Job::sign(&key, Algorithm::RS256, Message::Digest(&digest)).expect("a job");
    assert_eq!(batcher.call(job), Ok(key.sign(Algorithm::RS256, b"message").expect("a signature")));
    for padding in [Padding::oaep(Hash::Sha256), Padding::Pkcs1v15] {
        let ciphertext = public.encrypt(&padding, b"secret").expect("a ciphertext");
        assert_eq!(batcher.decrypt(&key, &padding, &ciphertext).expect("a message")[..], *b"secret");
    }
    let mut number = vec![0; 128];
    number[127] = 2;
    let opened = batcher.call(Job::primitive(Primitive::Public(public.clone(), number.clone().into())));
    let back = batcher.call(Job::primitive(Primitive::Private(key.clone(), opened.expect("a power"))));
    assert_eq!(back.expect("a power")[..], number);
    let modulus = Modulus::new(&[35]).expect("an odd number");
    assert_eq!(batcher.pow(&modulus, &[2], &[10]), Ok(modulus.pow(&[2], &[10])));
}

#[test]
fn blind_signatures() {
    let (batcher, variant) = (Batcher::new(), Variant::RECOMMENDED);
    let key = blind::PrivateKey::new(variant, &key()).expect("a key");
    let refused = batcher.call(Job::blind_sign(&key, &[0xff; 128]));
    assert_eq!(refused, Err(Error::Rsa(rsa::Error::OutOfRange)));
    let prepared = variant.prepare(b"message").expect("a message");
    let blinded = key.public_key().blind(&prepared).expect("blinded");
    let signed = wait_all(vec![batcher.submit(Job::blind_sign(&key, &blinded.message))]).remove(0);
    let signature = key
        .public_key()
        .finalize(&prepared, &signed.expect("signed"), &blinded.inverse)
        .expect("a signature");
    key.public_key().verify(&prepared, &signature).expect("it is right");
}

/// A message of its own for each request, so that a result that went to another request is seen.
fn messages(of: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{of}, {i}")).collect()
}

/// Each message's signature by the key alone.
fn expected(key: &PrivateKey, messages: &[String]) -> Vec<Result<Vec<u8>, Error>> {
    messages
        .iter()
        .map(|message| Ok(key.sign(Algorithm::RS256, message.as_bytes()).expect("a signature")))
        .collect()
}

fn sign_all(signer: &Signer, messages: &[String]) -> Vec<Result<Vec<u8>, Error>> {
    wait_all(messages.iter().map(|message| signer.sign(message.as_bytes())).collect())
}

/// All tasks that are ready share batches.
#[test]
fn awaited_signatures_share_batches() {
    let batcher = Batcher::builder().threads(1).build();
    let signer = batcher.signer(&key(), Algorithm::RS256);
    let messages = messages("awaited", 64);
    let expected = expected(signer.key(), &messages);
    assert_eq!(sign_all(&signer, &messages), expected);
    let metrics = batcher.metrics();
    assert_eq!((metrics.operations, metrics.largest_batch), (64, 16));
    assert!(metrics.batches <= 8, "{metrics:?}");
    assert_eq!(signer.sign_blocking(messages[0].as_bytes()), expected[0]);
}

#[test]
fn errors_of_one_are_not_those_of_others() {
    let (batcher, key) = (Batcher::new(), key());
    let signer = batcher.signer(&key, Algorithm::RS256);
    let short = batcher.signer(
        &key,
        Algorithm::Pss { hash: Hash::Sha512, mgf: rsa::Mgf::Mgf1(Hash::Sha512), salt_len: 100 },
    );
    let results = wait_all(vec![signer.sign(b"one"), short.sign(b"two"), signer.sign(b"three")]);
    let sign = |message: &[u8]| Ok(key.sign(Algorithm::RS256, message).expect("a signature"));
    assert_eq!([&results[0], &results[2]], [&sign(b"one"), &sign(b"three")]);
    assert_eq!(results[1], Err(Error::Rsa(rsa::Error::KeyTooShort)));
    let late = Job::sign(&key, Algorithm::RS256, b"late").expect("a job").with_deadline(Instant::now());
    assert_eq!(batcher.call(late), Err(Error::Queue(QueueError::Expired)));
    let late = Job::sign(&key, Algorithm::RS256, b"late").expect("a job").with_deadline(Instant::now());
    assert_eq!(wait_all(vec![batcher.submit(late)]), [Err(Error::Queue(QueueError::Expired))]);
}

/// On a worker's thread, says that it was called, and returns when it may.
struct Held {
    polls_on: Thread,
    called: mpsc::Sender<()>,
    go_on: Mutex<mpsc::Receiver<()>>,
}

impl Wake for Held {
    fn wake(self: Arc<Self>) {
        if thread::current().id() != self.polls_on.id() {
            self.called.send(()).expect("the test waits");
            self.go_on.lock().expect("no panic").recv().expect("the test goes on");
        }
    }
}

/// Clones of two keys, one of them for another engine, and one key loaded again, as a server has them that
/// loads its keys per connection: in one batch, each has its own signature.
#[test]
fn clones_and_keys_that_are_loaded_again_share_batches() {
    let (a, b) = (key(), key());
    let again = PrivateKey::parse(&a.to_der().expect("DER")).expect("a key");
    let portable = a.with_engine(zariz::Engine::Portable).expect("it is always there");
    let keys = [&a, &a.clone(), &b, &b.clone(), &again, &portable];
    let lanes = zariz::Dispatch::Auto.main().lanes();
    for order in [&[0, 2, 4, 1, 3, 5, 0, 4][..], &[5, 4, 3, 2, 1, 0, 0, 0, 4, 4, 1, 1, 2, 3, 2, 5, 0, 4, 1]] {
        let batcher = Batcher::builder().threads(1).max_batch(32).build();
        let messages: Vec<_> = (0..order.len()).map(|i| [i as u8; 9]).collect();
        let chosen = || messages.iter().zip(order.iter().map(|&i| keys[i]));
        let expected: Vec<_> = chosen()
            .map(|(message, key)| Ok(key.sign(Algorithm::RS256, message).expect("a signature")))
            .collect();
        let sign = |(message, key): (&[u8; 9], _)| {
            batcher.submit(Job::sign(key, Algorithm::RS256, message).expect("a job"))
        };
        let results = wait_all(chosen().map(sign).collect());
        assert_eq!(results, expected);
        for ((message, key), signature) in chosen().zip(results) {
            key.public_key()
                .verify(Algorithm::RS256, message, &signature.expect("checked"))
                .expect("it is right");
        }
        let metrics = batcher.metrics();
        assert_eq!(metrics.operations, order.len() as u64);
        assert!(metrics.largest_batch >= 8 || lanes == 1, "{metrics:?}");
    }
    assert_eq!(rsa::check_failures(), 0);
}

/// A future that has its result wakes the others of its batch, while the worker is still in its waker.
#[test]
fn a_future_that_is_polled_wakes_the_others() {
    struct Counted(AtomicUsize);
    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (called, was_called) = mpsc::channel();
    let (let_go, go_on) = mpsc::channel();
    let held = Waker::from(Arc::new(Held { polls_on: thread::current(), called, go_on: Mutex::new(go_on) }));
    let counted = Arc::new(Counted(AtomicUsize::new(0)));
    let other = Waker::from(counted.clone());
    let batcher = Batcher::builder().threads(1).build();
    let signer = batcher.signer(&key(), Algorithm::RS256);
    let (mut first, mut second) = (pin!(signer.sign(b"first")), pin!(signer.sign(b"second")));
    assert!(first.as_mut().poll(&mut Context::from_waker(&held)).is_pending());
    assert!(second.as_mut().poll(&mut Context::from_waker(&other)).is_pending());
    // This poll starts the computation. It may be so slow that the result is there.
    let signed =
        |message: &[u8]| Poll::Ready(Ok(signer.key().sign(Algorithm::RS256, message).expect("a signature")));
    let slow = first.as_mut().poll(&mut Context::from_waker(&held));
    was_called.recv().expect("the worker calls");
    if slow.is_pending() {
        let woken = counted.0.load(Ordering::SeqCst);
        assert_eq!(first.as_mut().poll(&mut Context::from_waker(&held)), signed(b"first"));
        assert_eq!(counted.0.load(Ordering::SeqCst), woken + 1);
    }
    let_go.send(()).expect("the worker waits");
    assert_eq!(second.as_mut().poll(&mut Context::from_waker(&other)), signed(b"second"));
    assert_eq!(batcher.metrics().largest_batch, 2);
}

fn poll<T>(pending: Pin<&mut Pending<T>>) -> Poll<Result<T, Error>> {
    pending.poll(&mut Context::from_waker(Waker::noop()))
}

/// Futures that are dropped leave the queue, in whichever stage they are.
#[test]
fn dropped_futures_leave_nothing_behind() {
    let batcher = Batcher::builder().threads(1).capacity(4).build();
    let signer = batcher.signer(&key(), Algorithm::RS256);
    for polls in (0..4).cycle().take(200) {
        let mut pending = pin!(signer.sign(b"given up"));
        for _ in 0..polls {
            if poll(pending.as_mut()).is_ready() {
                break;
            }
        }
    }
    let messages = messages("kept", 32);
    assert_eq!(sign_all(&signer, &messages), expected(signer.key(), &messages));
    assert!(batcher.metrics().withdrawn >= 50, "{:?}", batcher.metrics());
}

#[test]
fn a_full_queue_refuses_or_waits() {
    let batcher = Batcher::builder().threads(1).capacity(2).when_full(WhenFull::Refuse).build();
    let signer = batcher.signer(&key(), Algorithm::RS256);
    let three = messages("refused", 3);
    let mut all: Vec<_> = three.iter().map(|message| Box::pin(signer.sign(message.as_bytes()))).collect();
    assert!(all[..2].iter_mut().all(|pending| poll(pending.as_mut()).is_pending()));
    assert_eq!(poll(all[2].as_mut()), Poll::Ready(Err(Error::Queue(QueueError::Full))));
    assert_eq!(wait_all(all.drain(..2).collect()), expected(signer.key(), &three[..2]));
    let batcher = Batcher::builder().threads(1).capacity(2).build();
    let signer = batcher.signer(signer.key(), Algorithm::RS256);
    let messages = messages("waits", 20);
    assert_eq!(sign_all(&signer, &messages), expected(signer.key(), &messages));
}

/// Futures that are dropped, forgotten, or whose time ends while many wait, keep the others from nothing.
#[test]
fn futures_that_give_up_are_in_nobodys_way() {
    let batcher = Batcher::builder().threads(1).capacity(1).max_batch(1).build();
    let key = key();
    let signer = batcher.signer(&key, Algorithm::RS256);
    for round in 0..50 {
        let deadline = Instant::now() + Duration::from_micros(200);
        let (messages, mut forgotten) = (messages("in time", 12), signer.sign(b"forgotten"));
        let _ = poll(Pin::new(&mut forgotten));
        std::mem::forget(forgotten);
        let job = |i: usize| Job::sign(&key, Algorithm::RS256, messages[i].as_bytes()).expect("a job");
        let pending = |i| batcher.submit(if i % 3 == 1 { job(i).with_deadline(deadline) } else { job(i) });
        let mut all: Vec<_> = (0..12).map(|i| (i, Box::pin(pending(i)))).collect();
        // On a slow machine some have their results already.
        all.retain_mut(|(_, pending)| poll(pending.as_mut()).is_pending());
        if round % 2 == 0 {
            thread::sleep(Duration::from_millis(2));
        }
        let (numbers, left): (Vec<_>, Vec<_>) = all.into_iter().filter(|(i, _)| i % 3 != 2).unzip();
        for (i, result) in numbers.into_iter().zip(wait_all(left)) {
            let expired = i % 3 == 1 && result == Err(Error::Queue(QueueError::Expired));
            assert!(expired || result == expected(&key, &messages[i..=i])[0], "{i}: {result:?}");
        }
    }
    let metrics = batcher.metrics();
    assert!(metrics.expired > 0 && metrics.operations > 0, "{metrics:?}");
}

#[test]
fn a_policy_for_throughput_fills_batches() {
    // The test would take that long, if requests that fill the lanes waited.
    let linger = Duration::from_secs(3600);
    let batcher = Batcher::builder().threads(1).policy(Policy::Throughput { linger }).build();
    let (key, lanes) = (key(), zariz::Dispatch::Auto.main().lanes());
    thread::scope(|scope| {
        for message in messages("a lane", lanes) {
            let (batcher, key) = (&batcher, &key);
            scope.spawn(move || {
                let signed = batcher.sign(key, Algorithm::RS256, message.as_bytes());
                assert_eq!(signed, expected(key, &[message])[0]);
            });
        }
    });
    let metrics = batcher.metrics();
    assert_eq!((metrics.operations, metrics.batches), (lanes as u64, 1));
}

/// Threads that sign, await and give up at once: each request has the result of its own message.
#[test]
fn many_threads_of_all_sorts() {
    let batcher = Batcher::builder().capacity(16).build();
    let keys = [key(), PrivateKey::generate(1536).expect("a key")];
    thread::scope(|scope| {
        for t in 0..8 {
            let (batcher, keys) = (&batcher, &keys);
            scope.spawn(move || {
                for i in 0..100 {
                    let signer = batcher.signer(&keys[(t + i) % 2], Algorithm::RS256);
                    let messages = messages(&format!("thread {t}, round {i}"), 3);
                    match (t + i / 2) % 3 {
                        0 => {
                            let signed = signer.sign_blocking(messages[0].as_bytes());
                            assert_eq!(signed, expected(signer.key(), &messages)[0]);
                        }
                        1 => drop(poll(pin!(signer.sign(b"given up")))),
                        _ => assert_eq!(sign_all(&signer, &messages), expected(signer.key(), &messages)),
                    }
                }
            });
        }
    });
}

/// Calls a program's function when it is woken by another thread than the one that polls; then unparks that
/// one.
struct Calls<F>(Thread, F);

impl<F: Fn() + Send + Sync + 'static> Wake for Calls<F> {
    fn wake(self: Arc<Self>) {
        if thread::current().id() != self.0.id() {
            (self.1)();
        }
        self.0.unpark();
    }
}

/// Polls a future with a waker that calls a function, until it is ready.
fn wait_with<T>(pending: Pending<T>, function: impl Fn() + Send + Sync + 'static) -> Result<T, Error> {
    let waker = Waker::from(Arc::new(Calls(thread::current(), function)));
    let mut pending = pin!(pending);
    loop {
        if let Poll::Ready(result) = pending.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        thread::park();
    }
}

/// Under each policy, with one batch at a time and with two.
fn batchers() -> impl Iterator<Item = Batcher> {
    let throughput = |linger| Policy::Throughput { linger };
    [Policy::Latency, throughput(Duration::ZERO), throughput(Duration::from_millis(1))].into_iter().flat_map(
        |policy| [1, 2].map(|threads| Batcher::builder().threads(threads).capacity(2).policy(policy).build()),
    )
}

/// A thread signs while it holds the lock that wakers need.
#[test]
fn a_thread_may_hold_a_lock_that_wakers_need() {
    for batcher in batchers() {
        let (key, lock) = (key(), Arc::new(Mutex::new(())));
        let signer = batcher.signer(&key, Algorithm::RS256);
        let (reached, begun) = mpsc::channel();
        let held = lock.lock().expect("no panic");
        let of_futures = messages("future", 3);
        thread::scope(|scope| {
            for message in &of_futures {
                let (signer, lock, reached) = (&signer, lock.clone(), reached.clone());
                scope.spawn(move || {
                    let result = wait_with(signer.sign(message.as_bytes()), move || {
                        // More than one may come.
                        let _ = reached.send(());
                        drop(lock.lock().expect("no panic"));
                    });
                    assert_eq!(result, expected(signer.key(), std::slice::from_ref(message))[0]);
                });
            }
            drop(reached);
            // A thread that awaits may be so late that it wakes itself.
            let _ = begun.recv();
            for message in messages("thread", 5) {
                let signed = batcher.sign(&key, Algorithm::RS256, message.as_bytes());
                assert_eq!(signed, expected(&key, &[message])[0]);
            }
            drop(held);
        });
    }
}

/// Wakers sign; and they wait for a thread that signs, or awaits a signature.
#[test]
fn wakers_may_use_the_batcher() {
    type Use = fn(&Batcher, &PrivateKey, &[u8]) -> Result<Vec<u8>, Error>;
    let blocks: Use = |batcher, key, message| batcher.sign(key, Algorithm::RS256, message);
    let awaits: Use = |batcher, key, message| {
        wait_all(vec![batcher.signer(key, Algorithm::RS256).sign(message)]).pop().expect("one result")
    };
    for batcher in batchers() {
        let key = key();
        let signer = batcher.signer(&key, Algorithm::RS256);
        for (i, message) in messages("outside", 12).into_iter().enumerate() {
            let (batcher, key) = (batcher.clone(), key.clone());
            let result = wait_with(signer.sign(message.as_bytes()), move || {
                let (usage, own) = (if i % 2 == 0 { blocks } else { awaits }, messages("in a waker", i + 1));
                let signs = || usage(&batcher, &key, own[i].as_bytes());
                let signed = if i % 4 < 2 {
                    signs()
                } else {
                    thread::scope(|scope| scope.spawn(signs).join().expect("no panic"))
                };
                assert_eq!(signed, expected(&key, &own)[i]);
            });
            assert_eq!(result, expected(signer.key(), &[message])[0]);
        }
    }
}
