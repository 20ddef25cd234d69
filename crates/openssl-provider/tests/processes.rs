//! Several processes: forked after loading and after use, like servers, and with one counters file for all.
//!
//! These tests run one after the other in the program's first thread, without the test harness. A thread of
//! the harness that starts or ends during a fork might hold a lock of libcrypto or of the standard library,
//! which the child could never take.

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use common::job::{Job, serve};
use common::process::{fork, give_up_root, threads_return_to};
use common::signing::{Known, sign_into};
use common::threads::in_threads;
use common::{Counters, Ctx, World, is_zariz};
use libtest_mimic::{Arguments, Trial};

/// Signs without jobs, in one thread and in several, and with jobs.
fn sign_in_every_way(world: &World, known: &[Known]) {
    assert!((0..10).all(|i| known[i % known.len()].signs(world)), "alone");
    in_threads(4, |t| assert!((0..10).all(|i| known[(i + t) % known.len()].signs(world)), "in threads"));
    let contexts: Vec<Ctx> = (0..50).map(|i| known[i % known.len()].context(world)).collect();
    let mut places: Vec<Vec<u8>> = (0..50).map(|i| vec![0; known[i % known.len()].size()]).collect();
    let digests: Vec<_> = (0..50).map(|i| known[i % known.len()].digest()).collect();
    let pointers: Vec<*mut u8> = places.iter_mut().map(|place| place.as_mut_ptr()).collect();
    serve(
        16,
        50,
        |i, wait| {
            let (size, digest) = (known[i % known.len()].size(), digests[i]);
            let (ctx, place) = (contexts[i].raw(), pointers[i]);
            // SAFETY: the buffer is as long as the signature, and nothing reads it before the job is done.
            Job::with(wait, move || unsafe {
                sign_into(ctx, &digest, std::slice::from_raw_parts_mut(place, size))
            })
        },
        |_, job| assert_eq!(job.result, Some(1), "in a job"),
    );
    let is_right = |i: usize| known[i % known.len()].is(&digests[i], &places[i]);
    assert!((0..50).all(is_right), "in jobs");
}

/// How many signatures `sign_in_every_way` makes.
const EACH: u64 = 10 + 40 + 50;

fn forked_after_loading() {
    let world = World::new();
    let known = Known::several(&world);
    let children: Vec<_> = (0..3).map(|_| fork(|| sign_in_every_way(&world, &known))).collect();
    children.into_iter().for_each(|child| child.succeeds());
    sign_in_every_way(&world, &known);
}

fn forked_after_use() {
    for settings in [&[][..], &[("threads", "1")], &[("threads", "0")]] {
        let world = World::with(settings);
        let known = Known::several(&world);
        sign_in_every_way(&world, &known);
        let child = fork(|| {
            sign_in_every_way(&world, &known);
            // A second child.
            fork(|| sign_in_every_way(&world, &known)).succeeds();
            sign_in_every_way(&world, &known);
        });
        // Parent and child at the same time.
        sign_in_every_way(&world, &known);
        child.succeeds();
        sign_in_every_way(&world, &known);
    }
}

/// A child that ends like programs do, with everything freed and unloaded; and one that loads the provider
/// itself.
fn children_that_unload() {
    let world = World::new();
    let known = Known::several(&world);
    sign_in_every_way(&world, &known);
    drop(known);
    drop(world);
    for _ in 0..3 {
        fork(|| {
            for _ in 0..3 {
                let world = World::new();
                let known = Known::several(&world);
                sign_in_every_way(&world, &known);
            }
        })
        .succeeds();
    }
    // The child frees the parent's world.
    let world = World::new();
    {
        let known = Known::several(&world);
        sign_in_every_way(&world, &known);
    }
    let mut world = Some(world);
    fork(|| drop(world.take())).succeeds();
    assert!(world.is_some());
}

/// One counters file for all processes, which all of them show.
fn one_file_of_counters() {
    if !is_zariz() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("counters");
    let settings = [("counters", file.to_str().expect("UTF-8"))];
    let world = World::with(&settings);
    let known = Known::several(&world);
    assert_eq!(Counters::in_file(&file), world.counters());
    let before = world.counters();
    let children: Vec<_> = (0..3)
        .map(|child| {
            fork(|| {
                if child == 0 {
                    sign_in_every_way(&world, &known);
                } else {
                    let world = World::with(&settings);
                    sign_in_every_way(&world, &Known::several(&world));
                }
            })
        })
        .collect();
    sign_in_every_way(&world, &known);
    children.into_iter().for_each(|child| child.succeeds());
    let done = world.counters().since(before);
    assert_eq!((done.private, done.fallbacks, done.check_failures), (4 * EACH, 0, 0), "{done:?}");
    assert_eq!(Counters::in_file(&file), world.counters());
    // The file remains when all have unloaded it, and the next process continues it.
    let last = world.counters();
    drop(known);
    drop(world);
    assert_eq!(Counters::in_file(&file), last);
    let world = World::with(&settings);
    assert_eq!(world.counters(), last);
    assert!(Known::several(&world)[0].signs(&world));
    assert_eq!(Counters::in_file(&file).private, last.private + 1);

    let mode = fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o7777, 0o644, "the file's mode");
    let size = fs::metadata(&file).expect("the file").len();
    assert!(size >= 64, "{size} bytes");
}

/// A path that is not a file is refused at once, with any rights of the process.
fn counters_are_in_a_file_or_refused() {
    if !is_zariz() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let mut all = vec![("/dev/zero".into(), "device"), (folder.path().to_owned(), "directory")];
    for mode in [0o444, 0o644, 0o666, 0] {
        let path = at(&format!("fifo-{mode:o}"));
        // SAFETY: a text.
        assert_eq!(unsafe { libc::mkfifo(common::world::path(&path).as_ptr(), 0o600) }, 0);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
        all.push((path, "FIFO"));
    }
    let _socket = UnixListener::bind(at("socket")).expect("a socket");
    fs::write(at("empty"), "").expect("a file");
    symlink(at("empty"), at("link")).expect("a link");
    symlink(at("nothing"), at("dangling")).expect("a link");
    all.extend([(at("socket"), "socket"), (at("link"), "symbolic link"), (at("dangling"), "symbolic link")]);
    for (path, kind) in all {
        let refused = |who: &str| {
            let path = path.to_str().expect("UTF-8");
            let refused = World::configured(&[("counters", path)]);
            let Err(failure) = refused else { panic!("{who} takes {path}") };
            let text = failure.text();
            assert!(text.contains(path) && text.contains(kind), "{who}, {path}: {text}");
        };
        // In children, which are killed if they block.
        fork(|| refused("this user")).succeeds();
        fork(|| {
            give_up_root();
            refused("a user who heeds modes");
        })
        .succeeds();
    }
    assert!(!at("nothing").exists(), "made through a symbolic link");
}

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let tests: [(&str, fn()); 5] = [
        ("forked_after_loading", forked_after_loading),
        ("forked_after_use", forked_after_use),
        ("children_that_unload", children_that_unload),
        ("one_file_of_counters", one_file_of_counters),
        ("counters_are_in_a_file_or_refused", counters_are_in_a_file_or_refused),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name, move || {
            threads_return_to(1);
            // SAFETY: no pointers. A signal ends the program if the test hangs.
            unsafe { libc::alarm(300) };
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, tests.map(trial).into()).exit();
}
