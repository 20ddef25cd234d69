//! ASYNC jobs: requests of one thread's event loop are gathered and computed together, and each job is woken
//! when its own request is done.

mod common;

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use std::{ptr, thread};

use common::job::{Job, Wait, only_fd, readable, serve};
use common::keys::{PEM_2048, kinds, rsa_2048};
use common::loops::{Signing, sign_in_a_loop};
use common::operation::operate;
use common::process::{files_return_to, open_files, resident};
use common::signing::Known;
use common::threads::{Guard, in_threads};
use common::{Key, Operation, Params, Side, World, alone, ffi, is_zariz, stream};

#[test]
fn an_event_loop_of_64_jobs() {
    let (_alone, _guard) = (alone(), Guard::new("an event loop of 64 jobs"));
    let world = World::new();
    let known = [1, 2, 3].map(|number| Known::new(&world, PEM_2048, number));
    let before = world.counters();
    sign_in_a_loop(&world, &known, 64, 1000);
    if is_zariz() {
        let done = world.counters().since(before);
        println!("{done:?}, mean batch {:.1}", done.mean_batch());
        assert_eq!((done.private, done.fallbacks, done.check_failures), (1000, 0, 0), "{done:?}");
        assert!(done.mean_batch() > 8.0, "hardly anything was computed together: {done:?}");
    }
}

#[test]
fn jobs_with_keys_of_several_sizes() {
    let (_alone, _guard) = (alone(), Guard::new("jobs with keys of several sizes"));
    for settings in [
        &[][..],
        &[("threads", "1")],
        &[("max-batch", "1")],
        &[("max-batch", "5"), ("threads", "2")],
        &[("threads", "0")],
    ] {
        let world = World::with(settings);
        let known = Known::several(&world);
        for concurrent in [1, 2, 7, 200] {
            sign_in_a_loop(&world, &known, concurrent, 200);
        }
    }
}

/// Two threads with event loops, beside threads without jobs.
#[test]
fn several_event_loops() {
    let (_alone, _guard) = (alone(), Guard::new("several event loops"));
    let world = World::new();
    let known = Known::several(&world);
    in_threads(4, |t| {
        if t < 2 {
            sign_in_a_loop(&world, &known, 32, 300);
        } else {
            assert!((0..60).all(|i| known[i % known.len()].signs(&world)));
        }
    });
}

/// A program that resumes jobs without checking that they are ready.
#[test]
fn spurious_resumes() {
    let (_alone, _guard) = (alone(), Guard::new("spurious resumes"));
    let world = World::new();
    let known = Known::several(&world);
    for round in 0..5 {
        let mut signings: Vec<Signing> =
            (0..32).map(|i| Signing::new(&world, &known[i % known.len()])).collect();
        let mut jobs: Vec<Job> = signings.iter_mut().map(|signing| signing.job(Wait::new())).collect();
        let mut resumes = 0;
        while jobs.iter().any(|job| job.result.is_none()) {
            // Backwards in every second round, so the first job is not always resumed first.
            let count = jobs.len();
            for i in 0..count {
                let at = if round % 2 == 0 { i } else { count - 1 - i };
                if jobs[at].result.is_none() {
                    jobs[at].resume();
                    resumes += 1;
                    if jobs[at].is_paused() {
                        only_fd(&jobs[at]);
                    }
                }
            }
        }
        println!("{resumes} resumes");
        assert!(jobs.iter().all(|job| job.result == Some(1)));
        assert!(signings.iter().all(Signing::is_right));
    }
}

/// The jobs for which the callback has been called.
#[derive(Default)]
struct Woken {
    queue: Mutex<VecDeque<usize>>,
    more: Condvar,
}

/// The argument of a callback.
struct Wake {
    index: usize,
    woken: Arc<Woken>,
}

unsafe extern "C" fn wake(argument: *mut c_void) -> c_int {
    // SAFETY: a `Wake` that lives as long as the wait context.
    let wake = unsafe { &*argument.cast::<Wake>() };
    wake.woken.queue.lock().expect("the queue").push_back(wake.index);
    wake.woken.more.notify_one();
    1
}

/// With a callback in the wait context instead of file descriptors.
#[test]
fn jobs_with_a_callback() {
    let (_alone, _guard) = (alone(), Guard::new("jobs with a callback"));
    let world = World::new();
    let known = Known::several(&world);
    let woken = Arc::new(Woken::default());
    let count = 64;
    let wakes: Vec<Wake> = (0..count).map(|index| Wake { index, woken: woken.clone() }).collect();
    let before = world.counters();
    for _ in 0..4 {
        let mut signings: Vec<Signing> =
            (0..count).map(|i| Signing::new(&world, &known[i % known.len()])).collect();
        let mut jobs: Vec<Job> = Vec::new();
        for (signing, wake_argument) in signings.iter_mut().zip(&wakes) {
            let wait = Wait::new();
            let argument = ptr::from_ref(wake_argument).cast_mut().cast();
            // SAFETY: a live wait context, and an argument that outlives it.
            assert_eq!(unsafe { ffi::ASYNC_WAIT_CTX_set_callback(wait.raw(), wake, argument) }, 1);
            let mut job = signing.job(wait);
            job.resume();
            jobs.push(job);
        }
        while jobs.iter().any(|job| job.result.is_none()) {
            let queue = woken.queue.lock().expect("the queue");
            let (mut queue, late) = woken
                .more
                .wait_timeout_while(queue, Duration::from_secs(120), |queue| queue.is_empty())
                .expect("the queue");
            assert!(!late.timed_out(), "nothing was woken in two minutes");
            let next = queue.pop_front().expect("not empty");
            drop(queue);
            if jobs[next].result.is_none() {
                jobs[next].resume();
            }
        }
        assert!(jobs.iter().all(|job| job.result == Some(1)));
        assert!(signings.iter().all(Signing::is_right));
        // A callback must not come after the wait context is freed.
        drop(jobs);
        woken.queue.lock().expect("the queue").clear();
    }
    if is_zariz() {
        let done = world.counters().since(before);
        println!("{done:?}, mean batch {:.1}", done.mean_batch());
        assert_eq!(done.private, 256, "{done:?}");
        assert!(done.largest_batch > 1, "{done:?}");
    }
}

fn resume_if_paused(job: &mut Job) {
    if job.is_paused() {
        job.resume();
    }
}

/// Abandoned jobs, as after a lost connection: wait context, EVP context and the signature's buffer are freed
/// at once, even during the computation. Other jobs go on, and only the abandoned jobs' stacks leak.
#[test]
fn abandoned_jobs() {
    let (_alone, _guard) = (alone(), Guard::new("abandoned jobs"));
    if !is_zariz() {
        // The default provider's jobs never pause.
        return;
    }
    let world = World::new();
    let known = Known::several(&world);
    let (files, before) = (open_files(), world.counters());
    sign_in_a_loop(&world, &known, 32, 64);
    for round in 0..20 {
        let mut signings: Vec<Signing> =
            (0..32).map(|i| Signing::new(&world, &known[i % known.len()])).collect();
        let mut jobs: Vec<Job> = signings.iter_mut().map(|signing| signing.job(Wait::new())).collect();
        let paused: Vec<bool> = jobs.iter_mut().map(|job| !job.resume()).collect();
        // A worker may have the result before its job pauses; but most jobs pause.
        let count = paused.iter().filter(|&&paused| paused).count();
        assert!(count >= 16, "{count} of 32 jobs pause");
        if round % 3 == 1 {
            // The batch is being computed.
            resume_if_paused(&mut jobs[0]);
        } else if round % 3 == 2 {
            // Or already done.
            resume_if_paused(&mut jobs[0]);
            thread::sleep(Duration::from_millis(5));
        }
        // Every second job is abandoned; in some rounds, this includes the first.
        let mut stay = Vec::new();
        for (at, (job, mut signing)) in jobs.into_iter().zip(signings).enumerate() {
            if at % 2 == round % 2 && job.is_paused() {
                job.abandon();
                signing.ctx = None;
                signing.out = Vec::new();
            } else {
                stay.push((job, signing));
            }
        }
        // The other jobs are not stalled.
        while let waiting = stay.iter().filter(|(job, _)| job.is_paused()).count()
            && waiting > 0
        {
            let fds: Vec<c_int> =
                stay.iter().map(|(job, _)| if job.is_paused() { only_fd(job) } else { -1 }).collect();
            let ready = readable(&fds);
            for ((job, _), ready) in stay.iter_mut().zip(ready) {
                if ready && job.is_paused() {
                    job.resume();
                }
            }
        }
        assert!(stay.iter().all(|(job, signing)| job.result == Some(1) && signing.is_right()));
    }
    // Abandon all jobs.
    for _ in 0..10 {
        let mut signings: Vec<Signing> =
            (0..16).map(|i| Signing::new(&world, &known[i % known.len()])).collect();
        for signing in &mut signings {
            let mut job = signing.job(Wait::new());
            if !job.resume() {
                job.abandon();
            }
        }
    }
    // A later request without a job gets its result.
    assert!(known[0].signs(&world));
    sign_in_a_loop(&world, &known, 32, 64);
    files_return_to(files);
    let done = world.counters().since(before);
    println!("{done:?}");
    assert_eq!(done.check_failures, 0, "{done:?}");
}

/// Memory does not grow with jobs that end.
#[test]
fn memory_is_flat() {
    let (_alone, _guard) = (alone(), Guard::new("memory is flat"));
    let world = World::new();
    let known = Known::several(&world);
    let files = open_files();
    sign_in_a_loop(&world, &known, 64, 1000);
    let before = resident();
    for _ in 0..4 {
        sign_in_a_loop(&world, &known, 64, 1000);
    }
    let after = resident();
    println!("{before} KiB before, {after} KiB after");
    assert!(after < before + 4096, "{before} KiB before, {after} KiB after");
    files_return_to(files);
}

/// Everything else that a job may do, right and wrong: several calls in one job, and one wait context for
/// many jobs.
#[test]
fn everything_in_jobs() {
    let (_alone, _guard) = (alone(), Guard::new("everything in jobs"));
    let world = World::new();
    let mut keys: Vec<(&str, Key)> =
        kinds(&world).into_iter().map(|kind| (kind.name, kind.key.on(&world, Side::Subject))).collect();
    // A key of the default provider, which zariz imports inside the job.
    keys.push(("the default provider's", rsa_2048(&world, Side::Reference)));
    let names: Vec<String> = keys.iter().map(|(name, _)| (*name).to_owned()).collect();
    let keys: Vec<Key> = keys.into_iter().map(|(_, key)| key).collect();
    let total = keys.len() * 4;
    serve(
        16,
        total,
        |i, wait| {
            let (world, key, text) = (&world, &keys[i % keys.len()], [i as u8; 4]);
            // Format no texts in the job, since its stack is small: a failure is a number.
            Job::with(wait, move || {
                let none = Params::new();
                let Ok(signature) = stream::sign(world, Side::Subject, key, Some("SHA256"), &none, &text)
                else {
                    return -1;
                };
                if stream::verify(world, Side::Subject, key, Some("SHA256"), &none, &signature, &text)
                    .is_err()
                {
                    return -2;
                }
                if stream::verify(world, Side::Subject, key, Some("SHA256"), &none, &signature, b"other")
                    .is_ok()
                {
                    return -3;
                }
                let Ok(ciphertext) = operate(world, Side::Subject, key, Operation::Encrypt, &none, &text)
                else {
                    return -4;
                };
                match operate(world, Side::Subject, key, Operation::Decrypt, &none, &ciphertext) {
                    Ok(plain) if plain == text => {}
                    _ => return -5,
                }
                let oaep = Params::new().text("pad-mode", "oaep");
                if operate(world, Side::Subject, key, Operation::Decrypt, &oaep, &ciphertext).is_ok() {
                    return -6;
                }
                if operate(world, Side::Subject, key, Operation::Sign, &none, &[0; 2000]).is_ok() {
                    return -7;
                }
                1
            })
        },
        |i, job| assert_eq!(job.result, Some(1), "{}", names[i % names.len()]),
    );
    // zariz imports keys of the default provider inside the job, and asks OpenSSL about some of them.
    let world = World::new();
    let keys = kinds(&world);
    serve(
        4,
        keys.len(),
        |i, wait| {
            let (world, key) = (&world, &keys[i].key);
            Job::with(wait, move || {
                let signed = stream::sign(world, Side::Subject, key, Some("SHA256"), &Params::new(), b"text");
                c_int::from(signed.is_ok())
            })
        },
        |i, job| assert_eq!(job.result, Some(1), "{}", keys[i].name),
    );
    // Keys are made in jobs, also if a setting changes the new key.
    for settings in [&[][..], &[("engine", "portable"), ("method", "amm")]] {
        let world = World::with(settings);
        serve(
            4,
            4,
            |_, wait| {
                let world = &world;
                Job::with(wait, move || {
                    c_int::from(
                        Key::generate(world, Side::Subject, &Params::new().size("bits", 1024)).is_ok(),
                    )
                })
            },
            |_, job| assert_eq!(job.result, Some(1)),
        );
    }
}

/// A lone job does not wait for others.
#[test]
fn a_job_alone() {
    let (_alone, _guard) = (alone(), Guard::new("a job alone"));
    let world = World::new();
    let known = Known::several(&world);
    let before = world.counters();
    sign_in_a_loop(&world, &known, 1, 30);
    if is_zariz() {
        let done = world.counters().since(before);
        assert_eq!((done.private, done.batches), (30, 30), "{done:?}");
    }
}

/// Jobs whose threads end.
#[test]
fn threads_with_jobs_come_and_go() {
    let (_alone, _guard) = (alone(), Guard::new("threads with jobs come and go"));
    let world = World::new();
    let known = Known::several(&world);
    let files = open_files();
    in_threads(1, |_| sign_in_a_loop(&world, &known, 8, 16));
    for _ in 0..20 {
        in_threads(2, |t| sign_in_a_loop(&world, &known, [8, 3][t], [16, 9][t]));
    }
    files_return_to(files);
}
