//! The time of a signature in event loops on several threads, with workers and without. Run it alone: `cargo
//! test --release -p zariz-openssl-provider --test loops -- --ignored --nocapture`.

mod common;

use std::sync::{Barrier, Mutex};
use std::time::Instant;

use common::keys::PEM_2048;
use common::loops::Signings;
use common::signing::Known;
use common::threads::in_threads;
use common::{World, alone};

/// How many signatures each loop makes in a round.
const EACH: usize = 60;
const ROUNDS: usize = 15;

/// The time from the first start to the last end, divided by the signatures, in microseconds.
fn micros(world: &World, known: &[Known], loops: usize, jobs: usize) -> f64 {
    let (barrier, times) = (Barrier::new(loops), Mutex::new(Vec::new()));
    in_threads(loops, |_| {
        let mut signings = Signings::new(world, known, EACH);
        barrier.wait();
        let start = Instant::now();
        signings.run(jobs);
        times.lock().expect("the times").push((start, Instant::now()));
        assert!(signings.are_right(), "some signatures are wrong");
    });
    let times = times.into_inner().expect("the times");
    let (start, end) = (times.iter().map(|time| time.0).min(), times.iter().map(|time| time.1).max());
    let time = end.expect("an end") - start.expect("a start");
    time.as_secs_f64() * 1e6 / (loops * EACH) as f64
}

#[test]
#[ignore = "it measures"]
fn event_loops_with_and_without_workers() {
    let _alone = alone();
    let settings = ["0", "1", "2"];
    let worlds = settings.map(|threads| World::with(&[("threads", threads)]));
    let known = worlds.each_ref().map(|world| vec![Known::new(world, PEM_2048, 1)]);
    println!("RSA-2048, microseconds for a signature, medians of {ROUNDS} rounds; mean batch\n");
    println!("| loops, jobs each | without workers | 1 worker | 2 workers |\n|---|---:|---:|---:|");
    for (loops, jobs) in [(1, 1), (1, 2), (2, 1), (2, 2), (8, 1), (8, 2), (8, 8), (2, 16)] {
        let mut times = settings.map(|_| Vec::new());
        let before = worlds.each_ref().map(World::counters);
        for _ in 0..ROUNDS {
            for which in 0..settings.len() {
                times[which].push(micros(&worlds[which], &known[which], loops, jobs));
            }
        }
        let cells = [0, 1, 2].map(|which| {
            let mean = worlds[which].counters().since(before[which]).mean_batch();
            times[which].sort_by(f64::total_cmp);
            format!("{:.0}; {mean:.1}", times[which][ROUNDS / 2])
        });
        println!("| {loops}, {jobs} | {} |", cells.join(" | "));
    }
}
