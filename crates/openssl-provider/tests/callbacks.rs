//! What programs may do while their jobs are computed: make requests in their functions, free wait contexts,
//! send signals.

mod common;

use std::ffi::{c_int, c_void};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::job::{Job, Wait, only_fd};
use common::keys::PEM_2048;
use common::signing::{Digest, Known, sign_into};
use common::threads::Guard;
use common::{World, alone, ffi, is_zariz};

/// The argument of a program's function, in which the function also records its calls.
struct Program<'w> {
    world: &'w World,
    known: &'w Known<'w>,
    /// Whether the function signs too.
    signs: bool,
    /// How long the function takes.
    takes: Duration,
    entered: AtomicUsize,
    left: AtomicUsize,
    signed: AtomicUsize,
}

impl<'w> Program<'w> {
    fn new(world: &'w World, known: &'w Known<'w>) -> Self {
        let (entered, left, signed) = Default::default();
        Self { world, known, signs: false, takes: Duration::ZERO, entered, left, signed }
    }

    /// A wait context with the function and this argument.
    fn wait(&self) -> Wait {
        let wait = Wait::new();
        let argument = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: a live wait context, and an argument that outlives it.
        assert_eq!(unsafe { ffi::ASYNC_WAIT_CTX_set_callback(wait.raw(), woken, argument) }, 1);
        wait
    }

    fn wait_until(&self, count: &AtomicUsize, at_least: usize) {
        while count.load(Ordering::SeqCst) < at_least {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

unsafe extern "C" fn woken(argument: *mut c_void) -> c_int {
    // SAFETY: a `Program` that outlives the wait context.
    let program = unsafe { &*argument.cast::<Program>() };
    program.entered.fetch_add(1, Ordering::SeqCst);
    if program.signs && program.known.signs(program.world) {
        program.signed.fetch_add(1, Ordering::SeqCst);
    }
    thread::sleep(program.takes);
    program.left.fetch_add(1, Ordering::SeqCst);
    1
}

/// A job that signs a digest into `out`.
fn job<'a>(program: &'a Program, wait: Wait, digest: Digest, out: &'a mut Vec<u8>) -> Job<'a> {
    let known = program.known;
    out.resize(known.size(), 0);
    let ctx = known.context(program.world);
    Job::with(wait, move || sign_into(ctx.raw(), &digest, out))
}

/// A function that signs gets its signature, on whichever thread and stack it is called; so does the job.
#[test]
fn functions_may_sign() {
    let (_alone, _guard) = (alone(), Guard::new("functions may sign"));
    if !is_zariz() {
        return; // the default provider calls no functions
    }
    for threads in ["0", "1", "2"] {
        let world = World::with(&[("threads", threads)]);
        let known = Known::new(&world, PEM_2048, 1);
        let program = Program { signs: true, ..Program::new(&world, &known) };
        for round in 1..=20 {
            let (digest, mut out) = (known.digest(), Vec::new());
            let mut job = job(&program, program.wait(), digest, &mut out);
            let mut done = job.resume();
            program.wait_until(&program.left, round);
            while !done {
                done = job.resume();
            }
            assert_eq!(job.result, Some(1), "threads = {threads}");
            drop(job);
            assert!(known.is(&digest, &out), "threads = {threads}");
        }
        assert_eq!(program.signed.load(Ordering::SeqCst), 20, "threads = {threads}");
    }
}

/// When a wait context has been freed, no thread is inside its function, and none calls it again.
#[test]
fn freed_wait_contexts_are_left_alone() {
    let (_alone, _guard) = (alone(), Guard::new("freed wait contexts"));
    if !is_zariz() {
        return;
    }
    for threads in ["1", "2"] {
        let world = World::with(&[("threads", threads)]);
        let known = Known::new(&world, PEM_2048, 1);
        for _ in 0..10 {
            let program = Program { takes: Duration::from_millis(20), ..Program::new(&world, &known) };
            let mut outs = [const { Vec::new() }; 4];
            let digests = [(); 4].map(|()| known.digest());
            let jobs = outs.each_mut().into_iter().zip(digests).map(|(out, digest)| {
                let mut job = job(&program, program.wait(), digest, out);
                job.resume();
                job
            });
            let jobs: Vec<_> = jobs.collect();
            program.wait_until(&program.entered, 1);
            // Some jobs are abandoned while the function runs for one of them; others run to their end.
            let mut done = Vec::new();
            for (i, mut job) in jobs.into_iter().enumerate() {
                if i % 2 == 0 && job.is_paused() {
                    job.abandon();
                } else {
                    while job.result.is_none() {
                        job.resume();
                    }
                    done.push(i);
                }
            }
            assert!(done.into_iter().all(|i| known.is(&digests[i], &outs[i])), "threads = {threads}");
            let [entered, left] = [&program.entered, &program.left].map(|count| count.load(Ordering::SeqCst));
            assert_eq!(entered, left, "somebody is in the function of a wait context that is gone");
            thread::sleep(Duration::from_millis(30));
            assert_eq!(
                program.entered.load(Ordering::SeqCst),
                entered,
                "called when the wait context was gone"
            );
        }
    }
}

/// The descriptor of a wait context is closed with it, even while requests are computed: the program may have
/// forgotten it.
#[test]
fn descriptors_end_with_their_wait_context() {
    let (_alone, _guard) = (alone(), Guard::new("descriptors end"));
    if !is_zariz() {
        return;
    }
    for (threads, resumes) in [("1", 1), ("1", 2), ("0", 1)] {
        let world = World::with(&[("threads", threads)]);
        let known = Known::new(&world, PEM_2048, 1);
        let program = Program::new(&world, &known);
        let mut out = Vec::new();
        let mut job = job(&program, Wait::new(), known.digest(), &mut out);
        (0..resumes).for_each(|_| {
            if job.result.is_none() {
                job.resume();
            }
        });
        if job.is_paused() {
            let fd = only_fd(&job);
            job.abandon();
            // SAFETY: any number may be asked about.
            assert_eq!(unsafe { libc::fcntl(fd, libc::F_GETFD) }, -1, "threads = {threads}: still open");
        }
        assert!(known.signs(&world));
    }
}

/// zariz's threads block the program's signals.
#[test]
fn signals_are_for_the_programs_threads() {
    let (_alone, _guard) = (alone(), Guard::new("signals"));
    if !is_zariz() {
        return;
    }
    let world = World::with(&[("threads", "1")]);
    let known = Known::new(&world, PEM_2048, 1);
    let program = Program::new(&world, &known);
    let mut out = Vec::new();
    let mut job = job(&program, program.wait(), known.digest(), &mut out);
    job.resume();
    program.wait_until(&program.left, 1);
    let mut found = 0;
    for task in fs::read_dir("/proc/self/task").expect("threads") {
        let folder = task.expect("a thread").path();
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
        if read("comm").trim() == "zariz" {
            let status = read("status");
            let blocked =
                status.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("a mask").trim();
            let blocked = u64::from_str_radix(blocked, 16).expect("a mask in hexadecimal");
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGUSR1, libc::SIGTERM, libc::SIGCHLD] {
                assert_ne!(blocked & 1 << (signal - 1), 0, "signal {signal} reaches our thread");
            }
            found += 1;
        }
    }
    // Jobs that concurrent tests have abandoned keep their descriptors.
    assert!(found > 0, "no thread of zariz");
    while job.result.is_none() {
        job.resume();
    }
}
